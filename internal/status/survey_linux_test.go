package status_test

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/ferrus-go/ferrus/internal/engine/branch"
	"github.com/ferrus-go/ferrus/internal/engine/enginetest"
	"github.com/ferrus-go/ferrus/internal/status"
)

// TestAnOverviewReadsNoWholeJournal counts the bytes that an overview and a comparison of branches read, while the journals grow: of the
// present task, of an attempt and of an archived task.
func TestAnOverviewReadsNoWholeJournal(t *testing.T) { // alone: other tests of this process would read, too
	enginetest.InFiles(t, "a database is asked")
	p := enginetest.Repository(t, enginetest.Gate("true"))
	_, ex := p.Begun()
	h := p.Human()
	enginetest.Branched(t, h, branch.Fork{Names: []string{"try"}})
	try := p.On("try")
	other := try.Executor("codex")
	enginetest.Claim(t, other)
	enginetest.Check(t, other, "passed")
	read := func() (overview, compared int64) {
		t.Helper()
		start := bytesRead(t)
		v, err := status.ReadOverview(t.Context(), p.Dir, status.Options{Newest: 5, Sizes: true, Open: looking})
		if err != nil {
			t.Fatal(err)
		}
		overview = bytesRead(t) - start
		for _, m := range v.Machines {
			if m.Error != "" || m.TaskID == "" || m.Size == nil {
				t.Errorf("%+v", m)
			}
		}
		for _, a := range v.Archived {
			if a.Error != "" {
				t.Errorf("%+v", a)
			}
		}
		start = bytesRead(t)
		a := branch.Attempts(t.Context(), h.Engine(), []string{"try"})[0]
		compared = bytesRead(t) - start
		if a.Error != "" || !strings.Contains(a.Why, "passed") || a.Took <= 0 {
			t.Errorf("%+v", a)
		}
		return overview, compared
	}
	grow := func(lines int) {
		for i := range lines {
			note := fmt.Sprintln(i) + strings.Repeat("x", 4000)
			enginetest.Must(ex.Progress(t.Context(), note))(t)
			enginetest.Must(other.Progress(t.Context(), note))(t)
		}
	}
	const lines = 300
	grow(20)
	read()
	overview, compared := read()
	grow(lines)
	enginetest.Must(h.Reset(t.Context(), ""))(t)
	enginetest.Must(h.CreateTask(t.Context(), "Do another thing.", ""))(t)
	for _, name := range []string{".ferrus/branches/try/journal.jsonl", ".ferrus/journal.jsonl"} {
		if len(p.Read(name)) < lines*4000 {
			t.Fatalf("%s has %d bytes", name, len(p.Read(name)))
		}
	}
	longer, again := read()
	if limit := overview + lines*4000/4; longer > limit {
		t.Errorf("an overview reads %d bytes of short journals and %d of long ones", overview, longer)
	}
	if limit := compared + lines*4000/4; again > limit {
		t.Errorf("a comparison reads %d bytes of a short journal and %d of a long one", compared, again)
	}
}

// bytesRead returns how many bytes this process has read so far.
func bytesRead(t *testing.T) (n int64) {
	t.Helper()
	text, err := os.ReadFile("/proc/self/io")
	if err != nil {
		t.Skip(err)
	}
	if _, err := fmt.Fscanf(bytes.NewReader(text), "rchar: %d", &n); err != nil {
		t.Fatal(err)
	}
	return n
}
