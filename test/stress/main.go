// Stress runs the tests of each package again and again beside load, to find those that depend on luck.
//
//	go run ./test/stress [-record FILE] [-rounds N] [PACKAGE...]
//
// Each package is run in the forms of a table: with two processors, with one, with the race detector, and on a disk that is busy.
// A goroutine for each processor keeps it busy meanwhile. Each round is a process of its own, so that one that crashes or hangs costs
// one round. The result of each package and form is appended to the record, and what the record has is not run again: start the
// program again after it was ended, or remove the record to begin anew. The output of each round that failed lies beside the record.
//
// It prints a line for each package and form, and in the end each test that failed and how often. The exit code is 1 if one did.
// All packages take some hours.
package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"time"
)

// A form is a way to run the tests of a package.
type form struct {
	name   string
	rounds int
	build  []string // flags of go test -c
	flags  []string // flags of the test program
	env    []string
	disk   bool // temporary folders are on a disk, which another process keeps busy
}

var forms = []form{
	{name: "2 processors", rounds: 20, env: []string{"GOMAXPROCS=2"}},
	{name: "1 processor", rounds: 5, env: []string{"GOMAXPROCS=1"}},
	{name: "race", rounds: 5, build: []string{"-race"}, flags: []string{"-test.short"}},
	{name: "busy disk", rounds: 1, disk: true},
}

// A result is a line of the record.
type result struct {
	Package string         `json:"package"`
	Form    string         `json:"form"`
	Rounds  int            `json:"rounds"`
	Failed  map[string]int `json:"failed,omitempty"` // how many rounds each test failed in
}

// limit is how long a round may take: ten minutes, as go test gives a package, are too short beside load.
const limit = "-test.timeout=30m"

func main() {
	record := flag.String("record", filepath.Join(os.TempDir(), "ferrus-stress", "record.jsonl"), "the file that has the results")
	rounds := flag.Int("rounds", 0, "how many rounds of each form; 0 for those of the table")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	failed, err := run(ctx, os.Stdout, *record, *rounds, flag.Args())
	if err != nil {
		fmt.Fprintln(os.Stderr, "stress:", err)
		os.Exit(2)
	}
	if failed {
		os.Exit(1)
	}
}

// run runs all packages in all forms that the record lacks, and reports whether a test failed, now or in a run of the record.
func run(ctx context.Context, out io.Writer, record string, rounds int, patterns []string) (bool, error) {
	packages, err := list(ctx, patterns)
	if err != nil {
		return false, err
	}
	known, err := read(record)
	if err != nil {
		return false, err
	}
	if err := os.MkdirAll(filepath.Dir(record), 0o755); err != nil {
		return false, err
	}
	file, err := os.OpenFile(record, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return false, err
	}
	defer file.Close()
	defer busy(runtime.NumCPU())()
	all := []result{}
	for _, p := range packages {
		for _, f := range forms {
			f.rounds = cmp.Or(rounds, f.rounds)
			r, ok := known[p.ImportPath+" "+f.name]
			if !ok {
				if r, err = f.run(ctx, p, filepath.Dir(record)); err != nil {
					return false, err
				}
				if err := json.NewEncoder(file).Encode(r); err != nil {
					return false, err
				}
			}
			all = append(all, r)
			fmt.Fprintf(out, "%-60s %-12s %2d rounds  %s\n", r.Package, r.Form, r.Rounds, said(r))
		}
	}
	return report(out, all), nil
}

// said is what failed in a result, in words.
func said(r result) string {
	if len(r.Failed) == 0 {
		return "passed"
	}
	var words []string
	for _, test := range slices.Sorted(maps.Keys(r.Failed)) {
		words = append(words, fmt.Sprintf("%s failed in %d", test, r.Failed[test]))
	}
	return strings.Join(words, ", ")
}

// report prints the tests that failed, with their rates, and reports whether there is one.
func report(out io.Writer, all []result) bool {
	bad := slices.DeleteFunc(slices.Clone(all), func(r result) bool { return len(r.Failed) == 0 })
	fmt.Fprintf(out, "\n%d of %d packages and forms passed\n", len(all)-len(bad), len(all))
	for _, r := range bad {
		for _, test := range slices.Sorted(maps.Keys(r.Failed)) {
			fmt.Fprintf(out, "%s  %s  %s  %d of %d\n", r.Package, test, r.Form, r.Failed[test], r.Rounds)
		}
	}
	return len(bad) > 0
}

// A testPackage is a package that has tests.
type testPackage struct{ ImportPath, Dir string }

// list returns the packages with tests that match the patterns; with none, all of the module.
func list(ctx context.Context, patterns []string) (packages []testPackage, err error) {
	if len(patterns) == 0 {
		patterns = []string{"./..."}
	}
	const format = `{{if or .TestGoFiles .XTestGoFiles}}{"ImportPath":{{printf "%q" .ImportPath}},"Dir":{{printf "%q" .Dir}}}{{end}}`
	out, err := exec.CommandContext(ctx, "go", append([]string{"list", "-f", format}, patterns...)...).Output()
	if err != nil {
		return nil, fmt.Errorf("list the packages: %w", err)
	}
	for d := json.NewDecoder(bytes.NewReader(out)); d.More(); {
		var p testPackage
		if err := d.Decode(&p); err != nil {
			return nil, err
		}
		packages = append(packages, p)
	}
	return packages, nil
}

// read reads a record. One that is not there has no results, and a last line that was cut off is none.
func read(name string) (map[string]result, error) {
	known := map[string]result{}
	text, err := os.ReadFile(name)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	for line := range bytes.Lines(text) {
		var r result
		if json.Unmarshal(line, &r) == nil {
			known[r.Package+" "+r.Form] = r
		}
	}
	return known, nil
}

// run builds the tests of a package and runs them round by round. Output of rounds that failed goes into a file of outputs.
func (f form) run(ctx context.Context, p testPackage, outputs string) (result, error) {
	r := result{Package: p.ImportPath, Form: f.name, Rounds: f.rounds, Failed: map[string]int{}}
	dir, err := os.MkdirTemp("", "stress-")
	if err != nil {
		return r, err
	}
	defer os.RemoveAll(dir)
	if err := os.Chmod(dir, 0o711); err != nil { // tests run programs in it as another user
		return r, err
	}
	program := filepath.Join(dir, "test.exe")
	build := exec.CommandContext(ctx, "go", slices.Concat([]string{"test", "-c", "-vet=off", "-o", program}, f.build, []string{p.ImportPath})...)
	if out, err := build.CombinedOutput(); err != nil {
		return r, fmt.Errorf("build the tests of %s: %w\n%s", p.ImportPath, err, out)
	}
	env := slices.Concat(os.Environ(), f.env)
	if f.disk {
		env = append(env, "TMPDIR="+dir)
		defer syncing(dir)()
	}
	for round := range f.rounds {
		cmd := exec.CommandContext(ctx, program, append([]string{limit, "-test.paniconexit0"}, f.flags...)...)
		cmd.Dir, cmd.Env, cmd.WaitDelay = p.Dir, env, time.Minute
		out, err := cmd.CombinedOutput()
		if ctx.Err() != nil {
			return r, ctx.Err()
		}
		if err == nil {
			continue
		}
		for _, test := range failures(out) {
			r.Failed[test]++
		}
		name := fmt.Sprintf("%s-%s-%d.txt", strings.ReplaceAll(p.ImportPath, "/", "_"), strings.ReplaceAll(f.name, " ", "_"), round)
		if err := os.WriteFile(filepath.Join(outputs, name), fmt.Appendf(out, "\n%v\n", err), 0o644); err != nil {
			return r, err
		}
	}
	return r, nil
}

var failedTest = regexp.MustCompile(`(?m)^--- FAIL: (\S+)`)

// failures returns the tests that failed in the output of a test program that did not pass. A program that ends before it says so,
// by a panic or its time limit, is a failure without the name of a test.
func failures(out []byte) (tests []string) {
	for _, m := range failedTest.FindAllSubmatch(out, -1) {
		tests = append(tests, string(m[1]))
	}
	if len(tests) == 0 {
		tests = append(tests, "(the program)")
	}
	slices.Sort(tests)
	return slices.Compact(tests)
}

// busy keeps n processors busy until stop is called.
func busy(n int) (stop func()) {
	var over atomic.Bool
	for range n {
		go func() {
			for !over.Load() {
			}
		}()
	}
	return func() { over.Store(true) }
}

// syncing keeps the disk of a folder busy until stop is called: it writes a file and waits for it to be on the disk, again and again.
func syncing(dir string) (stop func()) {
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		name, block := filepath.Join(dir, "busy"), make([]byte, 1<<20)
		for {
			select {
			case <-done:
				return
			default:
			}
			if f, err := os.Create(name); err == nil {
				_, _ = f.Write(block)
				_ = f.Sync()
				_ = f.Close()
			}
		}
	}()
	return func() { close(done); <-ended }
}
