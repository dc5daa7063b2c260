package terminal

import (
	"strings"
	"time"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"
)

// A row is a line of a pane: its text is clean, and shown in one style.
type row struct {
	text  string
	style lipgloss.Style
	mark  bool   // a jump with { and } stops here
	draw  string // the text in several styles, "" for one
}

// drawn is the row in a width.
func (r row) drawn(width int) string {
	if r.draw != "" {
		return fit(r.draw, width)
	}
	return r.style.Render(fit(r.text, width))
}

// A scroll shows as many rows as fit.
type scroll struct {
	all           []row
	rows          []row // of all, those that the filter leaves
	top, left     int
	width, height int
	filter        string
	tail          bool // the last row stays in sight when rows are added
}

func (s *scroll) set(rows []row) {
	s.all = rows
	s.sift()
	if s.tail {
		s.top = len(s.rows)
	}
	s.clamp()
}

func (s *scroll) sift() {
	s.rows = s.all
	if s.filter == "" {
		return
	}
	s.rows = nil
	for _, r := range s.all {
		if holds(r.text, s.filter) {
			s.rows = append(s.rows, r)
		}
	}
}

// holds reports whether a text has another in it, whatever the case of its letters.
func holds(text, part string) bool {
	return strings.Contains(strings.ToLower(text), strings.ToLower(part))
}

func (s *scroll) resize(width, height int) {
	s.width, s.height = width, height
	s.clamp()
}

func (s *scroll) clamp() {
	s.top = max(0, min(s.top, len(s.rows)-s.height))
	s.left = max(0, s.left)
}

// moves are the keys that scroll, and by how much.
func (s *scroll) moves(key string) (by int, ok bool) {
	switch key {
	case "j", "down":
		return 1, true
	case "k", "up":
		return -1, true
	case "pgdown", "ctrl+d":
		return max(1, s.height-1), true
	case "pgup", "ctrl+u":
		return -max(1, s.height-1), true
	case "g", "home":
		return -len(s.rows) - 1, true
	case "G", "end":
		return len(s.rows) + 1, true
	}
	return 0, false
}

func (s *scroll) press(key string) bool {
	if by, ok := s.moves(key); ok {
		s.top += by
		s.clamp()
		s.tail = s.tail && s.top >= len(s.rows)-s.height
		return true
	}
	switch key {
	case "right", "l":
		s.left += 8
	case "left", "h":
		s.left = max(0, s.left-8)
	case "}":
		s.jump(1)
	case "{":
		s.jump(-1)
	default:
		return false
	}
	return true
}

// jump goes to the next marked row in a direction.
func (s *scroll) jump(by int) {
	for at := s.top + by; at >= 0 && at < len(s.rows); at += by {
		if s.rows[at].mark {
			s.top = at
			s.clamp()
			return
		}
	}
}

func (s *scroll) search(text string) {
	s.filter = text
	s.sift()
	s.top = 0
	s.clamp()
}

// reading is shown while something is read.
var reading = []row{{text: "reading …", style: dim}}

// show is that of a tab that shows nothing of the detail.
func (s *scroll) show(d *Detail, _ time.Time) {
	if d == nil {
		s.set(reading)
	}
}

// view are the rows in sight, each as wide as the pane, with the focus or without.
func (s *scroll) view(bool) []string {
	shown := make([]string, 0, s.height)
	for i := s.top; i < s.top+s.height; i++ {
		if i >= len(s.rows) {
			shown = append(shown, strings.Repeat(" ", max(0, s.width)))
			continue
		}
		r := s.rows[i]
		if s.left > 0 {
			r.text, r.draw = ansi.Cut(r.text, s.left, s.left+s.width), ansi.Cut(r.draw, s.left, s.left+s.width)
		}
		shown = append(shown, r.drawn(s.width))
	}
	return shown
}

// where says which part is in sight, "" if all is.
func (s *scroll) where() string {
	switch {
	case len(s.rows) <= s.height:
		return ""
	case s.top == 0:
		return "top"
	case s.top >= len(s.rows)-s.height:
		return "end"
	}
	return percent(s.top, len(s.rows)-s.height)
}

func (s *scroll) content() []row { return s.all }
