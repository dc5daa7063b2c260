package safetext

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestCleanTextHoldsNothingATerminalObeys(t *testing.T) {
	for name, c := range map[string]struct{ in, want string }{
		"plain":                  {"ok\tfine\n", "ok\tfine\n"},
		"letters of all kinds":   {"héllo 世界 🙂 e\u0301", "héllo 世界 🙂 e\u0301"},
		"colour":                 {"\x1b[1;31mFAIL\x1b[0m x", "FAIL x"},
		"private CSI":            {"\x1b[?25lx\x1b[?25h", "x"},
		"CSI in 8 bits":          {"a\u009b31mb", "ab"},
		"CSI cut by a newline":   {"a\x1b[31\nb", "a\nb"},
		"CSI cut by a letter":    {"a\x1b[31éb", "aéb"},
		"CSI at the end":         {"a\x1b[", "a"},
		"clipboard by OSC 52":    {"a\x1b]52;c;ZXZpbA==\ab", "ab"},
		"link by OSC 8":          {"\x1b]8;;http://x\x1b\\text\x1b]8;;\x1b\\", "text"},
		"OSC in 8 bits":          {"a\u009d0;title\u009cb", "ab"},
		"OSC without an end":     {"a\x1b]0;title\nb", "a\nb"},
		"OSC cut by a CSI":       {"a\x1b]0;t\x1b[31mb", "ab"},
		"OSC cancelled":          {"a\x1b]0;t\x18b", "ab"},
		"DCS":                    {"a\x1bPq#0\x1b\\b", "ab"},
		"APC":                    {"a\x1b_G\x1b\\b", "ab"},
		"PM and SOS":             {"a\x1b^p\x1b\\b\x1bXs\x1b\\c", "abc"},
		"character set":          {"a\x1b(Bb", "ab"},
		"reverse index":          {"a\x1bMb", "ab"},
		"reset":                  {"a\x1bcb\x1b7c", "abc"},
		"lone escape":            {"a\x1b", "a"},
		"escape before a letter": {"a\x1béb", "aéb"},
		"control characters":     {"a\x00\a\b\v\f\r\x7fb\u0085c", "abc"},
		"bidi":                   {"a\u202eb\u2066c\u200fd\u061ce", "abcde"},
		"zero width":             {"a\u200bb\u200dc\ufeffd\u2060e", "abcde"},
		"tag characters":         {"a\U000e0041b", "ab"},
		"line separators":        {"a\u2028b\u2029c", "abc"},
		"invalid UTF-8":          {"a\xff\xc3(b", "a\ufffd\ufffd(b"},
		"raw 8 bit CSI":          {"a\x9b31mb", "a\ufffd31mb"},
		"introducer from pieces": {"\x1b\x1b[m[31m", "[31m"},
	} {
		if got := Clean(c.in); got != c.want {
			t.Errorf("%s: Clean(%q) = %q, want %q", name, c.in, got, c.want)
		}
	}
}

// evil is what no terminal and no reader should get, said once more in other words than the code's.
func evil(r rune) bool {
	return r < ' ' && r != '\n' && r != '\t' || 0x7f <= r && r <= 0x9f || unicode.Is(unicode.Bidi_Control, r) ||
		0x200b <= r && r <= 0x200f || r == 0x2028 || r == 0x2029 || r == 0xfeff || 0xe0000 <= r && r <= 0xe007f
}

func FuzzClean(f *testing.F) {
	for _, s := range []string{"", "a\x1b[31mb", "\x1b]8;;x\x1b\\", "\x1bP\u009c", "\xff\u202e", "\x1b(\x1b(", "\u009b\x9b"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := Clean(s)
		if !utf8.ValidString(got) {
			t.Fatalf("Clean(%q) = %q is not UTF-8", s, got)
		}
		if Clean(got) != got {
			t.Fatalf("Clean(%q) = %q is not clean", s, got)
		}
		if i := strings.IndexFunc(got, evil); i >= 0 {
			t.Fatalf("Clean(%q) = %q keeps a hidden character at %d", s, got, i)
		}
		if strings.Count(got, "\n") != strings.Count(s, "\n") {
			t.Fatalf("Clean(%q) = %q dropped a newline", s, got)
		}
	})
}
