package terminal

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/ferrus-go/ferrus/internal/platform/format"
	"github.com/ferrus-go/ferrus/internal/platform/safetext"
	"github.com/ferrus-go/ferrus/internal/status"
	"github.com/ferrus-go/ferrus/internal/status/review"
	"github.com/ferrus-go/ferrus/internal/status/review/patch"
)

// A piece is a part of a row. Its text is clean.
type piece struct {
	text  string
	style lipgloss.Style
}

// A patchRow is a line of a patch as it is shown: of a file, of its patch, or of what is said about it.
type patchRow struct {
	file   int    // its index
	head   bool   // it is the first one of the file
	key    string // of the line in the file, "" for any other row
	text   string // of the line, as it is there
	gutter piece  // stays when the text is scrolled to the side
	pieces []piece
	right  piece // at the right end
}

// draw is the row at a width, scrolled to the side, with the cursor or without.
func (r patchRow) draw(width, left int, cursor bool) string {
	at, text := " ", ""
	for _, p := range r.pieces {
		if cursor {
			p.style = p.style.Bold(true).Underline(true)
		}
		text += p.style.Render(p.text)
	}
	if cursor {
		at = ">"
	}
	if left > 0 && !r.head {
		text = ansi.Cut(text, left, left+width)
	}
	right := r.right.style.Render(r.right.text)
	text = at + r.gutter.style.Render(r.gutter.text) + text
	return ends(clip(text, width-ansi.StringWidth(right)-1), right+" ", width)
}

// A patchView shows the files of a patch, and a cursor in it.
type patchView struct {
	rows      []patchRow
	at, top   int
	left      int
	open      map[string]bool // by path: unfolded or folded by the person
	cursor    bool
	lastWidth int
}

// foldedAt reports whether a file is folded.
func (v *patchView) foldedAt(f *review.File) bool {
	if open, said := v.open[f.Path]; said {
		return !open
	}
	return f.Folded || f.Viewed
}

// set shows other files. The cursor stays where it was in them, if that is still there.
func (v *patchView) set(r *review.Review, width int) {
	var was patchRow
	if v.at < len(v.rows) {
		was = v.rows[v.at]
	}
	v.rows, v.lastWidth = nil, width
	for i, f := range r.Files {
		f.Said = slices.Clone(f.Said)
		v.file(r, i, &f, width)
	}
	is := func(same func(patchRow) bool) bool {
		at := slices.IndexFunc(v.rows, same)
		if at >= 0 {
			v.at = at
		}
		return at >= 0
	}
	_ = is(func(o patchRow) bool {
		return o.file == was.file && o.key == was.key && o.head == was.head && o.key != ""
	}) ||
		is(func(o patchRow) bool { return o.file == was.file && o.head })
	v.at = max(0, min(v.at, len(v.rows)-1))
}

// file adds the rows of a file.
func (v *patchView) file(r *review.Review, i int, f *review.File, width int) {
	if i > 0 {
		v.add(patchRow{file: i})
	}
	v.add(v.headOf(r, i, f, width))
	if v.foldedAt(f) {
		return
	}
	for _, n := range f.Notes {
		v.add(patchRow{file: i, pieces: []piece{{line(n), dim}}})
	}
	for _, h := range f.Hunks {
		v.add(patchRow{file: i, pieces: []piece{{line(h.Header), cyan}}})
		words := patch.ChangedWords(h.Lines)
		for j, l := range h.Lines {
			on := codeRow(i, l, words[j])
			v.add(on)
			if on.key == "" {
				continue
			}
			v.said(on, f.About(on.key), width)
			if c := r.Draft.CommentOn(f.Path, on.key); c != nil {
				v.says(on, "you: "+c.Text, yellow, width)
			}
		}
	}
	for _, one := range f.Said { // about lines that are not shown
		one.Text = fmt.Sprintf("line %d: %s", one.Then, one.Text)
		v.said(patchRow{file: i}, []review.Remark{one}, width)
	}
}

func (v *patchView) add(r patchRow) { v.rows = append(v.rows, r) }

// headOf is the first row of a file.
func (v *patchView) headOf(r *review.Review, i int, f *review.File, width int) patchRow {
	var words []string
	for _, w := range []struct {
		is   bool
		word string
	}{{f.Made, "written by a program"}, {f.Commit, "in a commit"}, {f.Viewed, "viewed ✓"}, {v.foldedAt(f), "folded: " + format.Count(f.Lines(), "line", "lines")}} {
		if w.is {
			words = append(words, w.word)
		}
	}
	style := dim
	if f.Viewed {
		style = green
	}
	row := patchRow{file: i, head: true, right: piece{strings.Join(words, ", "), style}}
	count := fmt.Sprintf("%d/%d  ", i+1, len(r.Files))
	size := fmt.Sprintf("  +%d -%d", f.Added, f.Removed)
	path := line(f.Path)
	if f.Was != "" {
		path = line(f.Was) + " → " + path
	}
	row.pieces = []piece{{count, dim}, {clipStart(path, width-ansi.StringWidth(count+size+row.right.text)-4), bold}, {fmt.Sprintf("  +%d", f.Added), green}, {fmt.Sprintf(" -%d", f.Removed), red}}
	return row
}

// clipStart shortens a line to n columns at its beginning, where a path says the least.
func clipStart(text string, n int) string {
	if w := ansi.StringWidth(text); w > n && n > 0 {
		return "…" + ansi.Cut(text, w-n+1, w)
	}
	return text
}

// lineStyles are those of the kinds of lines.
var lineStyles = map[byte]lipgloss.Style{'+': green, '-': red, '\\': dim}

// codeRow is a line of a hunk, with the words in which it differs in reverse.
func codeRow(file int, l patch.Line, words patch.Part) patchRow {
	number := func(n int) string {
		if n == 0 {
			return ""
		}
		return strconv.Itoa(n)
	}
	style, ok := lineStyles[l.Kind]
	if !ok {
		style = plain
	}
	row := patchRow{file: file, key: l.Key(), text: safetext.Mark(l.Text), gutter: piece{fmt.Sprintf("%4s %4s %c ", number(l.Old), number(l.New), l.Kind), style}}
	text, from, to := expanded(l.Text, words)
	row.pieces = []piece{{safetext.Mark(text[:from]), style}, {safetext.Mark(text[from:to]), style.Reverse(true)}, {safetext.Mark(text[to:]), style}}
	return row
}

// expanded is a line without tabs, and where a part of it is there.
func expanded(text string, p patch.Part) (string, int, int) {
	at := func(i int) int { return len(untabbed(text[:i])) }
	return untabbed(text), at(p.From), at(p.To)
}

// said adds what a rejection says about the line of a row.
func (v *patchView) said(on patchRow, list []review.Remark, width int) {
	for _, r := range list {
		v.says(on, fmt.Sprintf("%s, submission %s: %s", line(status.Who(r.Round.VerdictBy)), strings.TrimPrefix(line(r.Round.ID), "s"), r.Text), dim, width)
		if r.Changed {
			v.says(on, "changed since", dim, width)
		}
	}
}

// says adds a text about the line of a row, in rows that stand for that line.
func (v *patchView) says(on patchRow, text string, style lipgloss.Style, width int) {
	const margin = 12
	for _, l := range rowsOf(text) {
		for _, one := range wrapped(l, width-margin-4) {
			on.gutter, on.pieces = piece{strings.Repeat(" ", margin-2) + "│ ", dim}, []piece{{one, style}}
			v.add(on)
		}
	}
}

// move moves the cursor, or what is in sight where there is none, by so many rows.
func (v *patchView) move(by int) { v.at = max(0, min(v.at+by, len(v.rows)-1)) }

// press takes a key that moves in the patch.
func (v *patchView) press(key string, height int) bool {
	s := scroll{height: height, rows: make([]row, len(v.rows))}
	by, ok := s.moves(key)
	switch {
	case ok:
		v.move(by)
	case key == "l" || key == "right":
		v.left += 8
	case key == "h" || key == "left":
		v.left = max(0, v.left-8)
	case key == "}":
		v.jump(1)
	case key == "{":
		v.jump(-1)
	default:
		return false
	}
	return true
}

// jump goes to the first row of the next file in a direction.
func (v *patchView) jump(by int) {
	for at := v.at + by; at >= 0 && at < len(v.rows); at += by {
		if v.rows[at].head {
			v.at = at
			v.top = at
			return
		}
	}
}

// current is the index of the file that the cursor is in, -1 where there is none.
func (v *patchView) current() int {
	if v.at >= len(v.rows) {
		return -1
	}
	return v.rows[v.at].file
}

// view are the rows in sight. The name of their file stays above them.
func (v *patchView) view(width, height int) []string {
	pinned := func() bool { return v.top > 0 && v.top < len(v.rows) && !v.rows[v.top].head && height > 3 }
	if !v.cursor {
		v.top = v.at
	}
	v.top = max(0, min(v.top, v.at, len(v.rows)-height))
	if v.at >= v.top+height {
		v.top = v.at - height + 1
	}
	if v.cursor && pinned() && v.at == v.top {
		v.top--
	}
	var list []string
	for i := v.top; i < v.top+height; i++ {
		switch {
		case i >= len(v.rows):
			list = append(list, strings.Repeat(" ", width))
		case i == v.top && pinned():
			at := slices.IndexFunc(v.rows, func(r patchRow) bool { return r.head && r.file == v.rows[i+1].file })
			list = append(list, v.rows[at].draw(width, 0, false))
		default:
			list = append(list, v.rows[i].draw(width, v.left, v.cursor && i == v.at))
		}
	}
	return list
}
