package terminal

import (
	"github.com/ferrus-go/ferrus/internal/status"

	"fmt"
	"slices"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"
)

// offer begins an act, or asks which one of several is meant.
func (m *Model) offer(acts []Act) tea.Cmd {
	if len(acts) == 1 {
		return m.begin(reply{act: &acts[0]})
	}
	m.dialog = &menu{title: "Which?", acts: acts}
	return nil
}

// begin leads an act on: to a form for its fields, to a question if something would be lost, and at last into the queue.
func (m *Model) begin(r reply) tea.Cmd {
	act := *r.act
	if len(act.Fields) > 0 && r.values == nil {
		m.dialog = newForm(act, m.prefilled(act))
		return nil
	}
	if act.Loses != "" && !r.sure {
		m.dialog = &question{act, r.values}
		return nil
	}
	delete(m.drafts, draftOf(act))
	m.say("", false)
	key := m.item()
	if m.overview != nil && slices.ContainsFunc(m.overview.Acts, act.Same) {
		key = Key{}
	}
	return m.enqueue(&job{key: key, act: act, values: r.values})
}

// enqueue takes a job up, which waits for earlier ones about the same item.
func (m *Model) enqueue(j *job) tea.Cmd {
	m.jobs = append(m.jobs, j)
	return m.work()
}

// work begins all jobs that can begin.
func (m *Model) work() tea.Cmd {
	var all []tea.Cmd
	for _, j := range m.jobs.begin() {
		all = append(all, carry(m.ctx, m.src, j))
	}
	return tea.Batch(all...)
}

// prefilled are the values that a form begins with: what was typed before it was closed, and the entry under the cursor.
func (m *Model) prefilled(act Act) map[string]string {
	if draft := m.drafts[draftOf(act)]; draft != nil {
		return draft
	}
	seq := m.undo.of(m.of)
	if j, ok := m.tabs[m.tab].(*journalTab); ok {
		seq = j.seq()
	}
	if seq == 0 {
		return nil
	}
	return map[string]string{"seq": strconv.FormatUint(seq, 10)}
}

func draftOf(act Act) string { return act.ID + "\x00" + strings.Join(act.Args, "\x00") }

// acted takes what became of an act, and begins what has waited for it.
func (m *Model) acted(msg actedMsg) tea.Cmd {
	j := msg.job
	m.jobs = m.jobs.without(j)
	what := line(j.act.Label) + ": "
	if j.key != m.item() && j.key != (Key{}) { // the person has gone on to another item
		what = machineName(j.key.Name) + ": " + what
	}
	if msg.err != nil || msg.outcome.Failed() {
		text := msg.outcome.Why()
		if msg.err != nil {
			text = msg.err.Error()
		}
		if m.drafts[draftOf(j.act)] == nil && len(j.values) > 0 { // nothing that was typed is lost
			m.drafts[draftOf(j.act)] = j.values
		}
		m.closing = false
		m.say("", false)
		m.notes = append(m.notes, &note{title: what + "refused", text: rowsOf(text)})
		m.showNote()
	} else {
		first, _, _ := strings.Cut(strings.TrimSpace(msg.outcome.Text), "\n")
		m.say(m.now().Format("15:04")+" "+what+first, false)
		m.leavePage(j)
		m.undo = undo{key: j.key, act: j.act.Name, seq: msg.outcome.Before, shown: true}
		if j.key != m.of || !status.Undoable(j.act.Name) || !slices.ContainsFunc(m.detail.Acts(), func(a Act) bool { return a.Name == "rollback" }) {
			m.undo = undo{}
		}
	}
	return tea.Batch(m.work(), m.loadOverview(), m.load(), m.readPage(), m.leave())
}

// showNote shows the next note, unless the person is busy with a dialog: then the message names it, and the note follows.
func (m *Model) showNote() {
	switch {
	case len(m.notes) == 0:
	case m.dialog != nil:
		m.say(m.notes[0].title+"; the reason follows", true)
	default:
		m.dialog, m.notes = m.notes[0], m.notes[1:]
	}
}

// possible takes up a key that has waited, now that it is known what it means. One that means nothing now does nothing.
func (m *Model) possible(msg possibleMsg) tea.Cmd {
	j := msg.job
	acts := actsOf(j.press, msg.detail.Acts())
	if msg.err == nil && len(acts) == 1 && len(acts[0].Fields) == 0 && acts[0].Loses == "" {
		j.press, j.act, j.begun = "", acts[0], false
		return m.work()
	}
	m.jobs = m.jobs.without(j)
	name := fmt.Sprintf("%s (%s)", j.press, strings.Join(namesOf(j.press), ", "))
	switch {
	case msg.err != nil:
		m.say(name+" was not done: "+msg.err.Error(), true)
	case len(acts) == 0:
		m.say(name+" was not done: it is not possible now", false)
	case j.key == m.item() && m.dialog == nil && m.filter == nil:
		m.closing = false
		return tea.Batch(m.offer(acts), m.work())
	default:
		m.say(fmt.Sprintf("%s is possible now: %s", name, machineName(j.key.Name)), false)
	}
	return tea.Batch(m.work(), m.leave())
}

// An undo is the entry of a task to which a rollback undoes the newest act.
type undo struct {
	key   Key
	act   string
	seq   uint64
	shown bool // beside the message about the act
}

// of is the entry to which the act is undone if it was about an item, and otherwise 0.
func (u undo) of(key Key) uint64 {
	if u.key == key {
		return u.seq
	}
	return 0
}

// undoing is the act that undoes the newest act, if that was about the selected item and nobody has gone on since.
func (m *Model) undoing() (Act, bool) {
	if m.undo.of(m.of) == 0 || m.detail == nil || m.detail.Task == nil {
		return Act{}, false
	}
	return m.detail.Task.Undo(m.undo.act, m.undo.seq)
}

// undoText says how the act is undone, while nothing else was said.
func (m *Model) undoText() string {
	if _, ok := m.undoing(); !ok || !m.undo.shown {
		return ""
	}
	return "z undoes it."
}

// undoLast undoes the newest act.
func (m *Model) undoLast() tea.Cmd {
	act, ok := m.undoing()
	if !ok {
		m.say("nothing is to be undone here; b goes back to an earlier point", false)
		return nil
	}
	return m.begin(reply{act: &act, values: map[string]string{"seq": strconv.FormatUint(m.undo.seq, 10), "reason": "undone on the screen"}, sure: true})
}
