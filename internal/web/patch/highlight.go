package patch

import (
	"html/template"
	"strings"

	"github.com/alecthomas/chroma/v2"
	"github.com/alecthomas/chroma/v2/lexers"
)

// Highlight returns the lines of each hunk of a file as HTML, in their order, coloured by its language. All text is escaped.
func Highlight(f *File) [][]template.HTML {
	lexer := lexers.Match(f.Path)
	all := make([][]template.HTML, len(f.Hunks))
	for i, h := range f.Hunks {
		all[i] = plain(h.Lines)
		if lexer != nil {
			colour(lexer, h.Lines, all[i], '-')
			colour(lexer, h.Lines, all[i], '+')
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

// colour colours the lines of one side of a hunk: a comment or a string goes on over lines.
func colour(lexer chroma.Lexer, lines []Line, into []template.HTML, side byte) {
	var text strings.Builder
	var at []int
	for i, l := range lines {
		if l.Kind == side || l.Kind == ' ' {
			text.WriteString(l.Text + "\n")
			at = append(at, i)
		}
	}
	tokens, err := chroma.Tokenise(lexer, &chroma.TokeniseOptions{State: "root"}, text.String())
	if err != nil {
		return
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
