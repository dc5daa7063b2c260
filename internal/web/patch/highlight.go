package patch

import (
	"html/template"
	"strings"
	"time"

	"github.com/alecthomas/chroma/v2"
	"github.com/alecthomas/chroma/v2/lexers"
)

// A lexer is a list of regular expressions, of which some take quadratic time for a text that is made for it. So a hunk with
// a line of more bytes has no colours, and neither has what comes after this time in a file.
const (
	maxLine = 400
	maxTime = 200 * time.Millisecond
)

// Highlight returns the lines of each hunk of a file as HTML, in their order, coloured by its language. All text is escaped.
func Highlight(f *File) [][]template.HTML {
	lexer := lexers.Match(f.Path)
	end := time.Now().Add(maxTime)
	all := make([][]template.HTML, len(f.Hunks))
	for i, h := range f.Hunks {
		all[i] = plain(h.Lines)
		if lexer != nil {
			colour(lexer, h.Lines, all[i], '-', end)
			colour(lexer, h.Lines, all[i], '+', end)
		}
	}
	return all
}

// Plain is Highlight without colours.
func Plain(f *File) [][]template.HTML {
	all := make([][]template.HTML, len(f.Hunks))
	for i, h := range f.Hunks {
		all[i] = plain(h.Lines)
	}
	return all
}

func plain(lines []Line) []template.HTML {
	list := make([]template.HTML, len(lines))
	for i, l := range lines {
		list[i] = template.HTML(template.HTMLEscapeString(l.Text))
	}
	return list
}

// colour colours the lines of one side of a hunk: a comment or a string goes on over lines. After the time end it colours none.
func colour(lexer chroma.Lexer, lines []Line, into []template.HTML, side byte, end time.Time) {
	var text strings.Builder
	var at []int
	for i, l := range lines {
		if len(l.Text) > maxLine {
			return
		}
		if l.Kind == side || l.Kind == ' ' {
			text.WriteString(l.Text + "\n")
			at = append(at, i)
		}
	}
	next, err := lexer.Tokenise(&chroma.TokeniseOptions{State: "root"}, text.String())
	if err != nil {
		return
	}
	var tokens []chroma.Token
	for t := next(); t != chroma.EOF; t = next() {
		if tokens = append(tokens, t); time.Now().After(end) {
			return
		}
	}
	for n, line := range chroma.SplitTokensIntoLines(tokens) {
		if n == len(at) {
			return
		}
		if lines[at[n]].Kind == ' ' && side == '-' {
			continue // the new side colours it
		}
		var b strings.Builder
		for _, t := range line {
			value := template.HTMLEscapeString(strings.TrimSuffix(t.Value, "\n"))
			if class := class(t.Type); class != "" && value != "" {
				b.WriteString(`<span class="` + class + `">` + value + `</span>`)
			} else {
				b.WriteString(value)
			}
		}
		into[at[n]] = template.HTML(b.String())
	}
}

// class is the class of a kind of token in the style sheet: its own group's, so that a few colours are enough.
func class(t chroma.TokenType) string {
	switch {
	case t.InCategory(chroma.Keyword):
		return "k"
	case t.InSubCategory(chroma.LiteralString):
		return "s"
	case t.InSubCategory(chroma.LiteralNumber):
		return "m"
	case t.InCategory(chroma.Comment):
		return "c"
	case t == chroma.NameFunction, t == chroma.NameClass, t == chroma.NameBuiltin, t == chroma.NameTag:
		return "f"
	}
	return ""
}
