package terminal

import (
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"

	"github.com/ferrus-go/ferrus/internal/status"
)

// A page has the whole screen until esc: a review, or attempts beside each other. It is a small model of its own, as a tab is.
type page interface {
	// about is the item that its acts are about.
	about() Key
	// acts are what the person can do with it, as it was shown.
	acts() []Act
	// load reads what it shows.
	load(m *Model) tea.Cmd
	// receive takes what was read for it.
	receive(m *Model, msg tea.Msg) tea.Cmd
	// press takes a key, if it is one of its own.
	press(m *Model, key string) (tea.Cmd, bool)
	// back is the page that esc returns to, nil for the panes.
	back() page
	view(width, height int, now time.Time) []string
	// status is what stands above the keys while there is no message.
	status() (string, lipgloss.Style)
	keys() []hint
}

// A pageMsg is what was read for a page.
type pageMsg struct {
	of   page
	read tea.Msg
}

// reads makes the command of a page that reads.
func reads(of page, read func() tea.Msg) tea.Cmd {
	return func() tea.Msg { return pageMsg{of, read()} }
}

// show gives the screen to a page, or back to the panes for nil.
func (m *Model) show(p page) tea.Cmd {
	m.page = p
	if p == nil {
		return m.selected()
	}
	m.say("", false)
	return p.load(m)
}

// readPage reads the page again.
func (m *Model) readPage() tea.Cmd {
	if m.page == nil {
		return nil
	}
	return m.page.load(m)
}

func (m *Model) takePage(msg pageMsg) tea.Cmd {
	for p := m.page; p != nil; p = p.back() {
		if p == msg.of {
			return p.receive(m, msg.read)
		}
	}
	return nil
}

// openPage opens the page of the selected item: its review, where it waits for one or its diff has the focus, or the attempts of which one is
// to be chosen.
func (m *Model) openPage() (tea.Cmd, bool) {
	if m.of.Kind != Task {
		return nil, false
	}
	if _, diff := m.tabs[m.tab].(*diffTab); m.right {
		if !diff {
			return nil, false
		}
		return m.show(&reviewPage{of: m.of, target: m.title}), true
	}
	needs := m.needsOf(m.of)
	if d := m.detail; d != nil && d.Task != nil {
		needs = slices.Concat(needs, d.Task.Needs) // which may be newer than the overview
	}
	for _, n := range needs {
		switch n.Kind {
		case status.NeedReview:
			return m.show(&reviewPage{of: m.of, target: m.title}), true
		case status.NeedChoice:
			return m.show(&comparePage{of: m.of, target: m.title, since: n.Since}), true
		}
	}
	return nil, false
}

// onPage are the keys of the screen that work in a page, too.
var onPage = []string{"q", "n", "t", "space", ":", "Y", "ctrl+t", "?", "ctrl+r"}

// pressPage takes a key to the page, to the screen or to an act of the page.
func (m *Model) pressPage(key string) tea.Cmd {
	m.say("", false)
	if cmd, ok := m.page.press(m, key); ok {
		return cmd
	}
	if key == "esc" {
		return m.show(m.page.back())
	}
	if slices.Contains(onPage, key) {
		return screenKeys[key](m)
	}
	cmd, _ := m.pressAct(key)
	return cmd
}

// pressAct begins the act of a key, or lets the key wait for it; ok is false for a key of no act.
func (m *Model) pressAct(key string) (cmd tea.Cmd, ok bool) {
	if acts := actsOf(key, m.acts()); len(acts) > 0 {
		return m.offer(acts), true
	} else if len(namesOf(key)) > 0 && m.jobs.about(m.item()) {
		return m.enqueue(&job{key: m.item(), press: key}), true
	}
	return nil, false
}

// item is what acts are about now.
func (m *Model) item() Key {
	if m.page != nil {
		return m.page.about()
	}
	return m.of
}

// decided are the acts after which a page has nothing to decide.
var decided = []string{"approve", "reject", "select", "merge", "resolve", "reset"}

// leavePage returns to the panes when the page's item was decided on.
func (m *Model) leavePage(j *job) {
	if m.page != nil && j.key == m.page.about() && slices.Contains(decided, j.act.Name) {
		m.page = nil
	}
}

// pageKeys are the keys of the pages, for the help.
var pageKeys = []struct {
	title string
	keys  []hint
}{
	{"In a review", []hint{
		{"j k ↓ ↑", "next line, last line"},
		{"{ }", "file before, after"},
		{"enter", "unfold, or fold"},
		{"c", "comment on the line"},
		{"v", "file viewed, or not"},
		{"f", "list of files"},
		{"s", "what was done and said"},
		{"d", "only what is new"},
		{"h l ← →", "scroll to the sides"},
	}},
	{"Between attempts", []hint{
		{"h l ← →", "choose an attempt"},
		{"j k ↓ ↑", "scroll its changes"},
		{"enter", "open its review"},
		{"d", "what differs"},
	}},
}
