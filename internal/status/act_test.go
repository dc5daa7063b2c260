package status

import (
	"slices"
	"testing"

	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
)

var rejectAct = Act{Name: "reject", Args: []string{"reject", "--submission", "s3", "--message={text}"}, Fields: []Field{{Name: "text", Label: "Notes", Kind: TextField, Required: true}}}

var answerAct = Act{Name: "answer", Args: []string{"answer", "q1", "--", "{answer}"}, Fields: []Field{{Name: "answer", Label: "Answer", Kind: ChoiceField, Required: true}}}

func TestFill(t *testing.T) {
	note := Act{Name: "approve", Args: []string{"approve", "--message={note}"}, Fields: []Field{{Name: "note", Label: "Note", Kind: LineField}}}
	back := Act{Name: "rollback", Args: []string{"rollback", "{seq}"}, Fields: []Field{{Name: "seq", Label: "Entry", Kind: NumberField, Required: true}}}
	for _, c := range []struct {
		act    Act
		values map[string]string
		want   []string // nil when it is refused
	}{
		{rejectAct, map[string]string{"text": "-x\nand {note}"}, []string{"reject", "--submission", "s3", "--message=-x\nand {note}"}},
		{rejectAct, map[string]string{"text": " \n"}, nil},
		{answerAct, map[string]string{"answer": "--no"}, []string{"answer", "q1", "--", "--no"}},
		{note, nil, []string{"approve"}},
		{note, map[string]string{"note": "well"}, []string{"approve", "--message=well"}},
		{note, map[string]string{"note": "a\nb"}, nil},
		{back, map[string]string{"seq": "12"}, []string{"rollback", "12"}},
		{back, map[string]string{"seq": "-1"}, nil},
		{back, map[string]string{"seq": "--files"}, nil},
	} {
		got, err := c.act.Fill(c.values)
		if c.want == nil {
			if refusal.CodeOf(err) != refusal.InvalidInput {
				t.Errorf("%s %q: %v", c.act.Name, c.values, err)
			}
		} else if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s %q: %q, %v, want %q", c.act.Name, c.values, got, err, c.want)
		}
	}
}

func TestCommand(t *testing.T) {
	if got, want := answerAct.Command(), `ferrus answer q1 "..."`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestFind: what was shown is found by its arguments, and what is bound to something else is not it.
func TestFind(t *testing.T) {
	later := rejectAct
	later.Args = []string{"reject", "--submission", "s4", "--message={text}"}
	if got, err := FindAct([]Act{answerAct, rejectAct}, rejectAct); err != nil || !got.Same(rejectAct) {
		t.Errorf("%v, %v", got, err)
	}
	continued := rejectAct
	continued.Args = []string{"reject", Continues, "--submission", "s3", "--message={text}"}
	if got, err := FindAct([]Act{answerAct, continued}, rejectAct); err != nil || !slices.Equal(got.Args, continued.Args) {
		t.Errorf("a run has started since it was shown: %v, %v", got, err)
	}
	if _, err := FindAct([]Act{answerAct, later}, rejectAct); refusal.CodeOf(err) != refusal.WrongState {
		t.Errorf("%v", err)
	}
}

// TestUndo: a decision is undone while nobody but the person has gone on with the task since, and what is no decision is not.
func TestUndo(t *testing.T) {
	entries := func(roles ...state.Role) *Detail {
		d := &Detail{Report: &Report{Seq: uint64(4 + len(roles))}, Acts: []Act{rejectAct, {Name: "rollback"}}}
		for i, role := range roles {
			d.Timeline = append(d.Timeline, Entry{Seq: uint64(5 + i), role: role})
		}
		return d
	}
	own := entries(state.Executor, state.Human, state.Human)
	taken := entries(state.Human, state.Executor)
	gone := entries(state.Human)
	gone.Acts = nil
	for name, c := range map[string]struct {
		d      *Detail
		done   string
		before uint64
		want   bool
	}{
		"a decision":                  {own, "approve", 5, true},
		"no decision":                 {own, "merge", 5, false},
		"nothing was written":         {own, "approve", 7, false},
		"not all of it is known":      {entries(state.Human), "approve", 3, false},
		"an agent was there before":   {own, "approve", 4, false},
		"an agent has gone on":        {taken, "reject", 4, false},
		"there is no way back":        {gone, "approve", 4, false},
		"there is nothing in the log": {entries(), "approve", 4, false},
	} {
		if act, ok := c.d.Undo(c.done, c.before); ok != c.want || ok && act.Name != "rollback" {
			t.Errorf("%s: %v, %v", name, act.Name, ok)
		}
	}
}
