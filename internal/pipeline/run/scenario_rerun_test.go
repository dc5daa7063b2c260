//go:build unix

package run

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrus-go/ferrus/internal/config"
	"github.com/ferrus-go/ferrus/internal/config/workflow"
	"github.com/ferrus-go/ferrus/internal/pipeline"
	"github.com/ferrus-go/ferrus/internal/platform/atomicfile"
	"github.com/ferrus-go/ferrus/test/kit"
)

// tree is all there is of a folder: names, modes, times and contents.
func tree(t testing.TB, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	must(t, filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := os.Lstat(path)
		if err != nil {
			return err
		}
		text := ""
		if info.Mode().IsRegular() {
			raw, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			text = string(raw)
		}
		all[path] = fmt.Sprint(info.Mode(), info.ModTime(), text)
		return nil
	}))
	return all
}

// over is a pair that is archived.
func (y *yard) over(workflows string) *Folder {
	y.t.Helper()
	y.play("end", `cat "$FERRUS_RUN_DIR/one.md" "$FERRUS_RUN_DIR/two.md" > "$FERRUS_OUTPUT"`)
	f := y.launch(workflows)
	y.ended(f, y.conduct(f))
	return y.again(f)
}

// rerun takes a run up again.
func (y *yard) rerun(old *Folder, from, more string) (*Folder, error) {
	y.t.Helper()
	return y.place().Rerun(old, from, more, y.place().Settings(y.conf), time.Now())
}

// TestARerunLeavesTheArchiveAsItIs: the workers before the point are not started, their outputs are copied with their
// hashes, the topic has the text, and the old run is byte for byte as before. S2-12, S2-17.
func TestARerunLeavesTheArchiveAsItIs(t *testing.T) {
	t.Parallel()
	y := newYard(t)
	y.play("one", `echo "$$ one" > "$FERRUS_OUTPUT"`)
	old := y.over(pair)
	before := tree(t, y.place().Archive)
	f, err := y.rerun(old, "b", "Look closer.")
	must(t, err)
	f = y.again(f)
	want := &Origin{old.Name(), "b", []pipeline.Output{
		{File: "one.md", Roles: []string{"one"}, SHA256: y.status(old).Worker("one").SHA256},
		{File: "two.md", Roles: []string{"two"}, SHA256: y.status(old).Worker("two").SHA256}}}
	if !cmp.Equal(f.Origin, want) {
		t.Errorf("its first line differs: %s", cmp.Diff(want, f.Origin))
	}
	y.ended(f, y.conduct(f))
	if s := y.status(f); s.Topic != "FSA architecture\n\nLook closer." {
		t.Errorf("its topic is %q", s.Topic)
	}
	if prompt, err := f.Prompt("end"); err != nil || !strings.HasPrefix(prompt, "Topic: FSA architecture\n\nLook closer.\n") {
		t.Errorf("the prompt is %q: %v", prompt, err)
	}
	for _, file := range []string{"one.md", "two.md", finalFile} {
		was, err := os.ReadFile(old.Path(file))
		must(t, err)
		if is, err := os.ReadFile(f.Path(file)); err != nil || string(is) != string(was) {
			t.Errorf("%s is %q, not %q: %v", file, is, was, err)
		}
	}
	y.times(map[string]int{"one": 1, "two": 1, "end": 2})
	after := tree(t, y.place().Archive)
	for path := range after {
		if strings.HasPrefix(path, f.Dir) || path == y.place().Archive { // the new one lies beside the old one now
			delete(after, path)
			delete(before, path)
		}
	}
	if !cmp.Equal(after, before) {
		t.Errorf("the archive is another: %s", cmp.Diff(before, after))
	}
}

// TestAVariantOfARunHasAnotherAgent: all workers but commands are the variant, the copied outputs stay, and the first line of
// the journal names it. S2-12, S2-17.
func TestAVariantOfARunHasAnotherAgent(t *testing.T) {
	t.Parallel()
	y := newYard(t)
	y.play("one", `echo "$$ one" > "$FERRUS_OUTPUT"`)
	old := y.over(pair)
	before := tree(t, y.place().Archive)
	y.play("end", `echo "by $FERRUS_MODEL" > "$FERRUS_OUTPUT"`)
	s := y.place().Settings(y.conf)
	s.Variant = "command:large"
	f, err := y.place().Rerun(old, "end", "", s, time.Now())
	must(t, err)
	f = y.again(f)
	y.ended(f, y.conduct(f))
	f = y.again(f)
	if f.Settings.Variant != "command:large" || f.Origin.Run != old.Name() {
		t.Errorf("the journal has %+v, %+v", f.Settings, f.Origin)
	}
	if text, err := f.slurp("end.md"); err != nil || string(text) != "by large\n" {
		t.Errorf("%q, %v", text, err)
	}
	if text, err := f.slurp("one.md"); err != nil || !strings.HasSuffix(string(text), " one\n") {
		t.Errorf("the copied output is %q, %v", text, err)
	}
	after := tree(t, y.place().Archive)
	for path := range after {
		if strings.HasPrefix(path, f.Dir) || path == y.place().Archive { // the new one lies beside the old one now
			delete(after, path)
			delete(before, path)
		}
	}
	if !cmp.Equal(after, before) {
		t.Errorf("the archive is another: %s", cmp.Diff(before, after))
	}
	for _, c := range []struct{ variant, agent, model string }{{"codex", "codex", ""}, {"claude-code:opus", "claude-code", "opus"}, {"command", "command", y.conf.HQ.Executor.Model}} {
		got := Settings{Executor: y.conf.HQ.Executor, Variant: c.variant}.Agent(workflow.Worker{Agent: "gemini", Model: "flash"})
		if got.Agent != c.agent || got.Model != c.model {
			t.Errorf("%s: %+v", c.variant, got)
		}
	}
}

// TestARerunBeginsWithWhoDidNotFinish: of a run that was cancelled.
func TestARerunBeginsWithWhoDidNotFinish(t *testing.T) {
	t.Parallel()
	y := newYard(t)
	y.play("one", `[ -e "$FERRUS_ROOT/may" ] || exit 1; `+write)
	f := y.launch(pair)
	y.conduct(f)
	y.ask(f, pipeline.Cancel)
	if a := y.conduct(f); a.Do != pipeline.Archive {
		t.Fatal(a)
	}
	y.put("may", "")
	next, err := y.rerun(y.again(f), "", "")
	must(t, err)
	if next.Dir == f.Dir || y.again(next).Origin.From != "one" {
		t.Errorf("it begins with %+v", y.again(next).Origin)
	}
	y.finish(next)
	y.times(map[string]int{"one": 2, "two": 1, "end": 1})
}

// TestACopiedOutputIsGuardedLikeAnyOther: another worker that changes it changes nothing.
func TestACopiedOutputIsGuardedLikeAnyOther(t *testing.T) {
	t.Parallel()
	y := newYard(t)
	old := y.over(pair)
	y.play("end", `chmod u+w "$FERRUS_RUN_DIR/one.md"; echo forged > "$FERRUS_RUN_DIR/one.md"; touch "$FERRUS_ROOT/forged"; `+gated)
	f, err := y.rerun(old, "end", "")
	must(t, err)
	y.tick(f)
	y.eventually("the output is forged", func() bool { _, err := os.Lstat(y.path("forged")); return err == nil })
	y.tick(f)
	if text, err := os.ReadFile(f.Path("one.md")); err != nil || string(text) != "one was here\n" {
		t.Errorf("one.md is %q: %v\n%s", text, err, y.story(f))
	}
	y.put("go-end", "")
	y.ended(f, y.conduct(f))
}

// TestARerunIsRefusedWithItsReason, and then leaves nothing.
func TestARerunIsRefusedWithItsReason(t *testing.T) {
	t.Parallel()
	y := newYard(t)
	active := y.launch(pair)
	if _, err := y.rerun(active, "", ""); !errors.Is(err, ErrActive) {
		t.Errorf("one that is active: %v", err)
	}
	y.ended(active, y.conduct(active))
	old := y.again(active)
	var point *pipeline.PointError
	if _, err := y.rerun(old, "nobody", ""); !errors.As(err, &point) || point.From != "nobody" || point.Unfinished != nil {
		t.Errorf("from nobody: %v", err)
	}
	if _, err := y.rerun(old, "b", strings.Repeat("x", 2<<20)); err == nil || !strings.Contains(err.Error(), "topic") {
		t.Errorf("with a topic that is too long: %v", err)
	}
	var changed *ChangedError
	must(t, os.WriteFile(old.Path("two.md"), []byte("two was there\n"), 0o600))
	if _, err := y.rerun(old, "b", ""); !errors.As(err, &changed) || changed.File != "two.md" || changed.Gone {
		t.Errorf("with a changed output: %v", err)
	}
	must(t, os.Remove(old.Path("two.md")))
	if _, err := y.rerun(old, "b", ""); !errors.As(err, &changed) || changed.File != "two.md" || !changed.Gone {
		t.Errorf("without an output: %v", err)
	}
	must(t, os.Symlink(old.Path("one.md"), old.Path("two.md")))
	if _, err := y.rerun(old, "b", ""); !errors.As(err, &changed) || !changed.Gone {
		t.Errorf("with a link: %v", err)
	}
	if left, err := os.ReadDir(y.place().Tmp); err != nil || len(left) > 0 {
		t.Errorf("left are %v: %v", left, err)
	}
	f, err := y.rerun(old, "two", "") // what is gone is written again
	must(t, err)
	y.finish(f)
	y.times(map[string]int{"one": 1, "two": 2, "end": 2})
}

// rerunner takes a run up again, and dies before its nth operation on a disk.
func rerunner() int {
	var e errand
	if err := json.Unmarshal([]byte(os.Getenv("FERRUS_TEST_ERRAND")), &e); err != nil {
		return 2
	}
	old, err := Open(e.Dir)
	if err != nil {
		return 3
	}
	atomicfile.Intercept(func(string, string) error {
		if e.Count--; e.Count == 0 {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
		return nil
	})
	if _, err := At(old.Settings.Root, config.Default().Pipelines).Rerun(old, "b", "", old.Settings, time.Now()); err != nil {
		return 4
	}
	return 0
}

// TestARerunMayDieAtEveryPoint: what it leaves is a run that goes on, or nothing that counts; the next one is as good as
// the first, and removes what is left.
func TestARerunMayDieAtEveryPoint(t *testing.T) {
	t.Parallel()
	cases, bad, began := 0, 0, 0
	next := 2
	if kit.Full() {
		next = 1
	}
	for n := 1; ; n += next {
		y := newYard(t)
		old := y.over(pair)
		before := tree(t, old.Dir)
		err := y.process("rerunner", errand{Dir: old.Dir, Count: n}).Wait()
		if err == nil {
			break // it has fewer operations
		}
		if !strings.Contains(err.Error(), "killed") {
			t.Fatal(err)
		}
		cases++
		names, err := y.place().Names()
		must(t, err)
		for _, name := range names {
			began++
			f, err := y.place().Open(name)
			must(t, err)
			y.ended(f, y.conduct(f))
			if text, err := os.ReadFile(f.Path(finalFile)); err != nil || string(text) != "one was here\ntwo was here\n" {
				t.Errorf("the result is %q: %v", text, err)
			}
		}
		left, err := os.ReadDir(y.place().Tmp)
		must(t, err)
		for _, e := range left {
			at := time.Now().Add(-2 * abandoned)
			must(t, os.Chtimes(filepath.Join(y.place().Tmp, e.Name()), at, at))
		}
		f, err := y.rerun(old, "b", "")
		must(t, err)
		y.ended(f, y.conduct(f))
		y.times(map[string]int{"one": 1, "two": 1})
		left, err = os.ReadDir(y.place().Tmp)
		must(t, err)
		if after := tree(t, old.Dir); len(left) > 0 || !cmp.Equal(after, before) {
			bad++
			t.Errorf("killed before operation %d: left %v; archive: %s", n, left, cmp.Diff(before, after))
		}
	}
	if began == 0 || began == cases {
		t.Errorf("of %d deaths %d left a run", cases, began)
	}
	t.Logf("rig: cases=%d bad=%d; deaths of a rerun before an operation on the disk", cases, bad)
}

// TestOnlyWhatAKilledLaunchHasLeftIsSwept: not what is young, not a run, and not what has lost its journal.
func TestOnlyWhatAKilledLaunchHasLeftIsSwept(t *testing.T) {
	t.Parallel()
	y := newYard(t)
	run := y.launch(pair)
	for _, name := range []string{"p-000001", "p-000002", "p-000003/workers", "mine"} {
		must(t, os.MkdirAll(filepath.Join(y.place().Tmp, name), 0o700))
	}
	must(t, os.WriteFile(filepath.Join(y.place().Tmp, "p-000002", statusFile), []byte("{}"), 0o600))
	at := time.Now().Add(-2 * abandoned)
	for _, name := range []string{"p-000002", "p-000003", "mine", run.Name()} {
		must(t, os.Chtimes(filepath.Join(y.place().Tmp, name), at, at))
	}
	next := y.launch(pair)
	var names []string
	entries, err := os.ReadDir(y.place().Tmp)
	must(t, err)
	for _, e := range entries {
		names = append(names, e.Name())
	}
	want := []string{"mine", "p-000001", "p-000002", run.Name(), next.Name()}
	slices.Sort(want)
	slices.Sort(names)
	if !slices.Equal(names, want) {
		t.Errorf("there are %v, not %v", names, want)
	}
}
