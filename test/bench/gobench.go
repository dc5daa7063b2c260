package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
)

// A suite is the benchmarks of a package that are run together.
type suite struct {
	Name        string // of the part
	Package     string // from the root
	Bench       string // the value of -bench
	Short, Long string // the value of -benchtime
}

// suites is where figures that need no other program are measured. Each can be run alone:
// go test -run='^$' -bench=Transition -benchtime=60x ./internal/store/file
var suites = []suite{
	{"store", "./internal/store/file", "^Benchmark(Transition|View|Wake)$", "10x", "60x"},
	{"machines", "./internal/store/postgres", "^BenchmarkMachine(Apply|View|Renew|Wake)$", "10x", "60x"},
	{"machines", "./internal/store/postgres", "^BenchmarkMachineWriters$", "2x", "10x"},
	{"scale", "./internal/store/postgres", "^BenchmarkScale$", "1x", "20x"},
	{"server", "./internal/server", "^Benchmark(StdioCall|HTTPCall)$", "200x", "400x"},
	{"e2e", "./test/e2e", "^Benchmark(Answer|Takeover|Stale)$", "10x", "100x"},
	{"run", "./internal/pipeline/run", "^Benchmark(Pipeline|Tick)$", "5x", "20x"},
	{"suites", "./test/suites", "^BenchmarkSandbox(Start|Status|Build)$", "3x", "20x"},
	{"suites", "./test/suites", "^BenchmarkSandboxGuest$", "1x", "3x"},
}

// run runs a suite that often.
func (s suite) run(ctx context.Context, r results, short bool, rounds int) error {
	args := []string{"test", "-run=^$", "-bench=" + s.Bench, "-benchtime=" + s.Long, "-timeout=1h", "-count=" + strconv.Itoa(rounds), s.Package}
	if short {
		args[3] = "-benchtime=" + s.Short
		args = append(args, "-short")
	}
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("go %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	switch n := read(out, r); {
	case n > 0:
	case bytes.Contains(out, []byte("--- SKIP: ")):
		return errSkipped
	default:
		return fmt.Errorf("go %s measured nothing:\n%s", strings.Join(args, " "), out)
	}
	return nil
}

// errSkipped says that the benchmarks cannot run here.
var errSkipped = errors.New("skipped")

var processors = regexp.MustCompile(`-\d+$`)

// read reads what benchmarks print, in Go's standard format, and returns how many lines of results there were.
func read(out []byte, r results) (n int) {
	for in := bufio.NewScanner(bytes.NewReader(out)); in.Scan(); {
		fields := strings.Fields(in.Text())
		if len(fields) < 4 || !strings.HasPrefix(fields[0], "Benchmark") {
			continue
		}
		if _, err := strconv.Atoi(fields[1]); err != nil {
			continue // a line of the log
		}
		name := processors.ReplaceAllString(strings.TrimPrefix(fields[0], "Benchmark"), "")
		for pair := fields[2:]; len(pair) >= 2; pair = pair[2:] {
			if v, err := strconv.ParseFloat(pair[0], 64); err == nil {
				r.add(name+" "+pair[1], v)
			}
		}
		n++
	}
	return n
}
