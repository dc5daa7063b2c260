package suites

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ferrus-go/ferrus/internal/agents/confine"
	"github.com/ferrus-go/ferrus/internal/engine/enginetest"
	"github.com/ferrus-go/ferrus/internal/platform/sandbox"
	"github.com/ferrus-go/ferrus/internal/worktree/repository"
)

// A contender is one of several things measured in turn, so that they share the load of the machine.
type contender struct {
	name  string
	run   func()
	after func() // not measured
	took  []time.Duration
}

// compare runs the contenders in turn, and reports the medians of their times.
func compare(b *testing.B, list []*contender) {
	b.Helper()
	for b.Loop() {
		for _, c := range list {
			began := time.Now()
			c.run()
			c.took = append(c.took, time.Since(began))
			if c.after != nil {
				c.after()
			}
		}
	}
	b.ReportMetric(0, "ns/op")
	for _, c := range list {
		slices.Sort(c.took)
		b.ReportMetric(float64(c.took[len(c.took)/2])/float64(time.Microsecond), c.name+"-p50-µs")
	}
}

// environ is that of all commands: with the module and build caches of the person who measures, and no other settings of theirs.
var environ []string

// mechanisms measures a command without a sandbox, under Landlock and under bubblewrap, started by a real ferrus.
func mechanisms(b *testing.B, dir string, argv ...string) {
	home, err := os.UserHomeDir()
	if err != nil {
		b.Fatal(err)
	}
	ferrus := filepath.Join(enginetest.Scratch, "ferrus")
	if _, err := os.Stat(ferrus); err != nil {
		output(b, "../..", "go", "build", "-trimpath", "-ldflags=-s -w", "-o", ferrus, "./cmd/ferrus")
		own := filepath.Join(enginetest.Scratch, "home")
		if err := os.Mkdir(own, 0o700); err != nil {
			b.Fatal(err)
		}
		environ = append(os.Environ(), "HOME="+own, "TMPDIR="+own, "GOCACHE="+output(b, ".", "go", "env", "GOCACHE"), "GOMODCACHE="+sandbox.Modules(home), "GOTELEMETRY=off", "GOFLAGS=-buildvcs=false")
	}
	module, err := filepath.Abs("../..")
	if err != nil {
		b.Fatal(err)
	}
	p := sandbox.System()
	p.Dir, p.Network = dir, true
	p.Read = append(p.Read, module)
	p.Read = append(p.Read, sandbox.Folders(os.Getenv("PATH"), home, p.Read)...)
	p.Write = []string{enginetest.Scratch, output(b, ".", "go", "env", "GOCACHE")}
	p.Deny = []string{filepath.Join(home, ".ssh")}
	var list []*contender
	for _, c := range []struct {
		name string
		sandbox.Mechanism
	}{{"direct", sandbox.None}, {"landlock", sandbox.Landlock}, {"bwrap", sandbox.Bwrap}} {
		if err := sandbox.Probe(b.Context(), c.Mechanism, ferrus); err != nil {
			b.Log(err)
			continue
		}
		line, err := sandbox.Command(c.Mechanism, p, ferrus, argv)
		if err != nil {
			b.Fatal(err)
		}
		run := func() {
			cmd := exec.Command(line[0], line[1:]...)
			cmd.Dir, cmd.Env = dir, environ
			if out, err := cmd.CombinedOutput(); err != nil {
				b.Fatalf("%s: %v: %v\n%s", c.name, argv, err, out)
			}
		}
		run() // what is made once
		list = append(list, &contender{name: c.name, run: run})
	}
	compare(b, list)
}

func output(b *testing.B, dir, name string, args ...string) string {
	b.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	out, err := cmd.Output()
	if err != nil {
		b.Fatalf("%s %v: %v", name, args, err)
	}
	return strings.TrimSpace(string(out))
}

// BenchmarkSandboxStart measures a program that does nothing.
func BenchmarkSandboxStart(b *testing.B) { mechanisms(b, enginetest.Scratch, "/bin/true") }

// BenchmarkSandboxStatus measures git status in a large repository that git knows.
func BenchmarkSandboxStatus(b *testing.B) { mechanisms(b, large(b), "git", "status", "--porcelain") }

// BenchmarkSandboxBuild measures a build of which everything is in the build cache.
func BenchmarkSandboxBuild(b *testing.B) {
	module, err := filepath.Abs("../..")
	if err != nil {
		b.Fatal(err)
	}
	mechanisms(b, module, "go", "build", "./internal/engine")
}

// BenchmarkSandboxGuest measures the private git directory of an executor in a large repository. Beside it, the work tree of a branch, which
// is made before it.
func BenchmarkSandboxGuest(b *testing.B) {
	main := large(b)
	tree := func(name string) string { return filepath.Join(main, ".ferrus", "worktrees", name) }
	output(b, main, "git", "worktree", "add", "-q", "--detach", tree("one"))
	defer output(b, main, "git", "worktree", "remove", "--force", tree("one"))
	r, err := repository.Open(b.Context(), tree("one"), filepath.Join(main, ".ferrus", "git"), main)
	if err != nil {
		b.Fatal(err)
	}
	compare(b, []*contender{
		{name: "guest", run: func() {
			if _, err := confine.MakeGitDir(b.Context(), r, filepath.Join(main, ".ferrus", "executor", "git")); err != nil {
				b.Fatal(err)
			}
		}},
		{name: "worktree-add",
			run:   func() { output(b, main, "git", "worktree", "add", "-q", "--detach", tree("two")) },
			after: func() { output(b, main, "git", "worktree", "remove", "--force", tree("two")) }},
	})
}

// large is a repository of 50,000 files, of 5,000 with -short, all committed. All benchmarks share it.
func large(b *testing.B) string {
	b.Helper()
	dir, files := filepath.Join(enginetest.Scratch, "large"), 50_000
	if _, err := os.Stat(dir); err == nil {
		return dir
	}
	if testing.Short() {
		files = 5_000
	}
	for i := range files {
		path := filepath.Join(dir, fmt.Sprintf("d%02d/e%02d/f%05d.go", i%50, i/50%40, i))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(path, fmt.Appendf(nil, "package d // %d\n%s", i, strings.Repeat("a line of it\n", 30)), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, ".gitignore"), []byte("/.ferrus/\n"), 0o644); err != nil {
		b.Fatal(err)
	}
	for _, args := range []string{"init -q", "config gc.auto 0", "add -A", "-c user.name=u -c user.email=u@example.com commit -qm one", "gc -q"} {
		output(b, dir, "git", strings.Fields(args)...)
	}
	return dir
}
