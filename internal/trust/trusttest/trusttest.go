// Package trusttest keeps tests away from the records and the configuration of the person who runs them.
package trusttest

import (
	"os"
	"path/filepath"

	"github.com/ferrus-go/ferrus/internal/trust"
)

// Main runs a test program with a state folder and a configuration folder of its own, and removes them afterwards. The
// processes that the tests start inherit them; one that is itself such a process keeps those of its parent if it calls
// Main, because it must see the same records.
func Main(run func() int) int {
	const marker = "FERRUS_TEST_STATE"
	if os.Getenv(marker) != "" {
		return run()
	}
	dir, err := os.MkdirTemp("", "ferrus-state-")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	for name, value := range map[string]string{
		marker: "1", trust.EnvTrust: "", trust.EnvXDGState: "",
		trust.EnvStateDir: filepath.Join(dir, "state"), trust.EnvXDGConf: filepath.Join(dir, "config"),
	} {
		if err := os.Setenv(name, value); err != nil {
			panic(err)
		}
	}
	return run()
}
