package terminal

import (
	"context"
	"io"
	"strings"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"

	"github.com/ferrus-go/ferrus/internal/engine/handover"
)

// A diffTab shows what a task has changed, file by file.
type diffTab struct {
	scroll
	key Key
}

type diffMsg struct {
	key  Key
	text string
	err  error
}

func (*diffTab) name() string { return "changes" }

func (*diffTab) load(src Source, key Key) tea.Cmd {
	return func() tea.Msg {
		text, err := src.Diff(context.Background(), key)
		return diffMsg{key, text, err}
	}
}

func (t *diffTab) receive(msg tea.Msg) {
	m, ok := msg.(diffMsg)
	if !ok {
		return
	}
	if m.key != t.key {
		t.top, t.left = 0, 0
	}
	t.key = m.key
	t.set(patchRows(m.text, m.err, max(t.width, 40)))
}

// patchStyles are the styles of a patch's lines by what they begin with, the first that fits. What is added, removed or a file
// is said by the first characters, too.
var patchStyles = []struct {
	prefix string
	style  lipgloss.Style
	mark   bool
}{
	{"diff --git", bold, true}, {"+++", bold, false}, {"---", bold, false}, {"@@", cyan, false}, {"+", green, false}, {"-", red, false},
}

// patchRows are the lines of a patch, below a notice about hidden characters in it.
func patchRows(text string, err error, width int) []row {
	if err != nil {
		return errorRows(err)
	}
	if text == "" {
		return []row{{text: "no changes", style: dim}}
	}
	var rows []row
	var hidden handover.Hidden
	io.WriteString(&hidden, text)
	if notice := hidden.Notice(); notice != "" {
		for _, piece := range wrapped(line(notice), width) {
			rows = append(rows, row{text: piece, style: yellow})
		}
		rows = append(rows, row{})
	}
	first := len(rows)
	for i, l := range rowsOf(text) {
		i += first
		rows = append(rows, row{text: l})
		for _, s := range patchStyles {
			if strings.HasPrefix(l, s.prefix) {
				rows[i].style, rows[i].mark = s.style, s.mark
				break
			}
		}
	}
	return rows
}

func errorRows(err error) []row {
	var rows []row
	for _, l := range rowsOf(err.Error()) {
		rows = append(rows, row{text: l, style: red})
	}
	return rows
}

// press moves to the next file with J, to the one before with K.
func (t *diffTab) press(key string) bool {
	switch key {
	case "J":
		key = "}"
	case "K":
		key = "{"
	}
	return t.scroll.press(key)
}
