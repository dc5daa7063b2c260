//go:build unix

package tools

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ferrus-go/ferrus/internal/engine/handover"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/test/kit"
)

// A load is how much there is to tell a successor.
type load struct {
	task, review, output           int // bytes
	decisions, consultations, note int // bytes of each; 0 for none
	how                            int // many decisions, consultations and notes
	files                          int // changed
	alphabet                       string
	unattended                     bool // the person has no terminal
}

const (
	ascii = "abcdefghij klmnop\n"
	heavy = "ä€😀<&>\"\\\t " // more bytes as JSON than as text
)

// TestAResumePacketFitsWhateverThereIsToTell: at most 10 KiB, the human's words and the newest first, whole characters,
// and what was cut is named with a resource that can be read.
func TestAResumePacketFitsWhateverThereIsToTell(t *testing.T) {
	loads := map[string]load{
		"nothing more":           {task: 50, how: 1, alphabet: ascii},
		"just all of it":         {task: 900, review: 500, output: 300, decisions: 200, consultations: 150, note: 100, how: 3, files: 3, alphabet: ascii},
		"a huge task":            {task: 1 << 20, how: 1, alphabet: ascii},
		"a huge review":          {task: 3000, review: 1 << 17, how: 1, alphabet: heavy},
		"all huge":               {task: 1 << 17, review: 1 << 17, output: 1 << 14, decisions: 1 << 14, consultations: 1 << 14, note: 4000, how: 3, files: 60, alphabet: heavy},
		"many decisions":         {task: 200, decisions: 300, how: 34, alphabet: ascii},
		"many of all":            {task: 2000, review: 2000, output: 4000, decisions: 500, consultations: 500, note: 500, how: 33, files: 60, alphabet: ascii, unattended: true},
		"a flood of output":      {task: 300, output: 1 << 18, how: 1, alphabet: heavy},
		"notes and consultation": {task: 1500, consultations: 5000, note: 3000, how: 4, alphabet: heavy},
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	drawn := 3
	if !kit.Named() {
		drawn = 1
	}
	for i := range drawn {
		size := func() int { return rnd.IntN(1 << rnd.IntN(16)) }
		loads[fmt.Sprint("drawn ", i)] = load{task: 1 + size(), review: size(), output: size(), decisions: size(), consultations: size(),
			note: size() % 4000, how: 1 + rnd.IntN(8), files: rnd.IntN(40), alphabet: []string{ascii, heavy}[rnd.IntN(2)], unattended: true}
	}
	for name, l := range loads {
		t.Run(name, func(t *testing.T) { t.Parallel(); l.try(t) })
	}
}

// text is of n bytes at most, and says what it is first.
func (l load) text(mark string, n int) string {
	var b strings.Builder
	b.WriteString(mark)
	for i := 0; b.Len() < n-4; i++ {
		r := []rune(l.alphabet)
		b.WriteRune(r[i%len(r)])
	}
	return b.String()
}

// fill makes all that a successor should know, and returns what a packet without limits would hold.
func (l load) fill(t *testing.T, w *world) (whole handover.Packet) {
	sup, exe, person := w.enter(state.Supervisor, 1), w.enter(state.Executor, 1), w.person()
	person.TTY = !l.unattended
	whole.Task = l.text("the task ", l.task)
	sup.do("create_task", map[string]any{"description": whole.Task, "title": strings.Repeat("ü", 200)})
	exe.do("wait_for_task", nil)
	for i := range l.how {
		if l.decisions > 0 {
			d := handover.Decision{ID: fmt.Sprint("q", i+1), Question: l.text("question ", l.decisions), Answer: l.text(fmt.Sprint("answer ", i+1, " "), l.decisions)}
			exe.do("ask_human", map[string]any{"question": d.Question})
			done, err := person.Answer(t.Context(), d.ID, d.Answer)
			must(t, done, err)
			whole.Decisions = append([]handover.Decision{d}, whole.Decisions...)
		}
		if l.consultations > 0 {
			c := handover.Consultation{ID: fmt.Sprint("c", i+1), Response: l.text(fmt.Sprint("response ", i+1, " "), l.consultations)}
			exe.do("consult", map[string]any{"problem": "p", "tried": "t", "question": l.text("what ", l.consultations)})
			sup.do("respond_consult", map[string]any{"response": c.Response, "consultation": c.ID})
			exe.do("wait_for_consult", nil)
			whole.Consultations = append([]handover.Consultation{c}, whole.Consultations...)
		}
		if l.note > 0 {
			n := handover.Note{Note: l.text(fmt.Sprint("note ", i+1, " "), l.note)}
			exe.do("progress", map[string]any{"note": n.Note})
			whole.Progress = append([]handover.Note{n}, whole.Progress...)
		}
	}
	if l.review > 0 {
		whole.Review = l.text("the review ", l.review)
		if r := exe.do("submit", nil); r.Status != "submitted" {
			t.Fatalf("the submission %s: %s", r.Status, r.Message)
		}
		sup.do("reject", map[string]any{"notes": whole.Review, "submission": "s1"})
		exe.do("wait_for_task", nil)
	}
	for i := range l.files {
		w.write(fmt.Sprint("a-file-with-a-name-of-some-length-", i), "new\n")
	}
	if l.output > 0 {
		w.write("red", l.text("the output ", l.output))
		if r := exe.do("check", nil); r.Status != "failed" {
			t.Fatalf("the check %s", r.Status)
		}
	}
	done, err := person.Release(t.Context(), "")
	must(t, done, err)
	return whole
}

func (l load) try(t *testing.T) {
	in := newWorld
	if l.files > 0 && l.how <= 3 { // a diffstat comes with little else and with much, and each event has its tree
		in = repository
	}
	w := in(t, "")
	w.write("ferrus.toml", "[checks]\ncommands = [\"test ! -e red || { cat red; exit 3; }\"]\n")
	whole := l.fill(t, w)
	w.write("ferrus.toml", "[checks]\ncommands = [\""+strings.Repeat("true; ", 500)+"\"]\n") // a long notice
	heir := w.enter(state.Executor, 2)
	res, err := heir.client.CallTool(t.Context(), &mcp.CallToolParams{Name: "wait_for_task"})
	if err != nil {
		t.Fatal(err)
	}
	text := res.Content[0].(*mcp.TextContent).Text
	r := read(t, res)
	t.Logf("%d bytes, cut %v", len(text), r.Cut)
	// A holder whose client has dropped the answer from its conversation calls again.
	if res, err = heir.client.CallTool(t.Context(), &mcp.CallToolParams{Name: "wait_for_task"}); err != nil {
		t.Fatal(err)
	}
	if again := read(t, res); again.Epoch != r.Epoch || again.Task != r.Task || again.Review != r.Review || !reflect.DeepEqual(again.LastCheck, r.LastCheck) ||
		!reflect.DeepEqual(again.Decisions, r.Decisions) || !reflect.DeepEqual(again.Progress, r.Progress) {
		t.Errorf("called again, it gets %+v", again)
	}
	if len(text) > 10<<10 || !utf8.ValidString(text) {
		t.Errorf("the claim has %d bytes; valid %v", len(text), utf8.ValidString(text))
	}
	cut := map[string]bool{}
	for _, c := range r.Cut {
		cut[c.What] = true
		if _, err := heir.client.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: c.URI}); err != nil {
			t.Errorf("%s is cut, and %s: %v", c.What, c.URI, err)
		}
	}
	if len(cut) == 0 && len(text) > 9<<10 || len(cut) > 0 && len(text) < 6<<10 {
		t.Errorf("%d bytes with %d parts cut", len(text), len(cut))
	}
	part := func(what string, got, want string) {
		t.Helper()
		if got != want && !cut[what] {
			t.Errorf("%s is shortened, and not named", what)
		}
		if got != want && (len(got) < 200 || !strings.HasPrefix(want, strings.TrimSuffix(got, " … (cut)"))) {
			t.Errorf("of %s there is %.80q", what, got)
		}
	}
	part("task", r.Task, whole.Task)
	part("review", r.Review, whole.Review)
	list(t, "decisions", cut, r.Decisions, whole.Decisions, func(d handover.Decision) (string, string) { return d.ID, d.Answer })
	list(t, "consultations", cut, r.Consultations, whole.Consultations, func(c handover.Consultation) (string, string) { return c.ID, c.Response })
	list(t, "progress", cut, r.Progress, whole.Progress, func(n handover.Note) (string, string) { return "", n.Note })
	if l.output > 0 {
		if r.LastCheck == nil || len(r.LastCheck.Failures) != 1 || r.LastCheck.Failures[0].ExitCode != 3 || r.LastCheck.Log == "" {
			t.Errorf("the last check is %+v", r.LastCheck)
		} else if tail := r.LastCheck.Failures[0].Tail; cut["last_check"] != strings.HasPrefix(tail, "(cut) … ") || len(tail) < min(100, l.output) {
			t.Errorf("of the output there is %.80q; cut %v", tail, r.Cut)
		}
	}
	if l.files > 0 && r.Diffstat == "" {
		t.Error("there is no diffstat")
	}
	for _, c := range r.Cut {
		if _, err := heir.client.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: c.URI}); err != nil {
			t.Errorf("%s, where the whole of %s is, cannot be read: %v", c.URI, c.What, err)
		}
	}
	if len(whole.Decisions) > 0 && cut["decisions"] {
		var all []handover.Decision
		if err := json.Unmarshal([]byte(heir.resource("decisions")), &all); err != nil || len(all) != min(len(whole.Decisions), state.MaxRecords) || all[0].Answer != whole.Decisions[0].Answer {
			t.Errorf("the resource does not have what the packet lacks: %v", err)
		}
	}
}

// list checks that a packet has the newest of a list, in order, and names what it lacks.
func list[T any](t *testing.T, what string, cut map[string]bool, got, want []T, of func(T) (id, text string)) {
	t.Helper()
	if len(want) > state.MaxRecords {
		want = want[:state.MaxRecords]
	}
	if len(want) > 0 && len(got) == 0 {
		t.Errorf("there are no %s", what)
	}
	for i := range got {
		id, text := of(got[i])
		wantID, whole := of(want[i])
		if id != wantID || text != whole && (i < len(got)-1 || !cut[what] || !strings.HasPrefix(whole, strings.TrimSuffix(text, " … (cut)"))) {
			t.Errorf("%s %d is %s %.60q, not %s %.60q", what, i, id, text, wantID, whole)
		}
	}
	if len(got) < len(want) && !cut[what] {
		t.Errorf("%d of %d %s, and nothing says so", len(got), len(want), what)
	}
	if _, err := json.Marshal(got); err != nil {
		t.Error(err)
	}
}
