package doctor

import (
	"context"
	"io"
	"log/slog"
	"os"
	"strings"
	"testing"

	"github.com/ferrus-go/ferrus/internal/cli"
	"github.com/ferrus-go/ferrus/internal/cli/setup"
	"github.com/ferrus-go/ferrus/internal/config/trust"
	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/test/kit"
	"github.com/ferrus-go/ferrus/test/sharedtest"
)

// host sets a project up as ferrus init does without a person.
var host = Host{
	Options: func(root string) (engine.Options, error) {
		record, err := trust.Open(root)
		return engine.Options{Log: slog.New(slog.DiscardHandler), Project: record, Environ: os.Environ()}, err
	},
	SetUp: func(ctx context.Context, root string) (bool, []string, error) {
		did, err := setup.SetUp(&cli.App{In: strings.NewReader(""), Out: io.Discard, Err: io.Discard, Dir: root}, ctx, root)
		return did.Restored, did.Wrote, err
	},
}

func TestMain(m *testing.M) { os.Exit(kit.Main(func() int { return sharedtest.Main(m.Run) })) }
