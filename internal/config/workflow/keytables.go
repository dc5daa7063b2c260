package workflow

import (
	"fmt"
	"strings"
)

// KeyTables returns the keys of a pipeline, of a phase and of a worker as Markdown.
func KeyTables() string {
	var b strings.Builder
	for _, o := range []struct {
		name string
		keys []key
	}{{"pipeline", pipelineKeys}, {"phase", phaseKeys}, {"worker", workerKeys}} {
		fmt.Fprintf(&b, "### A %s\n\n| key | value | left out | means |\n|---|---|---|---|\n", o.name)
		for _, k := range o.keys {
			value, usual := string(k.kind), k.usual
			switch {
			case k.words != nil:
				value = "`" + strings.Join(k.words, "`, `") + "`"
			case k.kind == number:
				value += " " + k.span()
			case k.kind == codes:
				value += fmt.Sprintf(", each from %d to %d", k.least, k.most)
			case k.kind == objects:
				value = "list of " + k.name
			}
			if k.need {
				usual = "needed"
			}
			if k.unless != "" {
				usual += " without `" + k.unless + "`"
			}
			fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", k.name, value, usual, k.means)
		}
		b.WriteString("\n")
	}
	return strings.TrimSuffix(b.String(), "\n")
}
