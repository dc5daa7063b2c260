package terminal

import (
	"fmt"
	"time"

	"github.com/ferrus-go/ferrus/internal/status"
)

// A journalTab shows the entries of a task, with a cursor on one of them.
type journalTab struct {
	scroll
	static
	seqs   []uint64 // of the rows
	cursor int      // in rows
	task   string
	detail *Detail
}

func (*journalTab) name() string { return "log" }

func (t *journalTab) show(d *Detail, _ time.Time) {
	if d == nil {
		return
	}
	last := t.cursor >= len(t.rows)-1 || d.Task == nil || d.Task.TaskID != t.task
	t.detail, t.task = d, ""
	if d.Task != nil {
		t.task = d.Task.TaskID
	}
	t.build()
	if last {
		t.cursor = len(t.rows) - 1
	}
	t.move(0)
}

func (t *journalTab) build() {
	var rows []row
	t.seqs = nil
	if t.detail != nil && t.detail.Task != nil {
		for _, e := range t.detail.Task.Timeline {
			rows = append(rows, t.rowOf(e))
			t.seqs = append(t.seqs, e.Seq)
		}
	}
	t.set(rows)
}

// rowOf is an entry in a line. In a narrow pane the state is left out: the event implies it.
func (t *journalTab) rowOf(e status.Entry) row {
	mark, style := " ", plain
	if e.Undone {
		mark, style = "x", dim // a rollback has left it behind
	}
	text := fmt.Sprintf(" %s%4d  %s  ", mark, e.Seq, e.At.Local().Format("15:04:05"))
	if t.width >= roomForState {
		text += fit(line(string(e.Event)), 20) + "  " + fit(line(string(e.To)), 13)
	} else {
		text += fit(line(string(e.Event)), 14)
	}
	if e.Back != 0 {
		text += fmt.Sprintf("  back to %d", e.Back)
	}
	for _, more := range []string{line(e.By), line(e.Text)} {
		if more != "" {
			text += "  " + more
		}
	}
	return row{text: text, style: style}
}

const roomForState = 70

// seq is the number of the entry under the cursor, 0 for none.
func (t *journalTab) seq() uint64 {
	if t.filter != "" || t.cursor < 0 || t.cursor >= len(t.seqs) {
		return t.filtered()
	}
	return t.seqs[t.cursor]
}

// filtered is the entry under the cursor while a filter hides others.
func (t *journalTab) filtered() uint64 {
	if t.cursor < 0 || t.cursor >= len(t.rows) {
		return 0
	}
	for i, r := range t.all {
		if r.text == t.rows[t.cursor].text {
			return t.seqs[i]
		}
	}
	return 0
}

func (t *journalTab) press(key string) bool {
	if by, ok := t.moves(key); ok {
		t.move(by)
		return true
	}
	return t.scroll.press(key)
}

// move moves the cursor, and the rows with it where it would leave them.
func (t *journalTab) move(by int) {
	t.cursor = max(0, min(t.cursor+by, len(t.rows)-1))
	t.top = max(min(t.top, t.cursor), t.cursor-t.height+1)
	t.clamp()
}

func (t *journalTab) resize(width, height int) {
	t.scroll.resize(width, height)
	t.build()
	t.move(0)
}

func (t *journalTab) search(text string) {
	t.scroll.search(text)
	t.move(0)
}

func (t *journalTab) view(focused bool) []string {
	shown := t.scroll.view(focused)
	if at := t.cursor - t.top; len(t.rows) > 0 && at >= 0 && at < len(shown) {
		style := bold
		if focused {
			style = marked
		}
		shown[at] = style.Render(fit(">"+t.rows[t.cursor].text[1:], t.width))
	}
	return shown
}
