package terminal

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
)

const (
	narrowBelow = 100 // columns in which only one pane fits
	leftColumns = 56  // of the list beside another pane
	aroundBody  = 4   // lines: the header, the titles, the message, the keys
)

func (m *Model) narrow() bool { return m.width < narrowBelow }

// columns are how wide the panes are; 0 is one that is not seen.
func (m *Model) columns() (left, right int) {
	switch {
	case m.narrow() && m.right:
		return 0, m.width
	case m.narrow():
		return m.width, 0
	}
	return leftColumns, m.width - leftColumns - 3
}

func (m *Model) resize() {
	left, right := m.columns()
	height := max(1, m.height-aroundBody)
	m.list.resize(left, height)
	m.list.dense = m.narrow()
	for _, t := range m.tabs {
		t.resize(right, height)
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
	body := m.body()
	if m.dialog != nil {
		box, cursor := m.dialog.view(m.width-2, len(body))
		top, left := max(0, (len(body)-len(box))/2), max(0, (m.width-ansi.StringWidth(first(box)))/2)
		body = over(body, box[:min(len(box), len(body))], top, left)
		if cursor != nil {
			cursor.X, cursor.Y = cursor.X+left, cursor.Y+top+2
			v.Cursor = cursor
		}
	}
	rows := append([]string{m.header(), m.titles()}, body...)
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
	var l, r []string
	if left > 0 {
		height := max(1, m.height-aroundBody)
		var below []string
		if right == 0 {
			below = m.preview(left, height)
		}
		m.list.resize(left, height-len(below))
		l = append(m.list.view(!m.right, m.now()), below...)
	}
	if right > 0 {
		r = m.tabs[m.tab].view(m.right)
	}
	rows := make([]string, max(1, m.height-aroundBody))
	for i := range rows {
		switch {
		case right == 0:
			rows[i] = l[i]
		case left == 0:
			rows[i] = r[i]
		default:
			rows[i] = l[i] + " " + dim.Render("│") + " " + r[i]
		}
	}
	return rows
}

// header names the project, and counts its items by group.
func (m *Model) header() string {
	counts := make([]int, len(groups))
	for _, it := range m.list.items {
		counts[it.group]++
	}
	var words []string
	for i, g := range groups {
		if i == 0 || counts[i] > 0 {
			words = append(words, g.style.Render(fmt.Sprintf("%d %s", counts[i], g.title)))
		}
	}
	summary := strings.Join(words, " · ")
	if m.overview == nil {
		summary = "reading …"
	}
	return ends(bold.Render(clip("ferrus  "+m.title, max(10, m.width-ansi.StringWidth(summary)-1))), summary, m.width)
}

// titles are those of the panes. That of the pane in focus has a mark and is shown in reverse.
func (m *Model) titles() string {
	left, right := m.columns()
	name := "tasks"
	if m.list.filter != "" {
		name += " /" + line(m.list.filter)
	}
	l := titleOf(name, !m.right, left)
	var names []string
	for i, t := range m.tabs {
		n := t.name()
		if i == m.tab {
			n = "[" + n + "]"
		}
		names = append(names, n)
	}
	r := titleOf(ends(strings.Join(names, " "), m.tabs[m.tab].where(), max(0, right-2)), m.right, right)
	switch {
	case right == 0:
		return l
	case left == 0:
		return r
	}
	return l + " " + dim.Render("│") + " " + r
}

func titleOf(name string, focused bool, width int) string {
	if focused {
		return marked.Bold(true).Render(fit("> "+name, width))
	}
	return dim.Render(fit("  "+name, width))
}

func (m *Model) messageLine() string {
	style, text := plain, m.message
	if text == "" && m.overview != nil && m.overview.Foreign != nil {
		style, text = yellow, "not made here, shown as text only: "+line(m.overview.Foreign.Error())
	}
	if m.bad && text != "" {
		style, text = red, "error: "+text
	}
	beside := m.jobs.String()
	switch {
	case text == "":
		text, beside = beside, ""
	case beside == "":
		beside = m.undo.text(m.of)
	}
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
	var list []hint
	seen := map[string]bool{}
	if act, n := m.numbered(); n > 0 {
		list = append(list, hint{fmt.Sprintf("1-%d", min(n, 9)), act.Name}, hint{"0", "own words"})
		seen[keyOf(act.Name)] = true
	}
	for _, a := range m.acts() {
		if k := keyOf(a.Name); k != "" && !seen[k] {
			seen[k] = true
			list = append(list, hint{k, a.Name})
		}
	}
	if m.list.anyNeed() {
		list = append(list, hint{"n", "next need"})
	}
	list = append(list, hint{"t", "new task"}, hint{"tab", "pane"}, hint{"1-5", "tab"}, hint{"/", "filter"}, hint{"space", "acts"})
	always := []hint{{"?", "help"}, {"q", "quit"}}
	if m.inAll {
		always = append([]hint{{"esc", "all projects"}}, always...)
	}
	return hints(list, always, m.width)
}

func hints(list, always []hint, width int) string {
	end := ""
	for _, h := range always {
		end += "  " + bold.Render(h.key) + " " + h.does
	}
	text := ""
	for _, h := range list {
		next := bold.Render(h.key) + " " + h.does
		if text != "" {
			next = "  " + next
		}
		if ansi.StringWidth(text)+ansi.StringWidth(next)+ansi.StringWidth(end) > width {
			break
		}
		text += next
	}
	return fit(text+end, width)
}
