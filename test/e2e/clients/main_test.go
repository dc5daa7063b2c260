//go:build unix

package clients

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/ferrus-go/ferrus/test/kit"
)

// asked says that the real clients are to be run, and installed where they are not yet.
var asked = flag.Bool("clients", os.Getenv("FERRUS_TEST_CLIENTS") == "1", "run the real clients; installs them the first time")

// patience is how long a test waits for what takes seconds, and minutes on a slow machine.
const patience = 10 * time.Minute

// ferrus is the program under test, built once.
var ferrus string

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(kit.OnDisk(func() int { return run(m) }))
}

func run(m *testing.M) int {
	if !*asked || testing.Short() {
		return m.Run()
	}
	dir, err := os.MkdirTemp("", "ferrus-clients-")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	ferrus = filepath.Join(dir, "ferrus")
	// What a hook answers does not depend on how busy this computer is.
	build := exec.Command("go", "build", "-ldflags", "-X github.com/ferrus-go/ferrus/internal/cli/setup.HookLimit=4s", "-o", ferrus, "github.com/ferrus-go/ferrus/cmd/ferrus")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "%v: %v\n%s", build, err, out)
		return 1
	}
	return m.Run()
}
