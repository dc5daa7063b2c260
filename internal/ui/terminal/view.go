package terminal

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/ferrus-go/ferrus/internal/status"
)

const (
	narrowBelow = 100 // columns in which only one pane fits
	leftColumns = 56  // of the list beside another pane
	aroundBody  = 3   // lines: the header, the message, the keys
	aroundPage  = 2   // lines: the message, the keys
	aboveTab    = 3   // lines of the right pane: the title, the tabs, a free one
)

func (m *Model) narrow() bool { return m.width < narrowBelow }

// bodyHeight is how many lines the panes have.
func (m *Model) bodyHeight() int { return max(1, m.height-aroundBody) }

// columns are how wide the panes are; 0 is one that is not seen.
func (m *Model) columns() (left, right int) {
	switch {
	case m.narrow() && m.right:
		return 0, m.width
	case m.narrow():
		return m.width, 0
	}
	return leftColumns, m.width - leftColumns - 2
}

func (m *Model) resize() {
	left, right := m.columns()
	height := m.bodyHeight()
	m.list.dense, m.list.room = m.narrow(), height
	if m.narrow() && m.width >= 60 && height >= leastBody {
		m.list.room -= usualPreview
	}
	m.list.resize(left, height)
	m.list.keep()
	if above := aboveTab; left == 0 { // the header is the title
		height -= above - 1
	} else {
		height -= above
	}
	for _, t := range m.tabs {
		t.resize(max(0, right-1), max(1, height))
	}
	if m.filter != nil {
		m.filter.SetWidth(max(1, m.width-2))
	}
}

// View draws the screen.
func (m *Model) View() tea.View {
	v := tea.NewView("")
	v.AltScreen = true
	if !m.noMouse {
		v.MouseMode = tea.MouseModeCellMotion
	}
	if m.width == 0 {
		return v
	}
	var head, body []string
	if m.page != nil {
		body = m.page.view(m.width, max(1, m.height-aroundPage), m.now())
	} else {
		head, body = []string{m.header()}, m.body()
	}
	if f, ok := m.dialog.(*form); ok && f.asks() {
		var header string
		header, body, v.Cursor = m.askingView(f, m.body())
		head = []string{header}
	} else if m.dialog != nil {
		for i, r := range body { // the rest is dim
			body[i] = dim.Render(ansi.Strip(r))
		}
		box, cursor := m.dialog.view(m.width-2, len(body))
		top, left := max(0, (len(body)-len(box))/2), max(0, (m.width-ansi.StringWidth(first(box)))/2)
		body = over(body, box[:min(len(box), len(body))], top, left)
		if cursor != nil {
			cursor.X, cursor.Y = cursor.X+left, cursor.Y+top+len(head)
			v.Cursor = cursor
		}
	}
	rows := append(head, body...)
	rows = append(rows, m.messageLine(), m.keyLine())
	if m.filter != nil && m.dialog == nil {
		rows[len(rows)-2] = fit(m.filter.View(), m.width)
		if c := m.filter.Cursor(); c != nil {
			c.Y = len(rows) - 2
			v.Cursor = c
		}
	}
	v.SetContent(drawnIn(rows[:min(len(rows), m.height)], m.ascii))
	return v
}

// drawnIn are rows as they are drawn, in the characters that the terminal has.
func drawnIn(rows []string, sevenBits bool) string {
	content := strings.Join(rows, "\n")
	if sevenBits {
		content = ascii.Replace(content)
	}
	return content
}

func first(rows []string) string {
	if len(rows) == 0 {
		return ""
	}
	return rows[0]
}

// body are the panes side by side.
func (m *Model) body() []string {
	left, right := m.columns()
	height := m.bodyHeight()
	var l, r []string
	if left > 0 {
		var below []string
		if right == 0 {
			below = m.preview(left, height)
		}
		m.list.resize(left, height-len(below))
		l = append(m.list.view(!m.right, m.now()), below...)
	}
	if right > 0 {
		r = m.rightPane(left, right)
	}
	rows := make([]string, height)
	for i := range rows {
		switch {
		case right == 0:
			rows[i] = l[i]
		case left == 0:
			rows[i] = r[i]
		default:
			rows[i] = l[i] + dim.Render("│") + " " + r[i]
		}
	}
	return rows
}

// rightPane is the selected item: its title, unless the header has it, the tabs, and the tab that is chosen.
func (m *Model) rightPane(left, right int) (rows []string) {
	if left > 0 {
		rows = append(rows, m.itemTitle(" ", right))
	}
	names := " "
	for i, t := range m.tabs {
		name := dim.Render(t.name())
		if i == m.tab {
			name = plain.Underline(true).Render("[" + t.name() + "]")
		}
		names += name + "  "
	}
	cursor := " "
	if m.right {
		cursor = "▌"
	}
	rows = append(rows, fit(ends(cursor+names, m.tabs[m.tab].where()+" ", right), right))
	if left > 0 {
		rows = append(rows, strings.Repeat(" ", right))
	} else {
		rows = append(rows, dim.Render(strings.Repeat("─", right)))
	}
	for _, r := range m.tabs[m.tab].view(m.right) {
		rows = append(rows, " "+fit(r, right-1))
	}
	for len(rows) < m.bodyHeight() {
		rows = append(rows, strings.Repeat(" ", right))
	}
	return rows[:m.bodyHeight()]
}

// itemTitle is the title of the selected item with its branch and age.
func (m *Model) itemTitle(before string, width int) string {
	it, any := m.list.selected()
	if !any {
		return strings.Repeat(" ", width)
	}
	where := ""
	if it.key.Kind == Task {
		where = machineName(it.key.Name)
	}
	if !it.since.IsZero() {
		where = strings.TrimPrefix(where+" · "+age(it.since, m.now()), " · ")
	}
	where = clip(where, width/2)
	return ends(bold.Render(clip(before+it.title, width-ansi.StringWidth(where)-2)), dim.Render(where)+" ", width)
}

// header names the project, and counts what needs the person and what is at work; of an item that has the whole screen it is the title.
func (m *Model) header() string {
	if left, _ := m.columns(); left == 0 {
		return m.itemTitle(" ‹ ", m.width)
	}
	project := " " + brand.Render("ferrus") + "  " + bold.Render(clip(m.title, max(10, m.width/2-10)))
	if m.inAll {
		project += " ▾"
	}
	if m.overview == nil {
		return ends(project, "reading … ", m.width)
	}
	count := func(name status.Group) int { return m.list.count(groupOf(name)) }
	words := []string{fmt.Sprintf("%d need you", count(status.NeedsYou))}
	if count(status.NeedsYou) == 1 {
		words[0] = "1 needs you"
	}
	if count(status.NeedsYou) > 0 {
		words[0] = yellow.Render(words[0])
	}
	words = append(words, fmt.Sprintf("%d at work", count(status.AtWork)))
	if n := count(queued); n > 0 && !m.narrow() {
		words = append(words, fmt.Sprintf("%d queued", n))
	}
	nodes := map[string]bool{}
	for _, machine := range m.overview.Machines {
		nodes[machine.Node] = nodes[machine.Node] || len(machine.Agents) > 0
	}
	if n := len(slices.DeleteFunc(slices.Collect(maps.Keys(nodes)), func(name string) bool { return !nodes[name] })); n > 1 && !m.narrow() {
		words = append(words, fmt.Sprintf("%d machines", n))
	}
	if cost := m.overview.Today.Usage.Dollars; cost > 0 && m.narrow() {
		words = append(words, fmt.Sprintf("$%.2f", cost))
	} else if cost > 0 {
		words = append(words, fmt.Sprintf("$%.2f today", cost))
	}
	return ends(project, strings.Join(words, " · ")+" ", m.width)
}

func (m *Model) messageLine() string {
	style, text := plain, m.message
	if f, ok := m.dialog.(*form); ok && f.asks() && text == "" {
		style, text = dim, "ctrl+e opens your editor; what you have typed stays when you leave"
	}
	if text == "" && m.overview != nil && m.overview.Foreign != nil {
		style, text = yellow, "not made here, shown as text only: "+line(m.overview.Foreign.Error())
	}
	if text == "" && m.page != nil {
		text, style = m.page.status()
	}
	if m.bad && m.message != "" {
		style, text = red, "error: "+text
	}
	beside := m.jobs.String()
	undo := m.undoText()
	switch {
	case text == "":
		text, beside = beside, ""
	case undo != "":
		text, style = strings.TrimSuffix(clip(text, m.width-len(undo)-3), ".")+". "+undo, green
	}
	if m.list.filter != "" && text == "" {
		text, style = "/"+line(m.list.filter)+"  esc drops the filter", dim
	}
	text = " " + text
	beside = clip(beside, m.width/2)
	room := m.width - ansi.StringWidth(beside)
	if beside != "" {
		room--
	}
	return style.Render(fit(ends(clip(text, room), beside, m.width), m.width))
}

// keyLine names the keys that work now, as many as fit; help and the end always.
func (m *Model) keyLine() string {
	if m.dialog != nil {
		return hints(m.dialog.keys(), nil, m.width)
	}
	if m.filter != nil {
		return hints([]hint{{"enter", "keep the filter"}, {"esc", "drop it"}}, nil, m.width)
	}
	if m.page != nil {
		return hints(m.page.keys(), []hint{{"?", "keys"}}, m.width)
	}
	var list []hint
	seen := map[string]bool{}
	if act, n := m.numbered(); n > 0 {
		list = append(list, hint{fmt.Sprintf("1-%d", min(n, 9)), act.Name}, hint{"0", "own words"}, hint{"↵", "open"})
		seen[keyOf(act.Name)] = true
	}
	for _, a := range m.acts() {
		if k := keyOf(a.Name); k != "" && !seen[k] {
			seen[k] = true
			list = append(list, hint{k, a.Name})
		}
	}
	if m.list.anyNeed() {
		list = append(list, hint{"n", "next"})
	}
	list = append(list, hint{"j k", "move"}, hint{"t", "new"}, hint{"tab", "pane"}, hint{"/", "find"}, hint{"1-6", "tab"}, hint{"space", "acts"})
	always := []hint{{"?", "keys"}, {"q", "quit"}}
	if m.inAll {
		always = append([]hint{{"esc", "all projects"}}, always...)
	}
	return hints(list, always, m.width)
}

func hints(list, always []hint, width int) string {
	end := ""
	for _, h := range always {
		end += "  " + bold.Render(h.key) + " " + dim.Render(h.does)
	}
	text := " "
	for i, h := range list {
		next := bold.Render(h.key) + " " + dim.Render(h.does)
		if i > 0 {
			next = "  " + next
		}
		if ansi.StringWidth(text)+ansi.StringWidth(next)+ansi.StringWidth(end) > width {
			break
		}
		text += next
	}
	return fit(text+end, width)
}
