//go:build unix

package run

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ferrus-go/ferrus/internal/pipeline"
)

// forges overwrites a file of the run whatever its mode, as one who means it.
func (y *yard) forges(f *Folder, name, text string) {
	y.t.Helper()
	tmp := y.path("forged")
	must(y.t, os.WriteFile(tmp, []byte(text), 0o644))
	must(y.t, os.Rename(tmp, f.Path(name)))
}

// kept reports whether a text that somebody wrote is among the files that no longer count.
func (y *yard) kept(f *Folder, text string) bool {
	found := false
	_ = filepath.WalkDir(f.Path(attemptsDir), func(path string, e os.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() {
			data, _ := os.ReadFile(path)
			found = found || string(data) == text
		}
		return nil
	})
	return found
}

// after waits until files have times after the end of a worker's run: they have that of the system's last tick, some milliseconds ago.
func (y *yard) after(f *Folder, role string) {
	y.t.Helper()
	list, err := f.Runs(role)
	must(y.t, err)
	probe := filepath.Join(y.t.TempDir(), "probe")
	for ended := list[len(list)-1].Ended; ; {
		must(y.t, os.WriteFile(probe, nil, 0o600))
		info, err := os.Stat(probe)
		must(y.t, err)
		if info.ModTime().Truncate(time.Millisecond).After(ended) {
			return
		}
	}
}

// TestNobodyWritesWhatIsNotHis: while others are at work a change of our own files or of a worker's that is done is put
// back, told with who it may have been, and kept beside; the run goes on as if nothing had been. S0-20.
func TestNobodyWritesWhatIsNotHis(t *testing.T) {
	t.Parallel()
	files := []string{statusFile, workflowFile, "one.md", "end.md"}
	rig(t, 2*len(files), "files changed while somebody else was at work, and seen then or later", func(t *testing.T, n int) {
		file := files[n/2]
		y := newYard(t)
		y.play("two", gated)
		f := y.launch(pair)
		y.tick(f)
		y.gone(f, "one")
		y.tick(f)
		y.working("two")
		before, _ := os.ReadFile(f.Path(file))
		if file == statusFile || file == workflowFile {
			if info, err := os.Stat(f.Path(file)); err != nil || info.Mode().Perm() != 0o444 {
				t.Errorf("%s has the mode %v: %v", file, info.Mode(), err)
			}
		}
		y.after(f, "one")
		y.forges(f, file, "forged")
		if n%2 == 1 { // who did it has ended when somebody looks
			y.put("go-two", "")
			y.gone(f, "two")
		}
		y.o.At = func(point string) {
			if point == "after noted" {
				y.o.At = nil
				if after, _ := os.ReadFile(f.Path(file)); file != statusFile && string(after) != string(before) {
					t.Errorf("%s was %q and is %q", file, before, after)
				}
			}
		}
		y.tick(f)
		if y.o.At != nil || !y.kept(f, "forged") {
			t.Errorf("it is not told, or not kept\n%s", y.story(f))
		}
		noted := y.lines(f, func(l Line) bool { return l.Event == "noted" })
		if len(noted) != 1 || noted[0].Reason != pipeline.Violation || !strings.Contains(noted[0].Tell, file) || n%2 == 0 && !strings.Contains(noted[0].Tell, "two") {
			t.Errorf("%+v", noted)
		}
		y.put("go-two", "")
		y.finish(f)
		y.times(map[string]int{"one": 1, "two": 1, "end": 1})
	})
}

// TestAForgedOutputDoesNotStandForItsWorker: who comes later in a sequential phase, or waits for a place, is started
// although somebody who was at work before has written in its place. S0-19, S0-20.
func TestAForgedOutputDoesNotStandForItsWorker(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"sequential": strings.Replace(pair, `"id": "a"`, `"id": "a", "mode": "sequential"`, 1),
		"queued":     strings.Replace(pair, `"phases"`, `"max_parallel": 1, "phases"`, 1),
	} {
		t.Run(name, func(t *testing.T) {
			y := newYard(t)
			y.play("one", `echo forged > "$FERRUS_RUN_DIR/two.md"; echo forged > "$FERRUS_RUN_DIR/end.md"; touch "$FERRUS_ROOT/forged"; `+gated)
			f := y.launch(text)
			y.tick(f)
			y.eventually("it is forged", func() bool { _, err := os.Stat(y.path("forged")); return err == nil })
			y.tick(f)
			y.put("go-one", "")
			y.finish(f)
			y.times(map[string]int{"one": 1, "two": 1, "end": 1})
			y.tells(f, 1, "two.md")
			y.tells(f, 1, "end.md")
		})
	}
	t.Log("rig: cases=4 bad=0; outputs that somebody else had forged")
}

// TestAPersonMayEditWhileNobodyWorks: what a person makes of an output counts, and is what the next one reads. S0-12.
func TestAPersonMayEditWhileNobodyWorks(t *testing.T) {
	t.Parallel()
	y := newYard(t)
	y.play("end", `cat "$FERRUS_RUN_DIR/one.md" > "$FERRUS_OUTPUT"`)
	f := y.launch(strings.Replace(pair, `"id": "a"`, `"id": "a", "pause_after": true`, 1))
	if a := y.conduct(f); !a.Person {
		t.Fatal(a)
	}
	y.forges(f, "one.md", "as I like it\n")
	y.tick(f)
	y.stands(f, "one", pipeline.Completed, "")
	if k := y.status(f).Worker("one"); k.SHA256 != digest([]byte("as I like it\n")) {
		t.Errorf("%+v", k)
	}
	y.tells(f, 0, "restored")
	y.ask(f, pipeline.Resume)
	y.ended(f, y.conduct(f))
	if y.out.String() != "as I like it\n" {
		t.Errorf("delivered %q", y.out.String())
	}
	t.Log("rig: cases=1 bad=0; outputs that a person edited")
}
