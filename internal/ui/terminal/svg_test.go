package terminal

import (
	"fmt"
	"html"
	"image/color"
	"strings"

	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/vt"
)

// drawn is what a terminal of a size shows of the text of a view.
func drawn(content string, width, height int) *vt.Emulator {
	e := vt.NewEmulator(width, height)
	_, _ = e.WriteString(strings.ReplaceAll(content, "\n", "\r\n"))
	return e
}

// textOf is what stands on a terminal, without blanks at the ends of lines.
func textOf(e *vt.Emulator) string {
	lines := strings.Split(e.String(), "\n")
	for i, l := range lines {
		lines[i] = strings.TrimRight(l, " ")
	}
	return strings.Join(lines, "\n") + "\n"
}

// The colours of the pictures, and the size of a character in them.
const (
	ink, paper = "#d8dee9", "#20242c"
	wide, high = 8.4, 18.0
	font       = "ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace"
	faint      = ".6"
)

// palette are the first colours of a terminal.
var palette = []string{"#20242c", "#f07178", "#a5d46a", "#f2c572", "#6cb6ff", "#c792ea", "#7fdbca", ink}

// svg is a picture of a terminal.
func svg(e *vt.Emulator, title string) string {
	var b strings.Builder
	w, h := float64(e.Width())*wide+16, float64(e.Height())*high+16
	fmt.Fprintf(&b, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %.0f\" font-family=\"%s\" font-size=\"14\" role=\"img\">\n", w, h, font)
	fmt.Fprintf(&b, "<title>%s</title>\n<rect width=\"100%%\" height=\"100%%\" rx=\"6\" fill=\"%s\"/>\n", html.EscapeString(title), paper)
	for y := range e.Height() {
		for x := 0; x < e.Width(); {
			first := e.CellAt(x, y)
			style, text, from := first.Style, "", x
			for x < e.Width() {
				c := e.CellAt(x, y)
				if c.Style != style {
					break
				}
				text += c.Content
				x += max(1, c.Width)
			}
			run(&b, style, text, from, x-from, y)
		}
	}
	b.WriteString("</svg>\n")
	return b.String()
}

// run draws characters of one style.
func run(b *strings.Builder, style uv.Style, text string, x, n, y int) {
	reverse := style.Attrs&uv.AttrReverse != 0
	if strings.TrimSpace(text) == "" && !reverse {
		return
	}
	fill := named(style.Fg)
	left, top := 8+float64(x)*wide, 8+float64(y)*high
	if reverse {
		fmt.Fprintf(b, "<rect x=\"%.1f\" y=\"%.0f\" width=\"%.1f\" height=\"%.0f\" fill=\"%s\"/>\n", left, top, float64(n)*wide, high, fill)
		fill = paper
	}
	attrs := ""
	if style.Attrs&uv.AttrBold != 0 {
		attrs += " font-weight=\"bold\""
	}
	if style.Attrs&uv.AttrFaint != 0 {
		attrs += " opacity=\"" + faint + "\""
	}
	text = strings.TrimRight(text, " ")
	blanks := len(text) - len(strings.TrimLeft(text, " "))
	text = text[blanks:]
	if text != "" {
		fmt.Fprintf(b, "<text x=\"%.1f\" y=\"%.0f\" fill=\"%s\"%s xml:space=\"preserve\">%s</text>\n", left+float64(blanks)*wide, top+14, fill, attrs, html.EscapeString(text))
	}
}

func named(c color.Color) string {
	if c == nil {
		return ink
	}
	for i, name := range palette {
		if c == basic(i) {
			return name
		}
	}
	r, g, b, _ := c.RGBA()
	return fmt.Sprintf("#%02x%02x%02x", r>>8, g>>8, b>>8)
}
