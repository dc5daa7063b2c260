package terminal

import (
	"context"
	"errors"
	"slices"
	"time"

	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"

	"github.com/ferrus-go/ferrus/internal/status"
)

// A Model is the whole screen. It routes keys and messages to its panes, and holds nothing that they can hold.
type Model struct {
	src     Source
	ascii   bool            // the terminal has seven bits alone
	ctx     context.Context // of the program that runs it
	now     func() time.Time
	after   func(time.Duration, tea.Msg) tea.Cmd
	title   string
	opened  time.Time
	noMouse bool // the terminal has the mouse

	width, height int
	list          list
	tabs          []tab
	tab           int
	reads, shown  int  // of tabs: the number of the last one that began, and of the newest that ended
	right         bool // the right pane has the focus
	dialog        dialog
	page          page             // in place of the panes, nil for none
	filter        *textinput.Model // while it is typed
	editing       *form            // its text is being edited by $EDITOR

	first    Key // is selected at first
	overview *status.Overview
	detail   *Detail
	of       Key  // whose detail it is
	reading  bool // the overview
	reread   bool // something has changed while it was read
	loading  bool // the detail
	stale    bool // something has changed while it was read
	polling  bool // the output of agents is read again and again

	message string
	bad     bool
	jobs    jobs
	closing bool                         // when all jobs are done
	inAll   bool                         // the screen of all projects has opened it, and esc returns there
	returns bool                         // it is closed to return
	notes   []*note                      // to be shown when the dialog is closed
	undo    undo                         // of the newest act
	drafts  map[string]map[string]string // what was typed into forms that were closed, by act
}

// New returns a screen of a project.
func New(src Source, title string) *Model {
	return &Model{src: src, ctx: context.Background(), now: time.Now, opened: time.Now(), after: later, title: line(title), list: list{groups: groups}, tabs: newTabs(), drafts: map[string]map[string]string{}}
}

// Choose selects the task of a branch at first.
func (m *Model) Choose(branch string) { m.first = Key{Task, branch} }

// Init reads what is shown first.
func (m *Model) Init() tea.Cmd {
	m.loading, m.reading = false, true
	return tea.Batch(readOverview(m.ctx, m.src, true), awaitChange(m.ctx, m.src), m.after(agesEvery, ageMsg{}), m.load(), m.readPage())
}

// Update takes a message to the pane that it is for. It reads and writes nothing.
func (m *Model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
		m.resize()
	case tea.KeyPressMsg:
		return m, m.press(msg)
	case tea.PasteMsg:
		return m, m.paste(msg)
	case tea.MouseMsg:
		return m, m.mouse(msg)
	case overviewMsg:
		return m, m.takeOverview(msg)
	case detailMsg:
		return m, m.takeDetail(msg)
	case changedMsg:
		return m, m.changed(msg)
	case actedMsg:
		return m, m.acted(msg)
	case possibleMsg:
		return m, m.possible(msg)
	case ageMsg:
		m.showDetail()
		return m, m.after(agesEvery, ageMsg{})
	case liveMsg:
		m.polling = false
		return m, m.loadTab()
	case tabMsg:
		if msg.n < m.shown {
			return m, nil
		}
		m.shown = msg.n
		return m.Update(msg.read)
	case pageMsg:
		return m, m.takePage(msg)
	case diffMsg, outputMsg, checkLogMsg:
		return m, m.takeTab(msg)
	default:
		return m, m.forward(msg)
	}
	return m, nil
}

// takeTab gives a tab what it has read, unless another item is selected by now. While agents are at work it is read again.
func (m *Model) takeTab(msg tea.Msg) tea.Cmd {
	var key Key
	switch msg := msg.(type) {
	case diffMsg:
		key = msg.key
	case outputMsg:
		key = msg.key
	case checkLogMsg:
		key = msg.key
	}
	if key != m.of {
		return nil
	}
	for _, t := range m.tabs {
		t.receive(msg)
	}
	if a, ok := m.tabs[m.tab].(*agentsTab); ok && a.live && !m.polling {
		m.polling = true
		return m.after(liveEvery, liveMsg{})
	}
	return nil
}

// forward gives what is no key to what is typed into: a dialog, or the filter.
func (m *Model) forward(msg tea.Msg) (cmd tea.Cmd) {
	switch {
	case m.dialog != nil:
		_, cmd = m.dialog.update(msg)
	case m.filter != nil:
		*m.filter, cmd = m.filter.Update(msg)
	}
	return cmd
}

func (m *Model) paste(msg tea.PasteMsg) tea.Cmd {
	cmd := m.forward(msg)
	if m.dialog == nil && m.filter != nil {
		m.sift(m.filter.Value())
	}
	return cmd
}

// loadOverview reads the overview, once at a time: changes may come faster than it can be read.
func (m *Model) loadOverview() tea.Cmd {
	if m.reading {
		m.reread = true
		return nil
	}
	m.reading, m.reread = true, false
	return readOverview(m.ctx, m.src, false)
}

func (m *Model) takeOverview(msg overviewMsg) tea.Cmd {
	m.reading = false
	if msg.err != nil {
		m.say(msg.err.Error(), true)
		return nil
	}
	first := m.overview == nil
	m.overview = msg.overview
	m.list.set(itemsOf(msg.overview, m.now()))
	if first {
		m.list.at = 0
		m.list.choose(m.first)
	}
	if m.detail != nil {
		m.showDetail()
	}
	if msg.quick || m.reread {
		return tea.Batch(m.selected(), m.loadOverview())
	}
	return m.selected()
}

// selected reads the item that is selected, if it is another one by now.
func (m *Model) selected() tea.Cmd {
	it, ok := m.list.selected()
	if !ok {
		m.detail, m.of = nil, Key{}
		return nil
	}
	if it.key == m.of && m.detail != nil {
		return nil
	}
	m.detail, m.of = nil, it.key
	if it.key.Kind == Folded {
		m.detail = &Detail{Text: m.list.titlesOf(it.group)}
	}
	m.showDetail()
	return m.load()
}

// load reads the selected item, unless it is being read.
func (m *Model) load() tea.Cmd {
	if m.of == (Key{}) || m.of.Kind == Folded {
		return nil
	}
	if m.loading {
		m.stale = true
		return nil
	}
	m.loading, m.stale = true, false
	return tea.Batch(loadDetail(m.ctx, m.src, m.of), m.loadTab())
}

func (m *Model) loadTab() tea.Cmd {
	if m.of == (Key{}) || m.of.Kind == Folded {
		return nil
	}
	read := m.tabs[m.tab].load(m.src, m.of)
	if read == nil {
		return nil
	}
	m.reads++
	n := m.reads
	return func() tea.Msg { return tabMsg{n, read()} }
}

// A tabMsg is what the nth read of a tab has found. One that ends after a later read is dropped: it may be older.
type tabMsg struct {
	n    int
	read tea.Msg
}

func (m *Model) takeDetail(msg detailMsg) tea.Cmd {
	m.loading = false
	if msg.key != m.of || m.stale {
		return m.load()
	}
	if msg.err != nil {
		m.say(msg.err.Error(), true)
		return nil
	}
	m.detail = msg.detail
	m.showDetail()
	return nil
}

func (m *Model) showDetail() {
	for _, t := range m.tabs {
		if o, ok := t.(*storyTab); ok && m.overview != nil {
			o.needs = m.needsOf(m.of)
		}
		t.show(m.detail, m.now())
	}
}

func (m *Model) changed(msg changedMsg) tea.Cmd {
	if errors.Is(msg.err, context.Canceled) {
		return nil
	}
	if msg.err != nil {
		m.say(msg.err.Error(), true)
		return nil
	}
	return tea.Batch(m.loadOverview(), m.load(), m.readPage(), awaitChange(m.ctx, m.src))
}

func (m *Model) say(text string, bad bool) { m.message, m.undo.shown, m.bad = line(text), false, bad }

// acts are what the person can do: with the selected item, then with the project.
func (m *Model) acts() []Act {
	var all []Act
	if m.page != nil {
		all = append(all, m.page.acts()...)
	} else {
		all = append(all, m.detail.Acts()...)
	}
	if m.overview != nil {
		all = append(all, m.overview.Acts...)
	}
	return slices.Clone(all)
}
