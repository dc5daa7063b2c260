//go:build linux

package machines

import (
	"os"
	"strings"
	"testing"
)

// An item is what the page tells its reader to do next: a command of a console block, or the text of another block.
type item struct {
	kind string // the word after ```
	text string
	line int
}

// items returns those of a page, in their order. A command goes on after a backslash at the end of a line.
func items(t *testing.T, file string) (found []item) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var block *item
	indent := ""
	for i, line := range strings.Split(string(text), "\n") {
		bare := strings.TrimLeft(line, " ")
		kind, fence := strings.CutPrefix(bare, "```")
		switch {
		case fence && block == nil:
			block, indent = &item{kind: kind, line: i + 2}, line[:len(line)-len(bare)]
		case fence:
			if block.kind != "console" || block.text != "" {
				found = append(found, *block)
			}
			block = nil
		case block == nil:
		case block.kind != "console":
			block.text += strings.TrimPrefix(line, indent) + "\n"
		default:
			block.text += strings.TrimPrefix(line, indent)
			if strings.HasSuffix(block.text, "\\") {
				block.text += "\n"
				continue
			}
			if block.text != "" {
				found = append(found, *block)
			}
			block.text, block.line = "", i+2
		}
	}
	if block != nil {
		t.Fatalf("%s:%d: the block has no end", file, block.line)
	}
	return found
}

// addTo returns the text of a config.toml of one table with what a block of the page adds to it.
func addTo(conf, block string) string {
	for line := range strings.Lines(block) {
		key, _, isKey := strings.Cut(line, " = ")
		if strings.HasPrefix(line, "[") && strings.Contains(conf, line) {
			continue
		}
		if at := strings.Index("\n"+conf, "\n"+key+" = "); isKey && at >= 0 {
			_, after, _ := strings.Cut(conf[at:], "\n")
			conf = conf[:at] + after
		}
		conf += line
	}
	return conf
}
