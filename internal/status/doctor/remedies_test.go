package doctor

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ferrus-go/ferrus/internal/config/trust"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/test/sharedtest"
)

// A harm is a way to harm a project, the exam that finds it, and the command that the finding names.
type harm struct {
	exam, name string
	here       string // what kind of journal there is; valid when empty
	there      string // what kind of copy; the same file when empty
	do         func(w *ward) error
	remedy     string
}

const fixing, adopting = "ferrus doctor --fix", "ferrus doctor --adopt"

var harms = []harm{
	{exam: "folder", name: "gone", do: func(w *ward) error { return os.RemoveAll(w.path()) }, remedy: fixing},
	{exam: "folder", name: "open to others", do: func(w *ward) error { return os.Chmod(w.path(), 0o755) }, remedy: fixing},
	{exam: "links", do: func(w *ward) error {
		return errors.Join(os.RemoveAll(w.path("logs")), os.Symlink(w.Name(), w.path("logs")))
	}, remedy: fixing},
	{exam: "origin", name: "another project's", here: "foreign", there: "valid", remedy: fixing},
	{exam: "origin", name: "another project's, without a copy", here: "foreign", there: "missing", remedy: fixing},
	{exam: "origin", name: "older", here: "shorter", there: "valid", remedy: fixing},
	{exam: "origin", name: "older, without a newer copy", here: "shorter", remedy: adopting},
	{exam: "origin", name: "the end was cut off", here: "torn", remedy: adopting},
	{exam: "upstream", do: func(w *ward) error { return os.WriteFile(w.path("STATE.json"), []byte(`{"schema_version":1}`), 0o600) }, remedy: fixing},
	{exam: "journal", name: "damaged, with a copy", here: "edited", there: "valid", remedy: fixing},
	{exam: "journal", name: "damaged", here: "edited", remedy: "&& ferrus init"},
	{exam: "journal", name: "both damaged", here: "edited", there: "edited", remedy: "&& ferrus init"},
	{exam: "journal", name: "both valid, and they differ", here: "valid", there: "forked", do: func(w *ward) error {
		return w.trusted.Update(func(r *trust.Record) error { r.Journal.Off, r.Journal.H = 0, ""; return nil })
	}, remedy: adopting},
	{exam: "journal", name: "missing", here: "missing", there: "valid", remedy: fixing},
	{exam: "journal", name: "missing, and the copy is damaged", here: "missing", there: "edited", remedy: "&& ferrus init"},
	{exam: "journal", name: "missing, and the copy is older", here: "missing", there: "shorter", remedy: adopting},
	{exam: "journal", name: "emptied", here: "emptied", remedy: adopting},
	{exam: "journal", name: "nothing is left but half a line", here: "half", remedy: "&& ferrus init"},
	{exam: "journal", name: "a line was made longer", here: "longer", remedy: "&& ferrus init"},
	{exam: "journal", name: "a line was made longer, with a copy", here: "longer", there: "valid", remedy: fixing},
	{exam: "journal", name: "special", here: "special", there: "valid", remedy: fixing},
	{exam: "journal", name: "a crash has left something", do: func(w *ward) error {
		f, err := os.OpenFile(w.here, os.O_APPEND|os.O_WRONLY, 0)
		if err == nil {
			_, err = f.WriteString(`{"v":2`)
			err = errors.Join(err, f.Close())
		}
		return err
	}, remedy: fixing},
	{exam: "views", do: func(w *ward) error { return os.Remove(w.path("STATE.json")) }, remedy: fixing},
	{exam: "journal copy", name: "missing", there: "missing", remedy: fixing},
	{exam: "journal copy", name: "another file", there: "valid", remedy: fixing},
	{exam: "journal copy", name: "damaged", there: "edited", remedy: fixing},
	{exam: "branches", name: "gone", do: func(w *ward) error { return os.RemoveAll(w.path("branches")) }, remedy: fixing},
	{exam: "branches", name: "no copy", do: func(w *ward) error { return os.Remove(w.branch().Backup()) }, remedy: fixing},
	{exam: "archives", do: func(w *ward) error {
		return errors.Join(os.RemoveAll(w.path("archive")), os.Mkdir(w.path("archive"), 0o700))
	}, remedy: fixing},
	{exam: "leftovers", do: func(w *ward) error {
		lock, old := w.path("live", "11111111-2222-4333-8444-555555555555.lock"), time.Now().Add(-2*staleAfter)
		return errors.Join(os.WriteFile(lock, nil, 0o600), os.Chtimes(lock, old, old))
	}, remedy: fixing},
	{exam: "git locks", do: func(w *ward) error {
		lock, old := filepath.Join(w.dir, ".git", "refs", "ferrus", "x.lock"), time.Now().Add(-24*time.Hour)
		return errors.Join(os.MkdirAll(filepath.Dir(lock), 0o700), os.WriteFile(lock, nil, 0o600), os.Chtimes(lock, old, old))
	}, remedy: "ferrus doctor --fix"},
	{exam: "modes", name: "shut", do: func(w *ward) error {
		return errors.Join(os.Chmod(w.path("archive"), 0), os.Chmod(w.path("journal.jsonl"), 0o400), os.Chmod(w.path(), 0))
	}, remedy: fixing},
	{exam: "ignored", do: func(w *ward) error { return os.Remove(filepath.Join(w.dir, ".gitignore")) }, remedy: fixing},
}

// unharmed are the exams that fix something and have no harm in the table, with the test that has one.
var unharmed = map[string]string{"moved files": "doctor.txtar"}

func (w *ward) path(elem ...string) string {
	return filepath.Join(append([]string{w.dir, ".ferrus"}, elem...)...)
}

func (w *ward) branch() project.Place { return project.At(w.dir, "b1") }

// TestNoRemedyLeadsInACircle does what each finding says, and finds something else or nothing.
func TestNoRemedyLeadsInACircle(t *testing.T) {
	sharedtest.InFiles(t, "it damages files of the store")
	w := newWard(t)
	covered := map[string]bool{}
	for _, h := range harms {
		covered[h.exam] = true
		name := strings.TrimSpace(h.exam + " " + h.name)
		w.ready(h)
		if h.do != nil {
			if err := h.do(w); err != nil {
				t.Fatal(name, err)
			}
		}
		before := w.exam(h.exam)
		if before.Level != Trouble && before.Level != Note || !strings.Contains(before.Remedy.String(), h.remedy) {
			t.Errorf("%s: %+v does not name %s", name, before, h.remedy)
			continue
		}
		w.follow(h.remedy, before.Remedy.String())
		if after := w.exam(h.exam); after.Level == Trouble || after.Text == before.Text {
			t.Errorf("%s: after %q still %+v", name, before.Remedy, after)
		}
	}
	for _, x := range Checks() {
		if x.Fix != nil && !covered[x.Name] && unharmed[x.Name] == "" {
			t.Errorf("nothing harms what the check of %s fixes", x.Name)
		}
	}
}

// ready lays out the project, with a branch, as it is before it is harmed.
func (w *ward) ready(h harm) {
	w.Helper()
	here, there := h.here, h.there
	if here == "" {
		here = "valid"
	}
	if there == "" {
		there = "same"
	}
	w.lay(here, there)
	link := w.branch().Backup()
	err := errors.Join(os.RemoveAll(filepath.Dir(link)), os.RemoveAll(filepath.Join(w.dir, ".git", "refs", "ferrus")),
		os.MkdirAll(w.branch().Work, 0o700), os.WriteFile(filepath.Join(w.dir, ".gitignore"), []byte("/.ferrus/\n"), 0o600))
	if err == nil {
		_, err = project.Revive(w.branch(), nil)
	}
	if err != nil {
		w.Fatal(err)
	}
}

func (w *ward) context(adopt bool) *Context {
	p := New(w.Context(), project.At(w.dir, ""), host, adopt)
	p.backup = w.there
	return p
}

func (w *ward) exam(name string) (f Finding) {
	p := w.context(false)
	defer p.Forget()
	for _, x := range Checks() {
		if x.Name == name {
			f = x.Look(p)
		}
	}
	return f
}

// follow does what a remedy says: a command of the doctor, or what stands at the end of its words.
func (w *ward) follow(command, words string) {
	w.Helper()
	if command == fixing || command == adopting {
		p := w.context(command == adopting)
		defer p.Forget()
		for _, x := range Checks() {
			if x.Fix != nil {
				p.treat(x, x.Look(p))
			}
		}
		return
	}
	shell, _ := strings.CutSuffix(words[strings.Index(words, "mv "):], " "+command)
	if out, err := exec.Command("sh", "-c", shell).CombinedOutput(); err != nil {
		w.Errorf("%s: %v\n%s", shell, err, out)
	}
	if _, _, err := host.SetUp(w.Context(), w.dir); err != nil {
		w.Errorf("ferrus init: %v", err)
	}
	if err := os.RemoveAll(w.dir + ".ferrus-corrupt"); err != nil {
		w.Fatal(err)
	}
}
