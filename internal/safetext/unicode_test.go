package safetext

import (
	"encoding/json"
	"flag"
	"strings"
	"testing"
	"unicode"
)

var _ = flag.Bool("full", false, "as without it")

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

// TestNoCharacterOfUnicodeIsBothHiddenAndKept goes through the whole of Unicode.
func TestNoCharacterOfUnicodeIsBothHiddenAndKept(t *testing.T) {
	hidden := map[rune]bool{}
	for _, span := range defaultIgnorable {
		for r := span[0]; r <= span[1]; r++ {
			hidden[r] = true
		}
	}
	through := 0
	for r := rune(0); r <= unicode.MaxRune; r++ {
		want := hidden[r] || otherwiseUnseen(r)
		if Hidden(r) != want {
			t.Errorf("Hidden(%U) = %v", r, !want)
		}
		if !want {
			continue
		}
		text := "a" + string(r) + "b"
		clean, removed := Document(text)
		surrogate := 0xd800 <= r && r <= 0xdfff // string() makes U+FFFD of it
		if strings.ContainsRune(clean, r) || removed == 0 && !surrogate {
			through++
		}
	}
	if through != 0 {
		t.Errorf("%d hidden characters come through, or go unsaid", through)
	}
}

// TestTheWriterIsToldOfWhatMatters counts what was taken out of a document.
func TestTheWriterIsToldOfWhatMatters(t *testing.T) {
	for _, c := range []struct {
		in, want string
		removed  int
	}{
		{"a task\n\twith a tab\n", "a task\n\twith a tab\n", 0},
		{"\ufefffrom\r\nWindows\r\n", "from\nWindows\n", 0},
		{"⚠️ done ✅ 1️⃣", "⚠ done ✅ 1⃣", 0},
		{"👩‍👩‍👧 ❤️‍🔥 👍🏽", "👩👩👧 ❤🔥 👍🏽", 0},
		{"a\rb", "ab", 1},
		{"a\ufeffb", "ab", 1},
		{"👍\ufe0f\ufe0f\ufe0f\ufe0f", "👍", 2},
		{"x\ufe0f", "x", 1},
		{"می\u200cخواهم", "میخواهم", 1},
		{"a\x1b[31mb", "ab", 5},
		{"a\U000e0041\U000e0042b", "ab", 2},
		{"a\xffb", "a\ufffdb", 1},
	} {
		if got, n := Document(c.in); got != c.want || n != c.removed {
			t.Errorf("Document(%q) = %q, %d; want %q, %d", c.in, got, n, c.want, c.removed)
		}
	}
}

// TestCleanJSONChangesNothingButHiddenCharacters in strings and names.
func TestCleanJSONChangesNothingButHiddenCharacters(t *testing.T) {
	for in, want := range map[string]string{
		`{"a":1,"b":"ä\n\"q\" \u003c <"}`:           `{"a":1,"b":"ä\n\"q\" \u003c <"}`,
		`["a\u001b[31mb", "\u202e", "é"]`:           `["ab", "", "é"]`,
		"{\"k\U000e0041\": \"\u200bv<\", \"n\": 2}": `{"k": "v<", "n": 2}`,
		`"\\u202e"`: `"\\u202e"`,
		`"open`:     `"open`,
	} {
		if got := string(CleanJSON([]byte(in))); got != want {
			t.Errorf("CleanJSON(%s) = %s, want %s", in, got, want)
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
