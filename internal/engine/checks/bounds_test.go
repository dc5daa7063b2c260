//go:build unix

package checks

import (
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
)

func TestOutputFillsNeitherDiskNorMemory(t *testing.T) {
	memory := `grep VmHWM /proc/$PPID/status >> memory; `
	if runtime.GOOS != "linux" {
		memory = ""
	}
	spec := specFor(t,
		`echo first; yes line | head -c 150000000; echo last; `+memory+`exit 1`,
		`printf begin; head -c 50000000 /dev/zero | tr '\0' x; printf end; `+memory+`exit 2`,
	)
	spec.MaxLog = 4 << 20
	r := finished(t, spec)
	if r.Status != Failed {
		t.Fatalf("%+v", r)
	}
	if got := r.Commands[0].Tail; !strings.HasSuffix(got, "line\nline\nlast") || strings.Count(got, "\n") != 19 {
		t.Errorf("tail of many lines: %q", got)
	}
	if got := r.Commands[1].Tail; !strings.HasSuffix(got, "xend") || len(got) > maxLine {
		t.Errorf("tail of a long line: %d bytes %.30q", len(got), got)
	}
	log := read(t, spec.Log)
	if len(log) > 4<<20+1000 || len(log) < 4<<20 {
		t.Errorf("the log has %d bytes", len(log))
	}
	for _, want := range []string{"first\nline\n", "line\nlast\n<==", "xend\n<==", "\n==> [2/2]", "bytes of output are cut here\n"} {
		if !strings.Contains(log, want) {
			t.Errorf("the log lacks %q", want)
		}
	}
	if memory == "" {
		return
	}
	for line := range strings.Lines(read(t, filepath.Join(spec.Dir, "memory"))) {
		if kb, err := strconv.Atoi(strings.Fields(line)[1]); err != nil || kb > 100_000 {
			t.Errorf("the helper took %s", line)
		}
	}
}

func TestFeedbackIsBounded(t *testing.T) {
	spec := specFor(t, "yes line | head -5000; echo one; exit 1", "yes line | head -5000; echo two; exit 1")
	spec.TailLines = 5000
	r := finished(t, spec)
	sum := 0
	for _, c := range r.Failures() {
		sum += len(c.Tail)
	}
	if r.Status != Failed || sum > maxFeedback || sum < maxFeedback/2 {
		t.Errorf("%s with %d bytes of tails", r.Status, sum)
	}
}

func TestAShortCommandLeavesItsShareOfTheLogToOthers(t *testing.T) {
	spec := specFor(t, "echo short", "head -c 900 /dev/zero | tr '\\0' x", "true")
	spec.MaxLog = 2000
	if r := finished(t, spec); r.Status != Passed {
		t.Fatalf("%+v", r)
	}
	if log := read(t, spec.Log); strings.Contains(log, "cut here") || strings.Count(log, "x") < 900 {
		t.Errorf("cut without need:\n%s", log)
	}
}

func BenchmarkOneTrue(b *testing.B) {
	dir, err := os.MkdirTemp("", "checks")
	if err != nil {
		b.Fatal(err)
	}
	defer os.RemoveAll(dir)
	spec := Spec{Dir: dir, Commands: []string{"true"}, Log: dir + "/log", Lock: dir + "/lock"}
	for b.Loop() {
		j, err := Start(spec)
		if err != nil {
			b.Fatal(err)
		}
		if r := j.Result(); r.Status != Passed {
			b.Fatalf("%+v", r)
		}
	}
}
