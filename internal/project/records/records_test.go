package records

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrus-go/ferrus/internal/agents"
	"github.com/ferrus-go/ferrus/internal/agents/process"
	"github.com/ferrus-go/ferrus/internal/config"
	"github.com/ferrus-go/ferrus/internal/config/trust"
	"github.com/ferrus-go/ferrus/internal/project"
)

// folder returns the root of a new project of files alone.
func folder(t testing.TB) string {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	must(t, os.MkdirAll(filepath.Join(root, ".ferrus", "archive"), 0o700))
	return root
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// write writes the lines of a record, below the root of a project.
func write(t testing.TB, root, name string, lines ...process.Run) {
	t.Helper()
	file := filepath.Join(root, filepath.FromSlash(name))
	must(t, os.MkdirAll(filepath.Dir(file), 0o700))
	f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	must(t, err)
	defer f.Close()
	for _, r := range lines {
		must(t, json.NewEncoder(f).Encode(r))
	}
}

var begin = time.Date(2026, 11, 27, 22, 0, 0, 0, time.UTC)

// ran is a run that took some minutes.
func ran(duty agents.Duty, n int, at time.Time, minutes int, u agents.Usage) process.Run {
	return process.Run{Name: fmt.Sprintf("%s-%d", duty, n), Duty: duty, Agent: "codex", Log: "agent-x.log", Started: at, Ended: at.Add(time.Duration(minutes) * time.Minute), Usage: u}
}

// read reads all runs of a project, with an index and without, and fails if they differ.
func read(t testing.TB, root string) Spend {
	t.Helper()
	var sums []Spend
	for _, with := range []string{"none", "made", "used"} {
		if with == "none" {
			_ = os.Remove(filepath.Join(root, ".ferrus", indexFile))
		}
		runs, err := Read(context.Background(), root, Options{Now: begin, Index: with != "none"})
		must(t, err)
		sums = append(sums, Sum(runs).Spend)
	}
	if sums[0] != sums[1] || sums[1] != sums[2] {
		t.Fatalf("%+v without an index, %+v when it is made, %+v by it", sums[0], sums[1], sums[2])
	}
	return sums[0]
}

// TestNoRunIsLostOrCountedTwice: of random records of tasks, branches, removed branches and pipelines, whatever ferrus gc removes, also when it
// is cut off and begins again.
func TestNoRunIsLostOrCountedTwice(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		random := rand.New(rand.NewPCG(seed, 1))
		root := folder(t)
		var want Spend
		var places []string
		for _, dir := range []string{".ferrus", ".ferrus/branches/a", ".ferrus/branches/b", ".ferrus/archive/branches/a@20261101T101010.000", ".ferrus/archive/branches/.going-c@20261102T101010.000"} {
			for n := range random.IntN(4) {
				places = append(places, fmt.Sprintf("%s/runs/t-20261127-22000%d-abcdef01.jsonl", dir, n))
			}
		}
		for _, dir := range []string{".ferrus/pipeline-tmp/p-101010", ".ferrus/memory/pipelines/p-101011", ".ferrus/memory/pipelines/p-101012"} {
			places = append(places, dir+"/workers/editor.jsonl")
		}
		for _, name := range places {
			for n := range random.IntN(5) {
				duty := agents.Executor
				if path.Base(name) == "editor.jsonl" {
					duty = "editor"
				}
				r := ran(duty, n+1, begin.Add(time.Duration(random.IntN(1e6))*time.Millisecond), random.IntN(90),
					agents.Usage{Input: random.Int64N(1e7), Cached: random.Int64N(1e3), Output: random.Int64N(1e6), Dollars: float64(random.IntN(400)) / 4})
				start := r
				start.Ended, start.Usage = time.Time{}, agents.Usage{}
				write(t, root, name, start, r)
				if random.IntN(8) == 0 { // could not be started
					failed := ran(duty, n+100, begin, 0, agents.Usage{})
					failed.Error = "no such program"
					write(t, root, name, failed)
				}
				want = want.Plus(Spend{1, r.Ended.Sub(r.Started), r.Usage})
			}
		}
		if got := read(t, root); got != want {
			t.Fatalf("seed %d: %+v, and not %+v", seed, got, want)
		}
		if len(places) > 0 { // the index knows it as it was
			r := ran(agents.Executor, 50, begin, 5, agents.Usage{Input: 3})
			write(t, root, places[0], r)
			want = want.Plus(Spend{1, r.Ended.Sub(r.Started), r.Usage})
			runs, err := Read(t.Context(), root, Options{Now: begin, Index: true})
			if got := Sum(runs).Spend; err != nil || got != want {
				t.Fatalf("seed %d, %s has grown: %+v, and not %+v, %v", seed, places[0], got, want, err)
			}
		}
		home, err := project.At(root, "").OpenHome()
		must(t, err)
		for _, name := range places {
			name, _ = filepath.Rel(".ferrus", name)
			name = filepath.ToSlash(name)
			switch {
			case path.Base(path.Dir(name)) != "runs":
				continue
			case path.Dir(path.Dir(path.Dir(name))) == project.ArchivedBranches:
				name = path.Dir(path.Dir(name))
			case random.IntN(2) == 0:
				continue // of a task that is not over
			}
			for range 1 + random.IntN(2) {
				must(t, Keep(home, []string{"logs/agent-x.log", name}))
				if got := read(t, root); got != want {
					t.Fatalf("seed %d, %s is kept and not removed: %+v, and not %+v", seed, name, got, want)
				}
			}
			must(t, home.RemoveAll(name))
			if got := read(t, root); got != want {
				t.Fatalf("seed %d without %s: %+v, and not %+v", seed, name, got, want)
			}
		}
		must(t, home.Close())
	}
}

// TestARunCountsOnTheDayOfItsStart, an agent at work with what it has printed, and one whose shim was killed until its last output.
func TestARunCountsOnTheDayOfItsStart(t *testing.T) {
	t.Parallel()
	root := folder(t)
	late := begin.Add(2 * time.Hour)
	write(t, root, ".ferrus/runs/t-1.jsonl", ran(agents.Executor, 1, begin, 600, agents.Usage{Output: 1}), ran(agents.Executor, 2, late, 3, agents.Usage{Output: 20}))
	killed := ran(agents.Reviewer, 1, late, 0, agents.Usage{})
	killed.Ended, killed.Log = time.Time{}, "agent-t-1-reviewer-1.log"
	write(t, root, ".ferrus/runs/t-1.jsonl", killed)
	must(t, os.MkdirAll(filepath.Join(root, ".ferrus", "logs"), 0o700))
	log := filepath.Join(root, ".ferrus", "logs", killed.Log)
	must(t, os.WriteFile(log, []byte("{\"type\":\"turn.completed\",\"usage\":{\"input_tokens\":7,\"cached_input_tokens\":0,\"output_tokens\":5}}\n"), 0o600))
	must(t, os.Chtimes(log, late, late.Add(9*time.Minute)))
	runs, err := Read(t.Context(), root, Options{Since: late.Truncate(24 * time.Hour), Now: late.Add(time.Hour)})
	must(t, err)
	if got, want := Sum(runs).Spend, (Spend{2, 12 * time.Minute, agents.Usage{Input: 7, Output: 25}}); got != want {
		t.Errorf("%+v, and not %+v", got, want)
	}
}

// TestGroups: lines have the sums of their runs; dollars that nobody reports are none.
func TestGroups(t *testing.T) {
	t.Parallel()
	runs := []Run{
		{Task: "t-2", Role: "executor", Agent: "codex", Started: begin, Time: time.Minute, Usage: agents.Usage{Input: 3}},
		{Task: "t-1", Branch: "b", Role: "reviewer", Agent: "claude-code", Model: "opus", Started: begin.Add(3 * time.Hour), Usage: agents.Usage{Output: 4, Dollars: 0.5}},
		{Task: "t-1", Branch: "b", Role: "executor", Agent: "codex", Started: begin.Add(4 * time.Hour)},
	}
	for by, want := range map[string][]string{
		"task": {"t-2 1 0 false", "b t-1 2 1 false"}, "role": {"executor 2 0 false", "reviewer 1 1 false"}, "agent": {"claude-code 1 1 false", "codex 2 0 false"},
		"model": {"claude-code:opus 1 1 false", "codex 2 0 false"}, "day": {"2026-11-27 1 0 false", "2026-11-28 2 1 false"}, "project": {" 3 1 true"},
	} {
		var got []string
		for _, l := range GroupBy(runs, by, time.UTC) {
			got = append(got, fmt.Sprint(l.Name, " ", l.Runs, " ", l.Priced, " ", l.Incomplete && l.Priced > 0))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", by, diff)
		}
	}
}

// TestDays: each begins with its first instant, also where clocks change at midnight or skip a date.
func TestDays(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ zone, now, from, until string }{
		{"UTC", "2026-11-28T12:00:00Z", "2026-11-28T00:00:00Z", "2026-11-29T00:00:00Z"},
		{"Europe/Berlin", "2026-03-29T10:00:00Z", "2026-03-28T23:00:00Z", "2026-03-29T22:00:00Z"},     // 23 hours
		{"Europe/Berlin", "2026-10-25T00:30:00Z", "2026-10-24T22:00:00Z", "2026-10-25T23:00:00Z"},     // 25 hours
		{"America/Sao_Paulo", "2018-11-04T12:00:00Z", "2018-11-04T03:00:00Z", "2018-11-05T02:00:00Z"}, // has no midnight: 0:00 is 1:00
		{"America/Sao_Paulo", "2018-11-03T12:00:00Z", "2018-11-03T03:00:00Z", "2018-11-04T03:00:00Z"},
		{"America/Sao_Paulo", "2018-02-18T02:30:00Z", "2018-02-17T02:00:00Z", "2018-02-18T03:00:00Z"}, // 24:00 is 23:00, so that 23:30 comes twice
		{"America/Sao_Paulo", "2018-02-18T03:00:00Z", "2018-02-18T03:00:00Z", "2018-02-19T03:00:00Z"},
		{"America/Havana", "2025-11-02T05:30:00Z", "2025-11-02T04:00:00Z", "2025-11-03T05:00:00Z"}, // 1:00 is 0:00 again
		{"Pacific/Apia", "2011-12-30T09:00:00Z", "2011-12-29T10:00:00Z", "2011-12-30T10:00:00Z"},   // the next date is skipped
		{"Pacific/Apia", "2011-12-30T10:00:00Z", "2011-12-30T10:00:00Z", "2011-12-31T10:00:00Z"},
	} {
		zone, err := time.LoadLocation(c.zone)
		must(t, err)
		now, err := time.Parse(time.RFC3339, c.now)
		must(t, err)
		from, until := DayOf(now.In(zone))
		if f, u := from.UTC().Format(time.RFC3339), until.UTC().Format(time.RFC3339); f != c.from || u != c.until {
			t.Errorf("%s in %s: from %s until %s, and not from %s until %s", c.now, c.zone, f, u, c.from, c.until)
		}
		if from.After(now) || !until.After(now) {
			t.Errorf("%s in %s is not in its day", c.now, c.zone)
		}
		if again, end := DayOf(from); !again.Equal(from) || !end.Equal(until) {
			t.Errorf("%s in %s: its first instant has the day from %s until %s", c.now, c.zone, again, end)
		}
		if _, end := DayOf(until.Add(-1)); !end.Equal(until) {
			t.Errorf("%s in %s: its last instant ends at %s", c.now, c.zone, end)
		}
	}
}

// TestALimitHoldsUntilMidnight: from the run that reaches it, for the project and for all projects together, unless the person allows it. What an
// agent writes into ferrus.toml lifts nothing.
func TestALimitHoldsUntilMidnight(t *testing.T) {
	t.Setenv(trust.EnvStateDir, t.TempDir())
	t.Setenv(trust.EnvXDGConf, t.TempDir())
	root, other := folder(t), folder(t)
	now := begin.Add(time.Hour)
	toml := func(text string) {
		t.Helper()
		must(t, os.WriteFile(filepath.Join(root, config.FileName), []byte("[limits]\nday_zone = \"UTC\"\n"+text), 0o600))
	}
	up := func(at time.Time) string {
		t.Helper()
		l, err := UsedUp(t.Context(), root, at)
		must(t, err)
		return l.Text
	}
	write(t, root, ".ferrus/runs/t-1.jsonl", ran(agents.Executor, 1, begin.Add(-24*time.Hour), 50, agents.Usage{Output: 1000, Dollars: 9}), ran(agents.Executor, 2, begin, 5, agents.Usage{Input: 60, Cached: 40, Output: 40, Dollars: 2.5}))
	for _, c := range []struct{ toml, want string }{
		{"", ""},
		{"max_day_minutes = 6", ""}, {"max_day_minutes = 5", "have run for 5 minutes of 5"},
		{"max_day_tokens = 101", ""}, {"max_day_tokens = 100", "have used 100 tokens of 100"},
		{"max_day_dollars = 3", ""}, {"max_day_dollars = 2", "have cost 2.50 dollars of 2"},
	} {
		toml(c.toml)
		if got := up(now); (c.want == "") != (got == "") || c.want != "" && got != "The agents of this project "+c.want+" today." {
			t.Errorf("%s: %q", c.toml, got)
		}
	}
	toml("max_day_tokens = 100")
	if got := up(begin.Add(2 * time.Hour)); got != "" {
		t.Errorf("after midnight: %q", got)
	}

	// The agreed value counts where that of the file is higher, and the file where it cannot be read.
	record, err := trust.Open(root)
	must(t, err)
	conf, err := config.Load(filepath.Join(root, config.FileName))
	must(t, err)
	must(t, record.Agree(conf.Executable()))
	for _, text := range []string{"max_day_tokens = 1000", "", "max_day_tokens = \"x\""} {
		if toml(text); up(now) == "" {
			t.Errorf("%q lifts the limit", text)
		}
	}
	if toml("max_day_tokens = 7"); up(now) != "The agents of this project have used 100 tokens of 7 today." {
		t.Error(up(now))
	}

	until, err := AllowToday(root, now)
	must(t, err)
	if want := begin.Add(2 * time.Hour); !until.Equal(want) || up(now) != "" || up(until.Add(-1)) != "" {
		t.Errorf("allowed until %s: %q", until, up(now))
	}
	write(t, root, ".ferrus/runs/t-1.jsonl", ran(agents.Executor, 3, until, 5, agents.Usage{Output: 8}))
	if up(until) == "" {
		t.Error("the next day is allowed, too")
	}

	// Over all projects of the person.
	must(t, record.Forget())
	toml("")
	must(t, os.MkdirAll(filepath.Join(os.Getenv(trust.EnvXDGConf), "ferrus"), 0o700))
	must(t, os.WriteFile(filepath.Join(os.Getenv(trust.EnvXDGConf), "ferrus", config.PersonFile), []byte("[limits]\nmax_day_tokens = 110\nday_zone = \"UTC\"\n"), 0o600))
	for _, dir := range []string{root, other} {
		p, err := trust.Open(dir)
		must(t, err)
		must(t, p.Agree(nil))
	}
	if up(now) != "" {
		t.Error(up(now))
	}
	write(t, other, ".ferrus/branches/b/runs/t-2.jsonl", ran(agents.Reviewer, 1, begin, 1, agents.Usage{Output: 3}))
	if want := "The agents of all your projects have used 111 tokens of 110 today."; up(now) != want {
		t.Error(up(now))
	}
	must(t, os.RemoveAll(filepath.Join(root, ".ferrus", "runs")))
	must(t, os.RemoveAll(other))
	_, unread, err := ReadAll(t.Context(), Options{Now: now})
	if must(t, err); unread[other] == nil || len(unread) != 1 {
		t.Errorf("what cannot be read is not named: %v", unread)
	}
}

// BenchmarkRead reads 100,000 runs, by the index and by the records.
func BenchmarkRead(b *testing.B) {
	root := folder(b)
	const tasks, each = 5_000, 20
	for task := range tasks {
		var list []process.Run
		for n := range each {
			list = append(list, ran(agents.Executor, n+1, begin.Add(time.Duration(n)*time.Hour), 7, agents.Usage{Input: 123456, Cached: 100000, Output: 7890, Dollars: 0.25}))
		}
		write(b, root, fmt.Sprintf(".ferrus/runs/t-%08d.jsonl", task), list...)
	}
	_, err := Read(b.Context(), root, Options{Now: begin, Index: true})
	must(b, err)
	for _, by := range []string{"index", "records"} {
		b.Run(by, func(b *testing.B) {
			for b.Loop() {
				runs, err := Read(b.Context(), root, Options{Now: begin})
				if err != nil || len(runs) != tasks*each {
					b.Fatal(len(runs), err)
				}
			}
		})
		must(b, os.Remove(filepath.Join(root, ".ferrus", indexFile)))
		must(b, os.WriteFile(filepath.Join(root, ".ferrus", indexFile), nil, 0o600))
	}
}
