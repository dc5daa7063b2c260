//go:build unix

package e2e

import (
	"context"
	"fmt"
	"strings"

	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/store"
	"github.com/ferrus-go/ferrus/internal/store/file"
)

// judge says what is wrong with the machine after the act, "" when nothing: it is old or new, and whole; what was done
// stands, what was refused does not; the process could go on, where its disk was not left broken, and so can the next.
func (s *scene) judge(a *account, broken bool) string {
	st, err := file.Open(s.path(".ferrus"), file.Options{})
	if err != nil {
		return err.Error()
	}
	defer st.Close()
	snap, err := st.View()
	if err != nil {
		return err.Error()
	}
	var acts, follows, lines int
	for l, err := range st.History() {
		if err != nil {
			return err.Error()
		}
		if lines++; lines <= s.lines {
			continue
		}
		f, says := feats[s.name], func(text string) bool { return strings.Contains(fmt.Sprint(l.Note, l.Docs), text) }
		switch {
		case says(following):
			follows++
		case l.Event == f.event && (says(token) || f.event == state.Claim):
			acts++
		case l.Event == state.Claim && f.takes:
		default:
			return fmt.Sprintf("line %d is %s: %s", l.Seq, l.Event, l.Note)
		}
	}
	wants := feats[s.name].event != ""
	switch {
	case acts > 1 || follows > 1:
		return fmt.Sprintf("it stands %d times in the journal, what follows %d times", acts, follows)
	case a == nil && follows > 0:
		return "what follows was done by a process that was killed before"
	case a == nil:
	case a.Next != "" && !broken:
		return fmt.Sprintf("the process could not go on after %q: %s", a.Said, a.Next)
	case a.Next == "" && follows != 1:
		return "what follows was acknowledged and is not there"
	case a.Code == "" && wants && acts == 0:
		return "it was acknowledged and is not there"
	case a.Code != "" && a.Code != refusal.OutcomeUnknown && acts > 0:
		return fmt.Sprintf("it was refused and is there: %s %s", a.Code, a.Said)
	}
	for _, doc := range state.Docs() {
		text, err := store.Text(st, snap, doc)
		if got := s.text(".ferrus/" + string(doc)); err != nil || got != text {
			return fmt.Sprintf("%s is %q, the journal has %q (%v)", doc, got, text, err)
		}
	}
	e, err := engine.Open(project.At(s.dir, ""), engine.Options{})
	if err != nil {
		return err.Error()
	}
	defer e.Close()
	if err := follow(context.Background(), e); err != nil {
		return "the next process: " + err.Error()
	}
	return ""
}
