package terminal

import (
	"slices"
	"strconv"
	"strings"

	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
)

// press takes a key to a dialog, to the filter, to the screen or to the pane in focus, the first that wants it.
func (m *Model) press(msg tea.KeyPressMsg) tea.Cmd {
	key := msg.String()
	if key == "ctrl+c" {
		m.editing = nil
		return tea.Quit
	}
	m.closing, m.returns = false, false
	switch {
	case m.dialog != nil:
		return m.pressDialog(msg)
	case m.filter != nil:
		return m.pressFilter(msg)
	}
	if m.page != nil {
		return m.pressPage(key)
	}
	if act, n := m.numbered(); len(key) == 1 && key[0] >= '0' && int(key[0]-'0') <= n {
		return tea.Batch(m.begin(reply{act: &act}), m.pressDialog(msg))
	}
	if act, ok := screenKeys[key]; ok {
		return act(m)
	}
	if cmd, ok := m.pressAct(key); ok {
		return cmd
	}
	if m.right {
		m.tabs[m.tab].press(key)
		return nil
	}
	if m.list.press(key) {
		return m.selected()
	}
	return nil
}

// numbered is the act whose options are on the screen, and how many there are: in the list a digit takes one of them, and 0 the field
// for one's own words. n is -1 where there is none.
func (m *Model) numbered() (act Act, n int) {
	acts := m.acts()
	i := slices.IndexFunc(acts, func(a Act) bool { return len(a.Fields) == 1 && len(a.Fields[0].Options) > 0 })
	if m.right || m.page != nil || i < 0 {
		return Act{}, -1
	}
	var rows []string
	if left, right := m.columns(); right > 0 {
		rows = m.tabs[m.tab].view(false)
	} else {
		rows = m.preview(left, m.bodyHeight())
	}
	seen := 0
	for _, r := range rows {
		if strings.HasPrefix(strings.TrimSpace(ansi.Strip(r)), strconv.Itoa(seen+1)+"  ") {
			seen++
		}
	}
	if n = len(acts[i].Fields[0].Options); seen < n {
		return Act{}, -1
	}
	return acts[i], n
}

// screenKeys are the keys of the screen itself.
var screenKeys = map[string]func(*Model) tea.Cmd{
	"q":         (*Model).close,
	"tab":       (*Model).otherPane,
	"shift+tab": (*Model).otherPane,
	"enter":     (*Model).enter,
	"esc":       (*Model).back,
	"[":         func(m *Model) tea.Cmd { return m.turn(m.tab - 1) },
	"]":         func(m *Model) tea.Cmd { return m.turn(m.tab + 1) },
	"1":         func(m *Model) tea.Cmd { return m.turn(0) },
	"2":         func(m *Model) tea.Cmd { return m.turn(1) },
	"3":         func(m *Model) tea.Cmd { return m.turn(2) },
	"4":         func(m *Model) tea.Cmd { return m.turn(3) },
	"5":         func(m *Model) tea.Cmd { return m.turn(4) },
	"6":         func(m *Model) tea.Cmd { return m.turn(5) },
	"n":         func(m *Model) tea.Cmd { return m.nextNeed(1) },
	"N":         func(m *Model) tea.Cmd { return m.nextNeed(-1) },
	"ctrl+l":    func(*Model) tea.Cmd { return tea.ClearScreen },
	"t":         (*Model).newTask,
	"space":     (*Model).menu,
	"/":         (*Model).startFilter,
	":":         (*Model).openFinder,
	"Y":         (*Model).copyCommand,
	"ctrl+t":    (*Model).switchMouse,
	"?":         (*Model).help,
	"ctrl+r":    (*Model).reload,
	"z":         (*Model).undoLast,
	"F":         (*Model).nextKind,
	"P":         (*Model).otherProject,
}

// close ends the screen when all acts are done: none is cut off.
func (m *Model) close() tea.Cmd {
	m.closing = true
	return m.leave()
}

// leave ends the program if it is to be closed or to make room for an editor, and all acts are done. Until then it says what for.
func (m *Model) leave() tea.Cmd {
	switch {
	case !m.closing && m.editing == nil:
		return nil
	case len(m.jobs) == 0:
		return tea.Quit
	case m.closing:
		m.say("the screen closes when this is done; ctrl+c closes it now, any other key keeps it open", false)
	default:
		m.say("the editor opens when this is done", false)
	}
	return nil
}

func (m *Model) otherPane() tea.Cmd {
	m.right = !m.right
	m.resize()
	return nil
}

func (m *Model) enter() tea.Cmd {
	if cmd, ok := m.openPage(); ok {
		return cmd
	}
	switch {
	case m.right:
		return m.menu()
	case m.of.Kind == Folded:
		m.list.open(m.of.Name)
		return m.selected()
	}
	if act, n := m.numbered(); n > 0 && m.narrow() {
		return m.begin(reply{act: &act})
	}
	return m.otherPane()
}

// nextKind filters the needs by their kind.
func (m *Model) nextKind() tea.Cmd {
	m.list.nextKind()
	return m.selected()
}

// otherProject returns to all projects, if the screen was opened from there.
func (m *Model) otherProject() tea.Cmd {
	if !m.inAll {
		m.say("ferrus ui --all shows all projects", false)
		return nil
	}
	m.returns = true
	return m.close()
}

func (m *Model) back() tea.Cmd {
	if m.inAll && !m.right && m.list.filter == "" && len(m.list.opened) == 0 {
		return m.otherProject()
	}
	m.say("", false)
	if !m.right {
		m.list.open("")
	}
	m.sift("")
	if m.right {
		return m.otherPane()
	}
	return m.selected()
}

// turn shows another tab, after the last one the first.
func (m *Model) turn(to int) tea.Cmd {
	m.tab = (to + len(m.tabs)) % len(m.tabs)
	if !m.right && m.narrow() {
		m.right = true
		m.resize()
	}
	return m.loadTab()
}

func (m *Model) nextNeed(by int) tea.Cmd {
	switch {
	case m.overview == nil:
		return nil
	case !m.list.nextNeed(by):
		m.say("nothing needs you", false)
		return nil
	}
	m.say("", false)
	m.page = nil
	return tea.Batch(m.selected(), m.turnQuietly(0))
}

// turnQuietly shows a tab and leaves the focus where it is.
func (m *Model) turnQuietly(to int) tea.Cmd {
	m.tab = to
	return m.loadTab()
}

func (m *Model) newTask() tea.Cmd {
	if m.overview == nil || !slices.ContainsFunc(m.overview.Acts, ofTask) {
		m.say("no task can be given now", false)
		return nil
	}
	m.dialog = newTaskForm(m.overview.Acts, m.drafts)
	return nil
}

func (m *Model) menu() tea.Cmd {
	acts := m.acts()
	if len(acts) == 0 {
		m.say("nothing can be done with it", false)
		return nil
	}
	m.dialog = &menu{title: "What next?", acts: acts}
	return nil
}

func (m *Model) openFinder() tea.Cmd {
	m.dialog = &finder{all: entries(m.acts())}
	return nil
}

func (m *Model) help() tea.Cmd {
	about, acts := "nothing", m.acts()
	if it, any := m.list.selected(); any {
		about = it.mark.means
	}
	m.dialog = &note{title: "Keys", build: func(width int) []row { return helpRows(about, acts, m.opened, width) }}
	return nil
}

func (m *Model) reload() tea.Cmd {
	m.say("", false)
	return tea.Batch(m.loadOverview(), m.load(), m.readPage())
}

// pressDialog gives a key to the dialog, and goes on with what it has come to.
func (m *Model) pressDialog(msg tea.KeyPressMsg) tea.Cmd {
	r, cmd := m.dialog.update(msg)
	if r.copy != "" {
		return m.toClipboard(r.copy)
	}
	if r.edit {
		m.editing, _ = m.dialog.(*form)
		return m.leave()
	}
	if !r.closed {
		return cmd
	}
	f, filled := m.dialog.(*form)
	m.dialog, m.editing = nil, nil
	defer m.showNote()
	if filled {
		m.drafts[draftOf(f.does)] = r.values
	}
	switch act := screenKeys[r.press]; {
	case r.act != nil && filled && f.save != nil:
		return f.save(r.values)
	case r.act != nil:
		return m.begin(r)
	case act != nil:
		return act(m)
	}
	return cmd
}

func (m *Model) startFilter() tea.Cmd {
	input := textinput.New()
	input.Prompt = "/"
	input.KeyMap.Paste.SetEnabled(false)
	input.SetVirtualCursor(false)
	input.SetWidth(max(1, m.width-2))
	input.Focus()
	m.filter = &input
	return nil
}

// pressFilter filters as it is typed. Enter keeps the filter, esc drops it.
func (m *Model) pressFilter(msg tea.KeyPressMsg) (cmd tea.Cmd) {
	switch msg.String() {
	case "enter":
		m.filter = nil
		return m.selected()
	case "esc":
		m.filter = nil
		return m.sift("")
	}
	*m.filter, cmd = m.filter.Update(msg)
	return tea.Batch(cmd, m.sift(m.filter.Value()))
}

// sift filters the pane in focus.
func (m *Model) sift(text string) tea.Cmd {
	if m.right {
		m.tabs[m.tab].search(text)
		return nil
	}
	m.list.search(text)
	return m.selected()
}
