package safetext

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode"
)

// defaultIgnorable is Default_Ignorable_Code_Point of DerivedCoreProperties.txt, as the Unicode consortium lists it.
var defaultIgnorable = [][2]rune{{0x00ad, 0x00ad}, {0x034f, 0x034f}, {0x061c, 0x061c}, {0x115f, 0x1160}, {0x17b4, 0x17b5}, {0x180b, 0x180f},
	{0x200b, 0x200f}, {0x202a, 0x202e}, {0x2060, 0x206f}, {0x3164, 0x3164}, {0xfe00, 0xfe0f}, {0xfeff, 0xfeff}, {0xffa0, 0xffa0},
	{0xfff0, 0xfff8}, {0x1bca0, 0x1bca3}, {0x1d173, 0x1d17a}, {0xe0000, 0xe0fff}}

// otherwiseUnseen are the rest: controls, format characters, separators, private use, surrogates and noncharacters.
func otherwiseUnseen(r rune) bool {
	return r < ' ' && r != '\n' && r != '\t' || 0x7f <= r && r <= 0x9f || r == 0x2028 || r == 0x2029 || 0xfff9 <= r && r <= 0xfffb ||
		0xd800 <= r && r <= 0xdfff || 0xe000 <= r && r <= 0xf8ff || r >= 0xf0000 || 0xfdd0 <= r && r <= 0xfdef || r&0xfffe == 0xfffe ||
		unicode.Is(unicode.Cf, r)
}

// TestNoCharacterOfUnicodeIsHiddenAndRaw goes through the whole of Unicode: each hidden character becomes its mark, in texts that
// are shown and in those that are handed in.
func TestNoCharacterOfUnicodeIsHiddenAndRaw(t *testing.T) {
	hidden := map[rune]bool{}
	for _, span := range defaultIgnorable {
		for r := span[0]; r <= span[1]; r++ {
			hidden[r] = true
		}
	}
	through := 0
	for r := rune(0); r <= unicode.MaxRune; r++ {
		want := hidden[r] || otherwiseUnseen(r) || unicode.Is(unicode.Bidi_Control, r)
		if Hidden(r) != want {
			t.Errorf("Hidden(%U) = %v", r, !want)
		}
		if !want || 0xd800 <= r && r <= 0xdfff { // string() makes U+FFFD of a surrogate
			continue
		}
		text := "a" + string(r) + "b"
		shown := fmt.Sprintf("a<U+%04X>b", r)
		tally := Tally{}
		tally.Add(text)
		if clean, marks := Document(text); clean != shown || marks != 1 || Mark(text) != shown || Line(text) != shown || len(tally) != 1 {
			through++
		}
	}
	if through != 0 {
		t.Errorf("%d hidden characters come through, are dropped, or go unsaid", through)
	}
}

// TestMarkedJSONHasNothingElseChanged in strings and names.
func TestMarkedJSONHasNothingElseChanged(t *testing.T) {
	for in, want := range map[string]string{
		`{"a":1,"b":"ä\n\"q\" \u003c <"}`:           `{"a":1,"b":"ä\n\"q\" \u003c <"}`,
		`["a\u001b[31mb", "\u202e", "é"]`:           `["a<U+001B>[31mb", "<U+202E>", "é"]`,
		"{\"k\U000e0041\": \"\u200bv<\", \"n\": 2}": `{"k<U+E0041>": "<U+200B>v<", "n": 2}`,
		`"\\u202e"`: `"\\u202e"`,
		`"open`:     `"open`,
		`"é`:        `"é`,
		`"open\`:    `"open\`,
		`["\u202e"`: `["<U+202E>"`,
	} {
		if got := string(MarkJSON(slices.Clip([]byte(in)))); got != want {
			t.Errorf("MarkJSON(%s) = %s, want %s", in, got, want)
		}
	}
}

// TestEscapedJSONMeansTheSame and shows nothing hidden.
func TestEscapedJSONMeansTheSame(t *testing.T) {
	want := "a\u202eb\x1b[31m\U000e0041\ufe0f\u115f\ue000\U0010ffff\u00adé🙂\nend"
	text, err := json.MarshalIndent(want, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	escaped := EscapeJSON(text)
	var got string
	if err := json.Unmarshal(escaped, &got); err != nil || got != want {
		t.Errorf("%s: %q, %v", escaped, got, err)
	}
	if strings.ContainsFunc(string(escaped), Hidden) {
		t.Errorf("%q shows a hidden character", escaped)
	}
}
