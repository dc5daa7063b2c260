package cli

import (
	"context"
	"io"

	"github.com/ferrus-go/ferrus/internal/platform/format"
	"github.com/ferrus-go/ferrus/internal/server"
	"github.com/ferrus-go/ferrus/internal/status"
)

// Metrics returns the numbers of the project in a folder, see [status.Metrics]. It keeps their indexes.
func Metrics(ctx context.Context, root string) ([]format.Metric, error) {
	a := &App{Out: io.Discard, Err: io.Discard}
	return status.Metrics(ctx, root, server.Version(), status.Options{Open: a.OpenToReadAt}, true)
}
