//go:build unix

package run

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ferrus-go/ferrus/internal/config"
	"github.com/ferrus-go/ferrus/internal/config/workflow"
	"github.com/ferrus-go/ferrus/internal/pipeline"
	"github.com/ferrus-go/ferrus/internal/platform/rootfs/rootfstest"
	"github.com/ferrus-go/ferrus/test/kit"
)

// attackedRun is the run that is attacked: its first two workers are done, and its third is to begin.
const attackedRun = "p-120000"

// fill makes a project with a run under way, without starting anybody, and returns it.
func fill(t *testing.T, dir string) *Folder {
	t.Helper()
	must(t, os.MkdirAll(filepath.Join(dir, ".ferrus"), 0o700))
	all, err := workflow.Parse([]byte(pair))
	must(t, err)
	p := At(dir, config.Default().Pipelines)
	conf := config.Default()
	conf.HQ.Executor = config.Agent{Agent: "command", Command: "exit 1"}
	f, err := p.Launch(all[0], "topic", p.Settings(conf), time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC))
	must(t, err)
	return f
}

// TestNoEntryLeadsARunOutside lays links, FIFOs and huge files in place of everything that a run reads and writes, and
// does everything with it that starts nobody.
func TestNoEntryLeadsARunOutside(t *testing.T) {
	const tmp = ".ferrus/pipeline-tmp"
	paths := []string{".ferrus", tmp, tmp + "/" + attackedRun, ".ferrus/memory", ".ferrus/memory/pipelines", "results", "results/" + attackedRun + ".md"}
	for _, name := range []string{workersDir, keptDir, attemptsDir, attemptsDir + "/one.0", promptsDir, logsDir, statusFile, workflowFile, journalFile, lockFile,
		intentFile, deliveryFile, deliveryLock, finalFile, baseFile, lookedFile, toldFile, toldLock, printedFile, "one.md", "end.md", pipeline.DialogueFile,
		keptDir + "/one.md", workersDir + "/one.jsonl", workersDir + "/one.lock", workersDir + "/" + leadFile, workersDir + "/.place-1.lock", promptsDir + "/one.txt",
		statusFile + ".new"} {
		paths = append(paths, tmp+"/"+attackedRun+"/"+name)
	}
	setup := func(t *testing.T, dir string) {
		f := fill(t, dir)
		for name, text := range map[string]string{"one.md": "one was here\n", "two.md": "two was here\n", finalFile: "old\n", toldFile: "0", keptDir + "/one.md": "kept\n",
			promptsDir + "/one.txt": "prompt\n", workersDir + "/one.lock": "", workersDir + "/" + leadFile: "1\n", intentFile: `{"id":"i","verb":"cancel","by":"me"}`,
			workersDir + "/one.jsonl": `{"run":"one-1","duty":"one","agent":"command","log":"agent-one-1.log","started":"2026-01-02T12:00:00Z","ended":"2026-01-02T12:00:01Z"}` + "\n"} {
			must(t, os.WriteFile(f.Path(name), []byte(text), 0o600))
		}
	}
	if !kit.Full() { // one of each kind of thing that is done with a file
		paths = []string{tmp, tmp + "/" + attackedRun, ".ferrus/memory/pipelines", "results", "results/" + attackedRun + ".md"}
		for _, name := range []string{workersDir, keptDir, statusFile, journalFile, lockFile, deliveryFile, finalFile, "one.md", workersDir + "/one.jsonl",
			workersDir + "/" + leadFile} {
			paths = append(paths, tmp+"/"+attackedRun+"/"+name)
		}
	}
	rootfstest.Attack(t, paths, setup, func(t *testing.T, c rootfstest.Case) error { return everything(t, c.Dir) })
}

// everything does with a run whatever is done with one, but for starting workers.
func everything(t *testing.T, dir string) error {
	p := At(dir, config.Default().Pipelines)
	var errs []error
	note := func(err error) {
		if err != nil {
			errs = append(errs, err)
		}
	}
	_, err := p.Names()
	note(err)
	_, err = p.Archived()
	note(err)
	now := time.Now()
	f, err := p.Open(attackedRun)
	note(err)
	if err == nil {
		f.Settings.Deliver.To, f.Settings.Deliver.File = config.ToFile, "results/{run}.md"
		_, err = f.View(now)
		note(err)
		_, err = f.Lines()
		note(err)
		_, err = f.Prompt("one")
		note(err)
		f.Leader()
		leave, err := f.Lead()
		note(err)
		if err == nil {
			leave()
		}
		o := Options{Out: &bytes.Buffer{}, Log: slog.New(slog.DiscardHandler)}.orUsual()
		b := &runState{f: f, o: o}
		err = b.open(now)
		note(err)
		if err == nil {
			facts, err := f.facts(b.status, now, f.settle)
			note(err)
			if err == nil {
				_, err = b.guard(&facts)
				note(err)
				seen := pipeline.Reconcile(facts)
				note(b.observe(facts, seen))
				_, err = b.aside("one.md", "one", 0)
				note(err)
			}
			_, err = b.order("two")
			note(err)
			note(b.write(pipeline.Action{Do: pipeline.Close, File: "end.md", Text: []byte("end")}))
		}
		f.woke(o)
		f.news(t.Context(), o)
		note(f.Ask(Intent{ID: "i", Verb: pipeline.Cancel, By: "me"}, now))
		_, err = f.send(t.Context(), o, byFerrus, []byte("result"), true)
		note(err)
		d, err := f.WorkerSession("two", 1)
		note(err)
		if err == nil {
			_, err = d.Write("two", false, now)
			note(err)
		}
		if f.wanted().Verb == pipeline.Cancel { // else it would start somebody
			_, err = f.Tick(t.Context(), o)
			note(err)
		}
	}
	all, err := workflow.Parse([]byte(pair))
	note(err)
	_, err = p.Launch(all[0], "topic", p.Settings(config.Default()), now)
	note(err)
	return errors.Join(errs...)
}

// TestAFieldThatNoRunHasIsRefused changes each field of a run's files, in turn, to what it cannot be: it is refused with
// its name, and nothing is done.
func TestAFieldThatNoRunHasIsRefused(t *testing.T) {
	t.Parallel()
	long, topic := strings.Repeat("x", 100<<10), strings.Repeat("x", 1<<20+1)
	cases := 0
	set := func(line map[string]any, field string, value any) {
		at := any(line)
		parts := strings.Split(field, ".")
		for _, part := range parts[:len(parts)-1] {
			switch v := at.(type) {
			case map[string]any:
				at = v[part]
			case []any:
				at = v[0]
			}
		}
		at.(map[string]any)[parts[len(parts)-1]] = value
	}
	for field, values := range map[string][]any{
		"settings.archive":                    {"/", "/tmp/elsewhere", "", "../x"},
		"settings.root":                       {"", "relative", 7},
		"settings.deliver.to":                 {"", "nowhere", 7},
		"settings.deliver.timeout_secs":       {-1},
		"settings.deliver.command":            {long, "a\x00b"},
		"settings.notify.command":             {long, "a\x00b"},
		"settings.executor.agent":             {long},
		"settings.executor.args":              {[]string{"a\x00b"}, "x"},
		"workflow":                            {map[string]any{}, "x", map[string]any{"p": 1, "q": 2}},
		"status.state":                        {"", "bored", 7},
		"status.current_phase":                {-1, 2, 1 << 40},
		"status.retry_count":                  {-1, 1 << 40},
		"status.rev":                          {-1},
		"status.dir":                          {"../x", "a/b", long},
		"status.topic":                        {topic, "a\x00b"},
		"status.failure":                      {long},
		"status.phases.0.status":              {"", "bored"},
		"status.phases.0.id":                  {long, "a\x00b"},
		"status.phases.0.resumed_by":          {long},
		"status.phases.0.workers.one.output":  {"../../x", "/etc/passwd", "a/b", ".hidden", "status.json", "two.md"},
		"status.phases.0.workers.one.status":  {"", "paused", "bored"},
		"status.phases.0.workers.one.attempt": {-1, 1 << 40},
		"status.phases.0.workers.one.tries":   {-1},
		"status.phases.0.workers.one.bytes":   {-1},
		"status.phases.0.workers.one.sha256":  {"x", strings.Repeat("A", 64)},
		"status.phases.0.workers.one.session": {long},
		"status.phases.0.workers.one.detail":  {long},
	} {
		for _, value := range values {
			cases++
			t.Run(fmt.Sprintf("%s %.20v", field, value), func(t *testing.T) {
				dir, err := filepath.EvalSymlinks(t.TempDir())
				must(t, err)
				f := fill(t, dir)
				text, err := os.ReadFile(f.Path(journalFile))
				must(t, err)
				var line map[string]any
				must(t, json.Unmarshal(text, &line))
				set(line, field, value)
				text, err = json.Marshal(line)
				must(t, err)
				must(t, os.WriteFile(f.Path(journalFile), append(text, '\n'), 0o600))
				must(t, os.Remove(f.Path(statusFile)))
				before := rootfstest.Snapshot(t, dir, ".ferrus")
				g, err := Open(f.Dir)
				if err == nil {
					_, err = g.Tick(t.Context(), Options{Ferrus: "/bin/false", Environ: os.Environ()})
				}
				if err == nil {
					t.Fatal("it is believed")
				}
				last := field[strings.LastIndexByte(field, '.')+1:]
				if name := strings.ReplaceAll(err.Error(), f.Dir, ""); !strings.Contains(name, last) && !strings.Contains(name, "json:") && !strings.Contains(name, "no complete line") && !strings.Contains(name, strings.TrimSuffix(last, "s")) {
					t.Errorf("the error does not name %s: %.300v", field, err)
				}
				if after := rootfstest.Snapshot(t, dir, ".ferrus"); after != before {
					t.Errorf("there is now\n%s", after)
				}
			})
		}
	}
	t.Logf("rig: cases=%d bad=0; fields of a run's journal that nobody wrote", cases)
}

// TestAStrangersStatusIsNotBelieved: status.json and delivery.json are files that workers can write.
func TestAStrangersStatusIsNotBelieved(t *testing.T) {
	t.Parallel()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	f := fill(t, dir)
	good, err := f.Status()
	must(t, err)
	text, err := os.ReadFile(f.Path(statusFile))
	must(t, err)
	must(t, os.Remove(f.Path(statusFile)))
	must(t, os.WriteFile(f.Path(statusFile), bytes.Replace(text, []byte("one.md"), []byte("../../../STATE.json"), 1), 0o600))
	if s, err := f.Status(); err != nil || s.Worker("one").Output != good.Worker("one").Output {
		t.Errorf("%+v, %v", s.Worker("one"), err)
	}
	for _, text := range []string{`{"state":"bored","by":"ferrus"}`, `{"state":"delivered","by":"nobody"}`, `{"state":"delivered","by":"ferrus","sha256":"x"}`,
		`{"state":"delivered","by":"ferrus","id":"` + strings.Repeat("x", 1000) + `"}`} {
		must(t, os.WriteFile(f.Path(deliveryFile), []byte(text), 0o600))
		if _, err := f.delivery(); err == nil || !strings.Contains(err.Error(), f.Path(deliveryFile)) {
			t.Errorf("%.60s: %v", text, err)
		}
	}
	for _, text := range []string{`{"id":"` + strings.Repeat("x", 2000) + `","verb":"cancel"}`, `{"verb":"retry","from":"../x"}`, `{"verb":"become root"}`, `[]`} {
		must(t, os.WriteFile(f.Path(intentFile), []byte(text), 0o600))
		if i := f.wanted(); i.Verb != "" {
			t.Errorf("%.60s: %+v", text, i)
		}
	}
}

// TestAProjectThatWasMovedGoesOn where it is, whatever its runs say.
func TestAProjectThatWasMovedGoesOn(t *testing.T) {
	t.Parallel()
	base, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	must(t, os.Mkdir(filepath.Join(base, "old"), 0o700))
	f := fill(t, filepath.Join(base, "old"))
	must(t, os.Rename(filepath.Join(base, "old"), filepath.Join(base, "new")))
	p := At(filepath.Join(base, "new"), config.Default().Pipelines)
	for _, open := range []func() (*Folder, error){func() (*Folder, error) { return p.Open("") }, func() (*Folder, error) { return Open(filepath.Join(p.Tmp, f.Name())) }} {
		if g, err := open(); err != nil || g.Settings.Root != p.Root || g.Settings.Archive != p.Archive || g.Dir != filepath.Join(p.Tmp, f.Name()) {
			t.Errorf("%+v, %v", g, err)
		}
	}
	for _, name := range []string{"..", ".", "x", "p-120000/..", "/", "p-120000\x00", "p-12"} {
		if g, err := p.Open(name); err == nil && g.Name() != f.Name() {
			t.Errorf("%q is %+v", name, g)
		}
	}
}
