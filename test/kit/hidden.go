package kit

import (
	"fmt"
	"strings"
	"unicode"
)

// Hidden returns every character that nobody sees or that a terminal obeys, as Unicode's own properties list them: the controls of C0 and
// C1 besides tab and newline, Bidi_Control and Default_Ignorable_Code_Point.
func Hidden() (all []rune) {
	for r := rune(0); r <= unicode.MaxRune; r++ {
		ignorable := unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector) ||
			unicode.Is(unicode.Cf, r) && !unicode.Is(unicode.Prepended_Concatenation_Mark, r) && (r < 0xfff9 || r > 0xfffb) && (r < 0x13430 || r > 0x1345f)
		if r != '\t' && r != '\n' && unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || ignorable {
			all = append(all, r)
		}
	}
	return all
}

// MarkOf returns the mark that a reader is to see in place of a character.
func MarkOf(r rune) string { return fmt.Sprintf("<U+%04X>", r) }

// HiddenNames returns names of files that together have every character of [Hidden] that such a name can have.
func HiddenNames() (names []string) {
	var b strings.Builder
	for _, r := range Hidden() {
		if r == 0 {
			continue
		}
		if b.WriteRune(r); b.Len() > 200 {
			names = append(names, fmt.Sprintf("n%dx%sx", len(names), b.String()))
			b.Reset()
		}
	}
	return append(names, fmt.Sprintf("n%dx%sx", len(names), b.String()))
}

// HiddenText returns a text with every character of [Hidden], each on a line between its number and a word.
func HiddenText() string {
	var b strings.Builder
	for _, r := range Hidden() {
		fmt.Fprintf(&b, "%04X a%cb\n", r, r)
	}
	return b.String()
}

// Unmarked returns what is wrong with a text that shows [HiddenText] and [HiddenNames]: the characters that are in it, and those of which
// the mark is not.
func Unmarked(text string) (raw, dropped []rune) {
	shown, marked := map[rune]bool{}, map[string]bool{}
	for i, r := range text {
		shown[r] = true
		if after, ok := strings.CutPrefix(text[i:], "<U+"); ok {
			number, _, _ := strings.Cut(after[:min(len(after), 7)], ">")
			marked["<U+"+number+">"] = true
		}
	}
	for _, r := range Hidden() {
		if shown[r] {
			raw = append(raw, r)
		}
		if !marked[MarkOf(r)] {
			dropped = append(dropped, r)
		}
	}
	return raw, dropped
}
