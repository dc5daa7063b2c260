package terminal

import (
	"context"

	tea "charm.land/bubbletea/v2"
)

// An agentsTab shows what the agents of a task print.
type agentsTab struct {
	scroll
	key  Key
	list []Output
	err  error
	live bool // an agent is at work
}

type outputMsg struct {
	key  Key
	list []Output
	err  error
}

func (*agentsTab) name() string { return "agents" }

func (*agentsTab) load(src Source, key Key) tea.Cmd {
	return func() tea.Msg {
		list, err := src.Outputs(context.Background(), key)
		return outputMsg{key, list, err}
	}
}

func (t *agentsTab) receive(msg tea.Msg) {
	m, ok := msg.(outputMsg)
	if !ok {
		return
	}
	if m.key != t.key {
		t.tail = true
	}
	t.key, t.list, t.err = m.key, m.list, m.err
	t.build()
}

func (t *agentsTab) resize(width, height int) {
	t.scroll.resize(width, height)
	t.build()
}

func (t *agentsTab) build() {
	t.live = false
	if t.err != nil {
		t.set(errorRows(t.err))
		return
	}
	var rows []row
	for i := len(t.list) - 1; i >= 0; i-- { // the newest is where the eye is: at the end
		o := t.list[i]
		state := "ended"
		if o.Live {
			state, t.live = "at work", true
		}
		rows = append(rows, row{text: line(o.Name + "  " + o.About + "  " + state), style: bold, mark: true})
		for _, l := range o.Lines {
			for _, r := range rowsOf(l) {
				for _, piece := range wrapped(r, t.width-2) {
					rows = append(rows, row{text: "  " + piece})
				}
			}
		}
		rows = append(rows, row{})
	}
	if len(rows) == 0 {
		rows = []row{{text: "no agent has been started", style: dim}}
	}
	t.set(rows)
}
