package doctor

import (
	"bytes"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ferrus-go/ferrus/internal/config/trust"
	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/project/agreement"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/test/kit"
	"github.com/ferrus-go/ferrus/test/projecttest"
	"github.com/ferrus-go/ferrus/test/sharedtest"
)

// A ward is a project whose journal and hard-linked copy are laid out anew for each case.
type ward struct {
	*testing.T
	dir, here, there string
	journal          []byte   // valid, of four events
	kinds            []string // of copies
	texts            map[string][]byte
	files            map[string][]byte // below .ferrus, but for the journal
	trusted          *trust.Project
	record           trust.Journal // what is known of the journal when nothing has happened to it
}

func newWard(t *testing.T) *ward {
	t.Helper()
	dir := projecttest.New(t)
	if out, err := exec.Command("git", "init", "-q", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	trusted, err := trust.Open(dir)
	check(err)
	check(agreement.Agree(dir))
	e, err := engine.Open(project.At(dir, ""), engine.Options{Project: trusted, Environ: os.Environ()})
	check(err)
	person := e.Session(engine.Caller{Role: state.Human, Agent: "human", TTY: true})
	for i := range 2 {
		_, err = person.CreateTask(t.Context(), fmt.Sprintf("task %d", i), "")
		check(err)
		if i == 0 {
			_, err = person.Reset(t.Context(), "")
			check(err)
		}
	}
	_, err = person.Steer(t.Context(), "Be quick.")
	check(err)
	check(e.Close())
	w := &ward{T: t, dir: dir, here: filepath.Join(dir, ".ferrus", "journal.jsonl"), there: project.At(dir, "").Backup(), trusted: trusted}
	w.journal, err = os.ReadFile(w.here)
	check(err)
	record, _, err := trusted.Record()
	check(err)
	w.record = record.Journal
	shown, err := os.ReadFile(filepath.Join(dir, ".ferrus", "STATE.json"))
	check(err)
	lines := bytes.SplitAfter(w.journal, []byte("\n"))
	foreign := w.foreign()
	edited := bytes.Replace(w.journal, []byte(`"event":"reset"`), []byte(`"event":"reser"`), 1)
	w.texts = map[string][]byte{"valid": w.journal, "edited": edited, "torn": w.journal[:len(w.journal)-10], "emptied": {},
		"foreign": foreign, "shorter": bytes.Join(lines[:3], nil)}
	w.kinds = append(slices.Sorted(maps.Keys(w.texts)), "missing", "special")
	w.texts["half"] = w.journal[:100]
	w.texts["longer"] = bytes.Replace(w.journal, []byte(`"event":"reset"`), []byte(`"event":"set back"`), 1)
	// A valid journal that goes on differently from the third event.
	check(os.WriteFile(w.here, w.texts["shorter"], 0o600))
	check(os.Remove(filepath.Join(dir, ".ferrus", "STATE.json")))
	e, err = engine.Open(project.At(dir, ""), engine.Options{})
	check(err)
	_, err = e.Session(engine.Caller{Role: state.Human, Agent: "human", TTY: true}).Steer(t.Context(), "Be slow.")
	check(err)
	check(e.Close())
	w.texts["forked"], err = os.ReadFile(w.here)
	check(err)
	check(os.WriteFile(filepath.Join(dir, ".ferrus", "STATE.json"), shown, 0o600))
	check(os.Remove(w.here))
	w.files = w.all(filepath.Join(dir, ".ferrus"))
	return w
}

// foreign is the journal of another project.
func (w *ward) foreign() []byte {
	dir := projecttest.New(w.T)
	projecttest.Task(w.T, project.At(dir, ""), "another")
	text, err := os.ReadFile(filepath.Join(dir, ".ferrus", "journal.jsonl"))
	if err != nil {
		w.Fatal(err)
	}
	return text
}

// all are the files below a folder, by their paths.
func (w *ward) all(dir string) map[string][]byte {
	found := map[string][]byte{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if !d.Type().IsRegular() {
			found[path] = []byte(d.Type().String())
			return nil
		}
		found[path], err = os.ReadFile(path)
		return err
	})
	if err != nil {
		w.Fatal(err)
	}
	return found
}

// lay puts the two copies there.
func (w *ward) lay(here, there string) {
	w.Helper()
	put := func(path, kind string) error {
		switch text, ok := w.texts[kind]; {
		case ok:
			return os.WriteFile(path, text, 0o600)
		case kind == "special":
			return os.Symlink("/nowhere", path)
		}
		return nil
	}
	err := w.trusted.Update(func(r *trust.Record) error { r.Journal = w.record; return nil })
	if err == nil {
		err = os.RemoveAll(filepath.Join(w.dir, ".ferrus"))
	}
	if err == nil {
		err = os.RemoveAll(filepath.Dir(w.there))
	}
	for path, text := range w.files {
		if err == nil {
			err = os.MkdirAll(filepath.Dir(path), 0o700)
		}
		if err == nil {
			err = os.WriteFile(path, text, 0o600)
		}
	}
	for _, dir := range []string{"logs", "live", "archive"} {
		if err == nil {
			err = os.MkdirAll(filepath.Join(w.dir, ".ferrus", dir), 0o700)
		}
	}
	if err == nil {
		err = os.MkdirAll(filepath.Dir(w.there), 0o700)
	}
	if err == nil {
		err = put(w.here, here)
	}
	if err == nil && there == "same" {
		err = os.Link(w.here, w.there)
	} else if err == nil {
		err = put(w.there, there)
	}
	if err != nil {
		w.Fatal(err)
	}
}

// examined are the exams of the journal, as doctor, doctor --fix and doctor --adopt make them.
func (w *ward) examined(fix, adopt bool) (found []Finding) {
	w.Helper()
	p := w.context(adopt)
	defer p.Forget()
	for _, x := range Checks() {
		if !slices.Contains([]string{"folder", "origin", "journal", "views", "journal copy"}, x.Name) {
			continue
		}
		f := x.Look(p)
		if fix {
			f = p.treat(x, f)
		}
		if f.Check = x.Name; f.Level == Trouble {
			found = append(found, f)
		}
	}
	return found
}

// repaired checks that no trouble of the journal is left, and that the journal has all its lines.
func (w *ward) repaired(name string) {
	w.Helper()
	if left := w.examined(false, false); len(left) > 0 {
		w.Errorf("%s: still %+v", name, left)
	}
	text, err := os.ReadFile(w.here)
	if err != nil || !bytes.Equal(text, w.journal) || !sameFile(w.here, w.there) {
		w.Errorf("%s: the journal has %d of %d bytes, its copy is the same file: %v (%v)", name, len(text), len(w.journal), sameFile(w.here, w.there), err)
	}
}

// TestNoValidJournalIsLost lays every kind of journal beside every kind of copy.
func TestNoValidJournalIsLost(t *testing.T) {
	sharedtest.InFiles(t, "it has copies of journal.jsonl")
	w := newWard(t)
	for _, headKnown := range []bool{true, false} {
		if !headKnown { // only that the first line was written here
			w.record.Off, w.record.H = 0, ""
		}
		for _, here := range w.kinds {
			for _, there := range w.kinds {
				pair := []string{here, there}
				some := headKnown && (slices.Contains(pair, "valid") || here == "edited" && there != "special") ||
					slices.Contains(pair, "valid") && slices.Contains(pair, "shorter")
				if !some && !kit.Full() {
					continue
				}
				name := fmt.Sprintf("%s beside %s, head known %v", here, there, headKnown)
				w.lay(here, there)
				before := w.all(w.dir)

				found := w.examined(false, false)
				if healthy := here == "valid" && there == "valid"; len(found) == 0 && !healthy {
					t.Errorf("%s: doctor finds nothing", name)
				}
				if after := w.all(w.dir); !maps.EqualFunc(before, after, bytes.Equal) {
					t.Errorf("%s: doctor has changed something", name)
				}

				if !slices.Contains(pair, "valid") {
					w.lay(here, there)
					w.fixed(name, here, there)
					continue
				}
				// A command, and init.
				if e, err := engine.Open(project.At(w.dir, ""), engine.Options{Project: w.trusted}); err == nil {
					_, _ = e.View()
					e.Close()
				}
				w.kept(name+", a command", w.journal)
				w.lay(here, there)
				_, _ = project.Revive(project.At(w.dir, ""), w.trusted)
				w.kept(name+", init", w.journal)

				w.lay(here, there)
				w.fixed(name, here, there)
			}
		}
	}
}

// fixed has doctor --fix do its work, and doctor --adopt where it names that.
func (w *ward) fixed(name, here, there string) {
	w.Helper()
	pair := []string{here, there}
	prefix := slices.Contains(pair, "shorter") || slices.Contains(pair, "torn")
	damaged := slices.Contains(pair, "edited")
	left := w.examined(true, false)
	w.kept(name, w.texts[here])
	w.kept(name, w.texts[there])
	switch {
	case slices.Contains(pair, "valid"), damaged && prefix:
		w.repaired(name)
	case damaged: // nothing is moved, and there is a way out
		if here != "foreign" && !bytes.Equal(w.content(w.here), w.texts[here]) || !bytes.Equal(w.content(w.there), w.texts[there]) {
			w.Errorf("%s: a damaged journal was moved", name)
		}
		if len(left) == 0 || !strings.Contains(left[0].Remedy.String(), "&& ferrus init") {
			w.Errorf("%s: no way out: %+v", name, left)
		}
	case prefix:
		if len(left) > 0 && !strings.Contains(left[0].Remedy.String(), "ferrus doctor --adopt") {
			w.Errorf("%s: no way out: %+v", name, left)
		}
		if left := w.examined(true, true); len(left) > 0 {
			w.Errorf("%s: adopted, and still %+v", name, left)
		}
		if text := w.content(w.here); !bytes.Equal(text, w.texts["shorter"]) {
			w.Errorf("%s: adopted %d bytes of %d", name, len(text), len(w.texts["shorter"]))
		}
	}
}

func (w *ward) content(path string) []byte {
	text, _ := os.ReadFile(path) // nil for one that is missing
	return text
}

// kept is that a text is still somewhere, whole.
func (w *ward) kept(name string, want []byte) {
	w.Helper()
	for _, dir := range []string{filepath.Join(w.dir, ".ferrus"), filepath.Dir(w.there)} {
		for _, text := range w.all(dir) {
			if bytes.HasPrefix(text, want) {
				return
			}
		}
	}
	w.Errorf("%s: a journal is lost", name)
}
