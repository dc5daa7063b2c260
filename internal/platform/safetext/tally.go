package safetext

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// A Tally counts the hidden characters of texts by their names, U+202E or 0x9B. Those that only choose how another is drawn (see
// [Document]) do not count: patches are full of them where emoji and line ends of Windows are.
type Tally map[string]int

// Add counts those of a text.
func (t Tally) Add(text string) {
	if plain(text) {
		return
	}
	for c := range characters(text) {
		if c.is == hidden {
			t[c.name()]++
		}
	}
}

// maxNames is how many kinds of characters a tally names.
const maxNames = 12

// String names them in their order, each with how often it was found if that is more than once, and at most twelve.
func (t Tally) String() string {
	var all []string
	for _, name := range slices.SortedFunc(maps.Keys(t), func(a, b string) int {
		return cmp.Or(cmp.Compare(b[0], a[0]), cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) // bytes last
	}) {
		if t[name] > 1 {
			name += fmt.Sprintf(" (%d times)", t[name])
		}
		all = append(all, name)
	}
	if more := len(all) - maxNames; more > 0 {
		all = append(all[:maxNames], fmt.Sprintf("and %d more", more))
	}
	return strings.Join(all, ", ")
}
