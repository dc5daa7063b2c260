package demo

import (
	"fmt"
	"os"
	"os/exec"
	"strings"

	"github.com/ferrus-go/ferrus/internal/config"
	"github.com/ferrus-go/ferrus/internal/config/trust"
)

const taskText = `Make the failing test pass

Sum in sum.go panics for an empty slice. It must give 0 for one, and the sum for any other.
go test ./... must be green, and the empty slice must have a test.
`

const sumBroken = `// Package sum adds numbers.
package sum

// Sum returns the sum of xs.
func Sum(xs []int) int {
	total := xs[0]
	for _, x := range xs {
		total += x
	}
	return total
}
`

const sumMended = `// Package sum adds numbers.
package sum

// Sum returns the sum of xs, 0 when there are none.
func Sum(xs []int) int {
	total := 0
	for _, x := range xs {
		total += x
	}
	return total
}
`

const testOne = `package sum

import "testing"

func TestSum(t *testing.T) {
	if got := Sum([]int{1, 2}); got != 3 {
		t.Errorf("Sum(1, 2) = %d, want 3", got)
	}
}
`

const testWithEmpty = testOne + `
func TestSumOfNothing(t *testing.T) {
	if got := Sum(nil); got != 0 {
		t.Errorf("Sum() = %d, want 0", got)
	}
}
`

// demoConfig has a short lease, so that a hung executor need not be waited for long.
const demoConfig = `[checks]
commands = ["go vet ./...", "go test ./..."]

[lease]
ttl_secs = 3
heartbeat_interval_secs = 1
`

// buildRepository makes the git repository, sets ferrus up in it as a person would, and commits all of it.
func buildRepository(s *stage) (string, error) {
	files := map[string]string{"go.mod": "module example.com/sum\n\ngo 1.21\n", "sum.go": sumBroken, "sum_test.go": testOne,
		"ferrus.toml": demoConfig}
	for name, text := range files {
		if err := s.edit(name, text); err != nil {
			return "", err
		}
	}
	if err := s.git("init", "-q"); err != nil {
		return "", err
	}
	out, err := s.person("init")
	if err != nil {
		return "", err
	}
	conf, err := config.Parse(config.FileName, []byte(demoConfig))
	if err != nil {
		return "", err
	}
	// ferrus.toml was there before init, as in a clone; the person who started the demonstration agrees to it.
	if _, err := s.person("trust", "--digest", trust.Digest(conf.Executable())); err != nil {
		return "", err
	}
	if err := s.git("add", "."); err != nil {
		return "", err
	}
	err = s.git("-c", "user.name=demo", "-c", "user.email=demo@example.com", "-c", "commit.gpgsign=false",
		"commit", "-q", "-m", "a module with a bug")
	return "ferrus init: " + short(strings.TrimSpace(out), 90), err
}

func (s *stage) git(args ...string) error {
	cmd := exec.CommandContext(s.ctx, "git", args...)
	cmd.Dir, cmd.Env = s.dir, append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("git %v: %w: %s", args, err, out)
	}
	return nil
}
