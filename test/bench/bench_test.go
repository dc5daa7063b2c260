package main

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// printed is what go test prints for benchmarks: with metrics of their own, in rounds, between lines of the log.
const printed = `goos: linux
goarch: amd64
pkg: github.com/ferrus-go/ferrus/internal/store
cpu: Some CPU @ 2.00GHz
BenchmarkTransition-2   	      20	       964.8 append+replace-p50-µs	     19842 append-p99-µs	       600 apply-p50-µs
BenchmarkTransition-2   	      20	       1e3 append+replace-p50-µs	     10 append-p99-µs	       200 apply-p50-µs
BenchmarkHTTPCall/2025-11-25-2         	     500	       616.6 bare-p50-µs
BenchmarkHTTPCall/2025-11-25-2
    bench_test.go:12: BenchmarkHTTPCall says something
BenchmarkPlain 	     500	       12.5 ns/op	       16 B/op
PASS
ok  	github.com/ferrus-go/ferrus/internal/store	34.974s
`

func TestBenchmarksAreRead(t *testing.T) {
	r := results{}
	if n := read([]byte(printed), r); n != 4 {
		t.Errorf("%d lines of results", n)
	}
	want := results{
		"Transition append+replace-p50-µs": {964.8, 1000},
		"Transition append-p99-µs":         {19842, 10},
		"Transition apply-p50-µs":          {600, 200},
		"HTTPCall/2025-11-25 bare-p50-µs":  {616.6},
		"Plain ns/op":                      {12.5},
		"Plain B/op":                       {16},
	}
	if diff := cmp.Diff(want, r); diff != "" {
		t.Error(diff)
	}
}

func TestRoundsAreSummedUpOrCounted(t *testing.T) {
	r := results{"a p50-µs": {9, 1, 4}, "b per-s": {1, 4}, "c kept-n": {10, 7, 3}}
	for name, want := range map[string]float64{"a p50-µs": 4, "b per-s": 2.5, "c kept-n": 20} {
		if got, ok := r.value(name); got != want || !ok {
			t.Errorf("%s is %v, not %v", name, got, want)
		}
	}
	if v, ok := r.value("d p50-µs"); ok {
		t.Errorf("what was not measured is %v", v)
	}
}

func TestAPercentileNeedsEnoughSamples(t *testing.T) {
	few, many := make([]time.Duration, enough-1), make([]time.Duration, enough)
	for i := range many {
		many[i] = time.Duration(enough-i) * time.Microsecond
	}
	copy(few, many)
	r := results{}
	samples{"few": few, "many": many}.quantiles(r)
	if diff := cmp.Diff(results{"few-p50-µs": {51}, "many-p50-µs": {51}, "many-p99-µs": {100}}, r); diff != "" {
		t.Error(diff)
	}
}

// TestWhatIsNotOnTheDiskIsNotKept: the count does not take one mark for another.
func TestWhatIsNotOnTheDiskIsNotKept(t *testing.T) {
	text := mark(1) + mark(30) + "2 done\n12 done\n"
	if n := found([]string{mark(1), mark(2), mark(3), mark(30)}, text); n != 2 {
		t.Errorf("%d are found", n)
	}
	dir := t.TempDir()
	if err := newTaskMaster(dir, 12, nil); err != nil {
		t.Fatal(err)
	}
	p := peers[slices.IndexFunc(peers, func(p peer) bool { return p.Package == "task-master-ai" })]
	text, err := p.Kept(dir)
	if err != nil || text == "" || found([]string{p.Updated(1), p.Updated(12), p.Made(1)}, text) != 0 {
		t.Errorf("kept before anything was written: %q, %v", text, err)
	}
	changed := strings.Replace(content(t, filepath.Join(dir, tasksFile)), `"id":12,"title":"Given 12","description":"Given.","status":"pending"`,
		`"id":"12","title":"made 12.","description":"","status":"in-progress"`, 1)
	if err := os.WriteFile(filepath.Join(dir, tasksFile), []byte(changed), 0o600); err != nil {
		t.Fatal(err)
	}
	text, err = p.Kept(dir)
	if err != nil || found([]string{p.Updated(12), p.Made(12)}, text) != 2 || found([]string{p.Updated(2), p.Made(2)}, text) != 0 {
		t.Errorf("kept: %q, %v", text, err)
	}
}

func content(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestTheTable(t *testing.T) {
	r := results{
		"Transition apply-p50-µs": {238, 242, 250}, "Transition apply-p99-µs": {1234.5}, "Transition append-p50-µs": {121}, "Transition append-p99-µs": {999},
		"Start ferrus-p50-µs": {16300}, "Start bare-p50-µs": {8150}, "Start peer 1-p50-µs": {3.1e6},
		"Start ferrus-list-bytes":      {5740},
		"Crowd8/update ferrus-asked-n": {80, 80}, "Crowd8/update ferrus-acked-n": {80, 80}, "Crowd8/update ferrus-kept-n": {80, 80},
		"Crowd8/update peer 1-asked-n": {80, 80}, "Crowd8/update peer 1-acked-n": {80, 79}, "Crowd8/update peer 1-kept-n": {23, 80},
		"Crowd8/create peer 1-asked-n": {1000}, "Crowd8/create peer 1-acked-n": {1000}, "Crowd8/create peer 1-kept-n": {1000},
	}
	rep := report{
		Machine: machine{CPU: "Some CPU", Cores: 2, Kernel: "6.1", FileSystem: "ext4", Go: "go1.26", Date: "2026-01-02T12:00:00Z", Load: "1 2 3", Others: "41"},
		Busy:    true, Took: "3s", Peers: []string{"peer 1"}, Notes: []string{"peer 2 was not measured: there is no npm"}, Rows: rows(r, []string{"peer 1"}),
	}
	var b strings.Builder
	if err := rep.markdown(&b); err != nil {
		t.Fatal(err)
	}
	how := func(name, from string) string {
		return figures[slices.IndexFunc(figures, func(f figure) bool { return f.Name == name && f.From == from })].How
	}
	writers, creators := "8 writers: asked / acknowledged / kept", "8 creators: asked / acknowledged / kept"
	want := `Some CPU, 2 processors; kernel 6.1; ext4; go1.26; 2026-01-02T12:00:00Z; took 3s; load when it began 1 2 3; others used 41 % of the processors.
**The machine was busy with other things: these figures are for development only.**
Times are the median / the 99th percentile, of all rounds; the ratio is of the medians.

| figure | ferrus | limit | ratio | peer 1 | measured how |
| --- | ---: | ---: | ---: | ---: | --- |
| a transition | 242 µs / 1.23 ms | 121 µs / 999 µs | 2 |  | ` + how("a transition", "Transition") + ` |
| the same | 242 µs / 1.23 ms |  |  |  | ` + how("the same", "Transition") + ` |
| start-up | 16.3 ms / – | 8.15 ms / – | 2 | 3.1 s / – | ` + how("start-up", "Start") + ` |
| tools/list, executor | 5,740 B |  |  |  | ` + how("tools/list, executor", "Start") + ` |
| ` + writers + ` | 160 / 160 / 160 |  |  | 160 / 159 / 103 | ` + how(writers, "Crowd8/update") + ` |
| ` + creators + ` |  |  |  | 1,000 / 1,000 / 1,000 | ` + how(creators, "Crowd8/create") + ` |

- peer 2 was not measured: there is no npm
`
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Error(diff)
	}
	b.Reset()
	if err := rep.json(&b); err != nil {
		t.Fatal(err)
	}
	var again report
	if err := json.Unmarshal([]byte(b.String()), &again); err != nil {
		t.Fatal(err)
	}
	if got := again.Rows[0]; got.Ours["p50-µs"] != 242 || got.Limit["p50-µs"] != 121 || math.Abs(got.Ratio-2) > 1e-9 || !again.Busy {
		t.Errorf("JSON: %+v", again)
	}
}

func TestTheFileSystemIsThatOfTheNearestMount(t *testing.T) {
	const table = "/dev/a / ext4 rw 0 0\nproc /proc proc rw 0 0\ntmpfs /tmp tmpfs rw 0 0\n/dev/b /tmp/deep xfs rw 0 0\n"
	for dir, want := range map[string]string{"/": "ext4", "/home/u": "ext4", "/tmp": "tmpfs", "/tmp/x": "tmpfs", "/tmp/deep/x": "xfs", "/tmpfiles": "ext4"} {
		if got := mounted(table, dir); got != want {
			t.Errorf("%s is on %q, not %q", dir, got, want)
		}
	}
}

// TestEveryFigureIsMeasured finds the benchmark of each figure that comes from a package, and the names that it reports by,
// so that a figure does not vanish when they are renamed.
func TestEveryFigureIsMeasured(t *testing.T) {
	sources := map[string]string{} // the tests of a package, by the benchmarks that a suite runs
	for _, s := range suites {
		names, err := filepath.Glob(filepath.Join("..", "..", s.Package, "*_test.go"))
		if err != nil || len(names) == 0 {
			t.Fatalf("%s has no tests: %v", s.Package, err)
		}
		var text strings.Builder
		for _, name := range names {
			text.WriteString(content(t, name))
		}
		for _, m := range regexp.MustCompile(`func (Benchmark\w+)\(`).FindAllStringSubmatch(text.String(), -1) {
			if regexp.MustCompile(s.Bench).MatchString(m[1]) {
				sources[strings.TrimPrefix(m[1], "Benchmark")] = text.String()
			}
		}
	}
	own := regexp.MustCompile(`^(Start|Crowd(8|32)/(update|create|look)|Flow|Large/[a-z-]+)$`)
	for _, f := range figures {
		if own.MatchString(f.From) {
			continue
		}
		name, sub, _ := strings.Cut(f.From, "/")
		for _, quoted := range []string{f.Ours, f.Limit, sub} {
			if text := sources[name]; quoted != "" && !strings.Contains(text, `"`+quoted+`"`) {
				t.Errorf("%s: no suite measures %q of Benchmark%s", f.Name, quoted, name)
			}
		}
	}
}

func TestTheFirstLimitComesFirst(t *testing.T) {
	of := func(from, limit string) figure { return figure{From: from, Limit: limit} }
	got := firstLimits([]row{
		{Figure: "rings", Ratio: 4, of: of("Scale/rings", "server")},
		{Figure: "reads", Ratio: 0.5, of: of("Scale/reads", "server")},
		{Figure: "connections", Ratio: 90, of: of("Scale/connections", "server")},
		{Figure: "a line", Ratio: 100, of: of("Scale/line", "length")},
		{Figure: "a transition", Ratio: 200, of: of("Transition", "server")},
	})
	want := "nodes with ten branches each at which one database reaches its limits, the first one first: connections: 11; rings: 500; reads: 2,000"
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got := firstLimits(nil); got != "" {
		t.Errorf("nothing was measured: %s", got)
	}
}
