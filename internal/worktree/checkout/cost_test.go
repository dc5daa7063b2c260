package checkout_test

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/ferrus-go/ferrus/internal/worktree/checkout"
	"github.com/ferrus-go/ferrus/test/kit"
)

// TestTheCostOfACheckout prints, with -full, what laying out 50,000 files costs beside a fingerprint of them, which a gate
// needs in any case.
func TestTheCostOfACheckout(t *testing.T) {
	t.Parallel()
	if !kit.Full() {
		t.Skip("needs -full")
	}
	dir := repository(t)
	for i := range 50_000 {
		write(t, dir, fmt.Sprintf("d%02d/e%02d/f%05d.go", i%50, i/50%50, i), fmt.Sprintf("package f // %d\n", i))
	}
	runGit(t, dir, "add", "-A")
	runGit(t, dir, "commit", "-qm", "many")
	tree := open(t, dir)
	id := fingerprint(t, tree)
	took := func(do func()) time.Duration {
		begin := time.Now()
		do()
		return time.Since(begin)
	}
	warm := took(func() { fingerprint(t, tree) })
	c := checkout.New(filepath.Join(t.TempDir(), "checkout"))
	l := checkout.Layout{Tree: id}
	ratio := func(what string, d time.Duration) {
		t.Logf("%-40s %6.2f s  %5.1f × a fingerprint", what, d.Seconds(), float64(d)/float64(warm))
	}
	ratio("fingerprint", warm)
	ratio("first layout", took(func() { lay(t, c, tree, l) }))
	ratio("second, nothing changed", took(func() { lay(t, c, tree, l) }))
	write(t, dir, "d00/e00/f00000.go", "package g\n")
	l.Tree = fingerprint(t, tree)
	ratio("third, another tree", took(func() { lay(t, c, tree, l) }))
	ratio("first of another process", took(func() { lay(t, checkout.New(filepath.Dir(c.Files())), tree, l) }))
	c.Believe(false)
	ratio("second, change times not honest", took(func() { lay(t, c, tree, l) }))
}
