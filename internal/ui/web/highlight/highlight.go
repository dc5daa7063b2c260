// Package highlight colours the lines of a patch for a page, by tables of languages.
package highlight

import (
	"html/template"
	"strings"

	"github.com/ferrus-go/ferrus/internal/platform/safetext"
	"github.com/ferrus-go/ferrus/internal/status/review/patch"
)

// Lines returns the lines of each hunk of a file as HTML, in their order, coloured by its language. The words in which a line differs from the
// one in its place are bold. All text is escaped, and hidden characters are marked. The time that it takes grows with the text alone, whatever the
// text is.
func Lines(f *patch.File) [][]template.HTML {
	l := lexerOf(f.Path)
	all := make([][]template.HTML, len(f.Hunks))
	for i, h := range f.Hunks {
		all[i] = l.hunk(h.Lines)
	}
	return all
}

// A lexer colours the text of a language; the empty one colours nothing. Its classes are those of the style sheet: k a keyword, s a string, m a number,
// c a comment, f a function.
type lexer struct {
	regions []region
	words   map[string]bool
}

// hunk colours lines. Each side is a text of its own: a string that begins in a removed line does not go on in an added one.
func (l *lexer) hunk(lines []patch.Line) []template.HTML {
	all := make([]template.HTML, len(lines))
	changed := patch.ChangedWords(lines)
	var was, now *region
	for i, line := range lines {
		switch line.Kind {
		case '-':
			all[i], was = l.line(line.Text, was, changed[i])
		case '+':
			all[i], now = l.line(line.Text, now, changed[i])
		case ' ':
			_, was = l.line(line.Text, was, patch.Part{})
			all[i], now = l.line(line.Text, now, patch.Part{})
		default:
			all[i] = template.HTML(escaped(line.Text))
		}
	}
	return all
}

// line colours a line that begins within a region, or in code if that is nil, and returns within what the next one begins. What has changed in
// it is bold.
func (l *lexer) line(text string, in *region, changed patch.Part) (template.HTML, *region) {
	var b strings.Builder
	// put writes the text up to an index.
	written := 0
	put := func(class string, to int) {
		if class != "" && written < to {
			b.WriteString(`<span class="` + class + `">`)
			defer b.WriteString(`</span>`)
		}
		for written < to {
			from, end := written, to
			bold := from >= changed.From && from < changed.To
			switch {
			case bold:
				end = min(to, changed.To)
			case from < changed.From:
				end = min(to, changed.From)
			}
			html := escaped(text[from:end])
			if bold {
				html = "<b>" + html + "</b>"
			}
			b.WriteString(html)
			written = end
		}
	}
	for at := 0; at < len(text); {
		begin := at
		if in == nil {
			if in = l.opens(text, at); in == nil {
				class := ""
				if at, class = l.word(text, at); class != "" {
					put("", begin)
					put(class, at)
				}
				continue
			}
			at += len(in.open)
		}
		var closed bool
		at, closed = in.end(text, at)
		put("", begin)
		put(in.class, at)
		if !closed {
			break
		}
		in = nil
	}
	put("", len(text))
	if in != nil && !in.lines {
		in = nil
	}
	return template.HTML(b.String()), in
}

// escaped is a text as HTML. A mark is an element of its own, so that it differs from the same words in the text.
func escaped(text string) string {
	// Of what is marked no control character is left, so two of them can bracket the marks until the text is escaped.
	text = safetext.Marked(text, func(name string) string { return "\x01" + name + "\x02" })
	return brackets.Replace(template.HTMLEscapeString(text))
}

var brackets = strings.NewReplacer("\x01", "<mark>&lt;", "\x02", "&gt;</mark>")

// opens returns the region that begins at an index, nil if none does. A "#" begins a comment only where a word could begin.
func (l *lexer) opens(text string, at int) *region {
	for i, s := range l.regions {
		if strings.HasPrefix(text[at:], s.open) && (s.open != "#" || at == 0 || text[at-1] == ' ' || text[at-1] == '\t') {
			return &l.regions[i]
		}
	}
	return nil
}

// end returns the index behind a region of which the rest begins at an index, and whether it ends in this text.
func (s *region) end(text string, at int) (int, bool) {
	for ; s.close != "" && at < len(text); at++ {
		switch {
		case strings.HasPrefix(text[at:], s.close):
			return at + len(s.close), true
		case s.escapes && text[at] == '\\':
			at++
		}
	}
	return len(text), false
}

// word returns the index behind the word, the number or the byte at an index, and its class, empty for what has no colour.
func (l *lexer) word(text string, at int) (int, string) {
	end := at
	for end < len(text) && patch.InWord(text[end]) {
		end++
	}
	switch word := text[at:end]; {
	case word == "":
		return at + 1, ""
	case l.words == nil:
		return end, ""
	case word[0] <= '9':
		return end, "m"
	case l.words[word]:
		return end, "k"
	case end < len(text) && text[end] == '(':
		return end, "f"
	}
	return end, ""
}
