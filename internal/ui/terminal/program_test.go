package terminal

import (
	"bytes"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
)

// quits ends at once, and keeps what its program looks by.
type quits struct{ look func() }

func (q quits) Init() tea.Cmd                       { return tea.Quit }
func (q quits) Update(tea.Msg) (tea.Model, tea.Cmd) { return q, nil }
func (q quits) View() tea.View                      { q.look(); return tea.NewView("") }

// TestAnIdleScreenLooksSeldom: this version of bubbletea has what slows it down, and the pace follows the messages.
func TestAnIdleScreenLooksSeldom(t *testing.T) {
	var p *tea.Program
	var found *time.Ticker
	p = tea.NewProgram(quits{func() { found = tickerOf(p) }}, tea.WithInput(nil), tea.WithOutput(&bytes.Buffer{}))
	if _, err := p.Run(); err != nil || found == nil {
		t.Errorf("%v, %v", found, err)
	}
	looks := time.NewTicker(time.Hour)
	defer looks.Stop()
	a := &pace{resting: true}
	a.message(looks)
	<-looks.C // it would come in an hour
	a.mu.Lock()
	a.last = time.Time{}
	a.mu.Unlock()
	a.rest(looks)
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.resting {
		t.Error("it does not rest")
	}
}
