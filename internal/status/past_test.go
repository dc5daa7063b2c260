package status_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ferrus-go/ferrus/internal/engine/branch"
	"github.com/ferrus-go/ferrus/internal/engine/enginetest"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/status"
	"github.com/ferrus-go/ferrus/test/sharedtest"
)

// TestWhatIsOverIsFound: by every text that a person may remember, whoever wrote it and whether the branch is still there; an index that is
// gone, is damaged or is old, or may not be written, changes nothing.
func TestWhatIsOverIsFound(t *testing.T) {
	sharedtest.InFiles(t, "archives are files of each computer")
	m := enginetest.Repository(t, enginetest.Gate("true"))
	ctx := t.Context()
	done := func(m *enginetest.Machine, task, file string) (id string) {
		t.Helper()
		enginetest.Must(m.Human().CreateTask(ctx, task, ""))(t)
		ex := m.Executor("codex")
		enginetest.Claim(t, ex)
		enginetest.Must(ex.AskHuman(ctx, "Which colour for "+file+"?", nil))(t)
		enginetest.Must(m.Human().Answer(ctx, "", "Magenta."))(t)
		enginetest.Claim(t, ex)
		m.Write(file, task+"\n")
		enginetest.Submitted(t, ex)
		enginetest.Must(m.Human().Approve(ctx, "", ""))(t)
		return enginetest.View(t, ex).Task.TaskID
	}
	receipt := done(m, "Print a receipt\n\nWith a total.", "print/receipt.go")
	enginetest.Must(m.Human().CreateTask(ctx, "Halve the time", ""))(t)
	halve := enginetest.View(t, m.Human()).Task.TaskID
	enginetest.Must(m.Human().Reset(ctx, "no time for it"))(t)
	enginetest.Branched(t, m.Human(), branch.Fork{Names: []string{"side"}, Own: true})
	tax := done(m.On("side"), "Compute the tax", "tax.go")

	find := func(s status.Search, keep bool) string {
		t.Helper()
		list, err := status.ReadHistory(m.Dir, s, keep)
		if err != nil {
			t.Fatal(err)
		}
		var ids []string
		for _, p := range list {
			ids = append(ids, p.TaskID)
		}
		return strings.Join(ids, " ")
	}
	words := func(text string) status.Search { return status.Search{Words: strings.Fields(text)} }
	index := filepath.Join(m.Dir, ".ferrus", "history.index")
	searches := func() {
		t.Helper()
		for name, c := range map[string]struct {
			s    status.Search
			want string
		}{
			"all":                    {status.Search{}, tax + " " + halve + " " + receipt},
			"a title":                {words("RECEIPT print"), receipt},
			"a text":                 {words("total"), receipt},
			"a question":             {words("colour tax.go"), tax},
			"an answer":              {words("magenta"), tax + " " + receipt},
			"a path":                 {words("print/receipt.go"), receipt},
			"a branch":               {words("side"), tax},
			"an id":                  {words(halve), halve},
			"two words of two tasks": {words("receipt tax.go"), ""},
			"how it ended":           {status.Search{State: "abandoned"}, halve},
			"who did it":             {status.Search{Agent: "Codex"}, tax + " " + receipt},
			"since":                  {status.Search{Since: time.Now().Add(time.Hour)}, ""},
		} {
			if got := find(c.s, true); got != c.want {
				t.Errorf("%s: %q, want %q", name, got, c.want)
			}
		}
	}

	if find(status.Search{}, false); exists(index) {
		t.Error("who may not write has made an index")
	}
	searches()
	text, err := os.ReadFile(index)
	if err != nil || strings.Count(string(text), "\n") != 3 {
		t.Fatalf("%v\n%s", err, text)
	}
	searches()
	if err := os.WriteFile(index, []byte("{}\tx\nno line\n"+strings.ReplaceAll(string(text), `"sign":"`, `"sign":"9`)), 0o600); err != nil {
		t.Fatal(err)
	}
	searches()
	if now, _ := os.ReadFile(index); string(now) != string(text) {
		t.Errorf("an old index stays:\n%s", now)
	}
	if err := os.Remove(index); err != nil {
		t.Fatal(err)
	}
	searches()

	past, err := status.ReadPast(m.Dir, receipt)
	if err != nil || past.Title != "Print a receipt" || past.Outcome() != "approved" || len(past.Timeline) < 8 || len(past.Documents) != 4 {
		t.Errorf("%v\n%+v", err, past)
	}
	enginetest.Must(m.On("side").Human().Reopen(ctx, "The tax is wrong."))(t)
	if got := find(status.Search{}, true); got != halve+" "+receipt {
		t.Errorf("with a task that was reopened: %q", got)
	}
	if _, err := status.ReadPast(m.Dir, tax); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("it was reopened: %v", err)
	}
	enginetest.Must(m.On("side").Human().Reset(ctx, ""))(t)
	enginetest.Must(branch.Remove(ctx, m.Human(), "side", true))(t)
	if got, err := status.ReadHistory(m.Dir, words("tax"), true); err != nil || len(got) != 1 || !got[0].Removed || got[0].Branch != "side" || got[0].State == state.Complete {
		t.Errorf("of a branch that was removed: %+v, %v", got, err)
	}
	journal := filepath.Join(m.Dir, ".ferrus", "archive", halve, "journal.jsonl")
	if err := os.WriteFile(journal, []byte("no line\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := status.ReadHistory(m.Dir, words(halve), true); err != nil || len(got) != 1 || got[0].Error == "" {
		t.Errorf("of a damaged archive: %+v, %v", got, err)
	}
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
