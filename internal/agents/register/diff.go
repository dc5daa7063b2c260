package register

import (
	"fmt"
	"strings"
)

// A hunk says that some lines of a text are replaced by others.
type hunk struct {
	At   int      `json:"at"` // index of the first line that is replaced
	Drop int      `json:"drop"`
	Put  []string `json:"put,omitempty"` // with their newlines
}

// hunks says how one text becomes another. It finds the longest common part, unless the texts differ in too much for
// that to be of use.
func hunks(before, after string) []hunk {
	a, b := strings.SplitAfter(before, "\n"), strings.SplitAfter(after, "\n")
	head := 0
	for head < len(a) && head < len(b) && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < len(a)-head && tail < len(b)-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	a, b = a[head:len(a)-tail], b[head:len(b)-tail]
	if len(a) == 0 && len(b) == 0 {
		return nil
	}
	if len(a)*len(b) > 1<<22 {
		return []hunk{{At: head, Drop: len(a), Put: b}}
	}
	longest := make([][]int, len(a)+1) // common lines of a[i:] and b[j:]
	for i := range longest {
		longest[i] = make([]int, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if longest[i][j] = max(longest[i+1][j], longest[i][j+1]); a[i] == b[j] {
				longest[i][j] = 1 + longest[i+1][j+1]
			}
		}
	}
	var list []hunk
	open := false
	for i, j := 0, 0; i < len(a) || j < len(b); {
		if i < len(a) && j < len(b) && a[i] == b[j] {
			i, j, open = i+1, j+1, false
			continue
		}
		if !open {
			list, open = append(list, hunk{At: head + i}), true
		}
		h := &list[len(list)-1]
		if i < len(a) && (j == len(b) || longest[i+1][j] >= longest[i][j+1]) {
			i, h.Drop = i+1, h.Drop+1
		} else {
			h.Put = append(h.Put, b[j])
			j++
		}
	}
	return list
}

// apply does what hunks says. It reports false when the hunks are not of this text.
func apply(text string, list []hunk) (string, bool) {
	lines := strings.SplitAfter(text, "\n")
	var b strings.Builder
	at := 0
	for _, h := range list {
		if h.At < at || h.Drop < 0 || h.At+h.Drop > len(lines) {
			return "", false
		}
		b.WriteString(strings.Join(lines[at:h.At], "") + strings.Join(h.Put, ""))
		at = h.At + h.Drop
	}
	return b.String() + strings.Join(lines[at:], ""), true
}

// unified shows how a file changes, with up to three lines around each change.
func unified(name, before, after string) string {
	const around = 3
	list := hunks(before, after)
	lines := strings.SplitAfter(before, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	var b strings.Builder
	line := func(mark, text string) {
		b.WriteString(mark + strings.TrimRight(text, "\r\n") + "\n")
		if !strings.HasSuffix(text, "\n") {
			b.WriteString("\\ no newline at the end\n")
		}
	}
	fmt.Fprintf(&b, "--- %s\n+++ %s\n", name, name)
	at := 0
	for i, h := range list {
		if from := max(at, h.At-around); i == 0 || from > at {
			fmt.Fprintf(&b, "@@ line %d @@\n", from+1)
			at = from
		}
		for ; at < h.At; at++ {
			line(" ", lines[at])
		}
		for ; at < min(len(lines), h.At+h.Drop); at++ {
			line("-", lines[at])
		}
		for _, text := range h.Put {
			if text != "" {
				line("+", text)
			}
		}
		until := min(len(lines), at+around)
		if i+1 < len(list) {
			until = min(until, list[i+1].At)
		}
		for ; at < until; at++ {
			line(" ", lines[at])
		}
	}
	return b.String()
}
