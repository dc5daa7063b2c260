package terminal

import (
	"context"
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
)

// A checksTab shows the newest check: which commands failed, and the end of its log.
type checksTab struct {
	scroll
	detail *Detail
	log    []row
}

type checkLogMsg struct {
	key  Key
	text string
	err  error
}

func (*checksTab) name() string { return "checks" }

func (t *checksTab) show(d *Detail, _ time.Time) {
	if d == nil {
		t.log = nil
	}
	t.detail = d
	t.build()
}

func (t *checksTab) resize(width, height int) {
	t.scroll.resize(width, height)
	t.build()
}

func (t *checksTab) build() {
	r := t.detail.report()
	if r == nil || r.Check == nil {
		t.set([]row{{text: "no check", style: dim}})
		return
	}
	c := r.Check
	s := &sheet{width: t.width}
	s.fact("newest", strings.TrimSpace(c.ID+" "+strings.ReplaceAll(string(c.Status), "_", " ")))
	s.fact("budget", fmt.Sprintf("%d of %d failed checks used", c.Used, c.Max))
	for _, command := range c.Commands {
		s.fact("command", command)
	}
	for _, f := range c.Failures {
		s.gap()
		s.add(red.Bold(true), "", "failed: "+line(f.Line)+": "+f.String())
		s.add(plain, "  ", f.Tail)
	}
	if len(t.log) > 0 {
		s.gap()
		s.rows = append(append(s.rows, row{text: "log", style: bold, mark: true}), t.log...)
	}
	t.set(s.rows)
}

func (*checksTab) load(src Source, key Key) tea.Cmd {
	return func() tea.Msg {
		text, err := src.CheckLog(context.Background(), key)
		return checkLogMsg{key, text, err}
	}
}

func (t *checksTab) receive(msg tea.Msg) {
	m, ok := msg.(checkLogMsg)
	if !ok {
		return
	}
	t.log = nil
	if m.err != nil {
		t.log = errorRows(m.err)
	}
	for _, l := range rowsOf(m.text) {
		t.log = append(t.log, row{text: "  " + l})
	}
	t.build()
}
