package main

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// flags lists the flags of a command, or those that all commands have.
func flags(c *cobra.Command, all bool) string {
	set := c.LocalFlags()
	if all {
		set = c.PersistentFlags()
	}
	var b strings.Builder
	set.VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		kind, text := pflag.UnquoteUsage(f)
		name := strings.TrimSpace("--" + f.Name + " " + kind)
		if f.Shorthand != "" {
			name = "-" + f.Shorthand + ", " + name
		}
		b.WriteString(".TP\n.B " + roff(name) + "\n" + roff(text) + "\n")
	})
	return b.String()
}

// prose is text of which an empty line ends a paragraph; indented lines stay as they are.
func prose(text string) string {
	var b strings.Builder
	for _, part := range strings.Split(strings.Trim(text, "\n"), "\n\n") {
		switch {
		case b.Len() > 0 && !strings.HasPrefix(part, " "):
			b.WriteString(".PP\n")
			fallthrough
		case !strings.Contains("\n"+part, "\n "):
			b.WriteString(roff(part) + "\n")
		default:
			b.WriteString(code(part))
		}
	}
	return b.String()
}

// code is text whose lines stay as they are.
func code(text string) string { return ".PP\n.nf\n" + roff(strings.Trim(text, "\n")) + "\n.fi\n" }

// roff is a text for troff: no line of it is a request, and a hyphen can be copied.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text)
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			lines[i] = `\&` + line
		}
	}
	return strings.Join(lines, "\n")
}
