package status_test

import (
	"runtime"
	"strings"
	"testing"

	"github.com/ferrus-go/ferrus/internal/engine/checkrun"
	"github.com/ferrus-go/ferrus/internal/engine/enginetest"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/status"
)

// TestAQuestionAfterFailedChecksHasTheirOutput: its last ten lines, without what a terminal obeys; a question that ferrus asks about
// another run of commands has the output of that one, and without a failed check there is none.
func TestAQuestionAfterFailedChecksHasTheirOutput(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a shell prints")
	}
	m := enginetest.Repository(t, enginetest.Gate(`seq 30 41; printf 'bad \033]0;x\007end\n'; exit 3`))
	_, ex := m.Begun()
	h := m.Human()
	read := func() *status.Report {
		t.Helper()
		r, err := status.Read(ex.Engine())
		if err != nil {
			t.Fatal(err)
		}
		if r.Question != nil && r.Needs()[0].Output != r.Output {
			t.Errorf("the need has %q, the report %q", r.Needs()[0].Output, r.Output)
		}
		return r
	}
	ask := func() {
		t.Helper()
		enginetest.Must(ex.AskHuman(t.Context(), "What now?", nil))(t)
	}
	answer := func() {
		t.Helper()
		enginetest.Must(h.Answer(t.Context(), "", "go on"))(t)
	}
	ask()
	if r := read(); r.Output != "" {
		t.Errorf("before any check: %q", r.Output)
	}
	answer()
	enginetest.Claim(t, ex)
	enginetest.Check(t, ex, state.CheckRed)
	if r := read(); r.Output != "" {
		t.Errorf("without a question: %q", r.Output)
	}
	ask()
	got := read().Output
	if lines := strings.Split(got, "\n"); len(lines) != 11 || !strings.Contains(lines[0], "exit status 3") || lines[1] != "33" || !strings.HasPrefix(lines[10], "bad ") {
		t.Errorf("after a failed check: %q", got)
	}
	if strings.ContainsAny(got, "\x1b\x07") {
		t.Errorf("a terminal obeys %q", got)
	}
	answer()
	enginetest.Must(ex.Engine().AskAbout(t.Context(), enginetest.View(t, ex), checkrun.Question{Text: "Which sandbox?", Output: "no socket"}))(t)
	if r := read(); r.Output != "no socket" || r.Question.Text != "Which sandbox?" {
		t.Errorf("about another run: %q", r.Output)
	}
}
