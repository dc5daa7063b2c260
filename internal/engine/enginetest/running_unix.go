//go:build unix

package enginetest

import (
	"strconv"
	"strings"

	"github.com/ferrus-go/ferrus/internal/platform/proc"
	"github.com/ferrus-go/ferrus/test/kit"
)

// Running waits for the check, and returns a function that says whether anything of it is left.
func (p *Machine) Running() (left func() bool) {
	p.T.Helper()
	kit.Eventually(p.T, "the check runs", func() bool { return p.Exists(p.Side + "/pid") })
	pid, err := strconv.Atoi(strings.TrimSpace(p.Read(p.Side + "/pid")))
	if err != nil {
		p.T.Fatal(err)
	}
	p.Remove(p.Side + "/pid")
	return proc.Tree(pid).Alive
}
