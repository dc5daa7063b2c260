package trust

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// A Value is one setting of a project's files that can make something run or that widens rights. Value is the parsed
// value in canonical form, the same for the same meaning; Does says in one sentence what it does and is not compared.
type Value struct {
	Key   string `json:"key"`
	Value string `json:"value"`
	Does  string `json:"does"`
}

// Digest names a set of values, the same on every machine and in every order. No values have one as well.
func Digest(values []Value) string {
	pairs := make([][2]string, 0, len(values))
	for _, v := range values {
		pairs = append(pairs, [2]string{v.Key, v.Value})
	}
	slices.SortFunc(pairs, func(a, b [2]string) int { return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1])) })
	var text bytes.Buffer
	if err := json.NewEncoder(&text).Encode(pairs); err != nil {
		panic(err) // strings are never refused
	}
	sum := sha256.Sum256(text.Bytes())
	return hex.EncodeToString(sum[:])
}

// A Change is a value that differs between two sets. Was or Now is "" where the set does not have it.
type Change struct {
	Key  string `json:"key"`
	Was  string `json:"was,omitempty"`
	Now  string `json:"now,omitempty"`
	Does string `json:"does"`
}

// Diff lists the values in which now differs from was, sorted by key.
func Diff(was, now []Value) []Change {
	all := map[string]Change{}
	for _, v := range was {
		all[v.Key] = Change{Key: v.Key, Was: v.Value, Does: v.Does}
	}
	for _, v := range now {
		all[v.Key] = Change{Key: v.Key, Was: all[v.Key].Was, Now: v.Value, Does: v.Does}
	}
	var changes []Change
	for _, c := range all {
		if c.Was != c.Now {
			changes = append(changes, c)
		}
	}
	slices.SortFunc(changes, func(a, b Change) int { return cmp.Compare(a.Key, b.Key) })
	return changes
}

// Visible returns text with every control character and every character that is not printable written as an escape, so
// that what a terminal shows is what the value is.
func Visible(text string) string {
	var b strings.Builder
	for _, r := range text {
		if r == ' ' || unicode.IsPrint(r) && !ignorable(r) {
			b.WriteRune(r)
			continue
		}
		b.WriteString(strings.Trim(strconv.QuoteRuneToASCII(r), "'"))
	}
	return b.String()
}

// VisibleLines is Visible for a text of several lines.
func VisibleLines(text string) string {
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		lines[i] = Visible(l)
	}
	return strings.Join(lines, "\n")
}

// ignorable reports characters that count as printable and that a terminal shows as nothing: variation selectors,
// fillers and the other default-ignorable ones of Unicode.
func ignorable(r rune) bool {
	return unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

func quoted(text string) string { return strconv.QuoteToASCII(text) }
