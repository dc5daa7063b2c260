package safetext

import (
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"testing/iotest"
	"unicode"
	"unicode/utf8"
)

func TestNothingThatATerminalObeysIsShownOrDropped(t *testing.T) {
	for name, c := range map[string]struct{ in, want string }{
		"plain":                  {"ok\tfine\n", "ok\tfine\n"},
		"letters of all kinds":   {"héllo 世界 🙂 e\u0301", "héllo 世界 🙂 e\u0301"},
		"colour":                 {"\x1b[1;31mFAIL\x1b[0m x", "<U+001B>[1;31mFAIL<U+001B>[0m x"},
		"CSI in 8 bits":          {"a\u009b31mb", "a<U+009B>31mb"},
		"CSI at the end":         {"a\x1b[", "a<U+001B>["},
		"clipboard by OSC 52":    {"a\x1b]52;c;ZXZpbA==\ab", "a<U+001B>]52;c;ZXZpbA==<U+0007>b"},
		"link by OSC 8":          {"\x1b]8;;http://x\x1b\\text", "<U+001B>]8;;http://x<U+001B>\\text"},
		"OSC without an end":     {"a\x1b]0;title\nb", "a<U+001B>]0;title\nb"},
		"lone escape":            {"a\x1b", "a<U+001B>"},
		"control characters":     {"a\x00\x7f\u0085c", "a<U+0000><U+007F><U+0085>c"},
		"a line is written over": {"evil\rgood", "evil<U+000D>good"},
		"bidi":                   {"a\u202eb\u2066c\u200fd\u061ce", "a<U+202E>b<U+2066>c<U+200F>d<U+061C>e"},
		"zero width":             {"a\u200bb\u200dc\ufeffd\u2060e", "a<U+200B>b<U+200D>c<U+FEFF>d<U+2060>e"},
		"tag characters":         {"a\U000e0041b", "a<U+E0041>b"},
		"line separators":        {"a\u2028b\u2029c", "a<U+2028>b<U+2029>c"},
		"invalid UTF-8":          {"a\xff\xc3(b", "a<0xFF><0xC3>(b"},
		"raw 8 bit CSI":          {"a\x9b31mb", "a<0x9B>31mb"},
		"a mark in the text":     {"<U+202E>", "<U+202E>"},
	} {
		if got := Mark(c.in); got != c.want {
			t.Errorf("%s: Mark(%q) = %q, want %q", name, c.in, got, c.want)
		}
		if got := Clean(c.in); got != c.want {
			t.Errorf("%s: Clean(%q) = %q, want %q", name, c.in, got, c.want)
		}
	}
}

// TestWhatDrawsIsMarkedInAFileAndLeftOutOfADocument: the four kinds that change nothing that is read, and what looks like them.
func TestWhatDrawsIsMarkedInAFileAndLeftOutOfADocument(t *testing.T) {
	for _, c := range []struct {
		in, mark, document string
		marks              int
	}{
		{"\ufefffrom\r\nWindows\r\n", "<U+FEFF>from<U+000D>\nWindows<U+000D>\n", "from\nWindows\n", 0},
		{"⚠️ 1️⃣", "⚠<U+FE0F> 1<U+FE0F>⃣", "⚠ 1⃣", 0},
		{"👩🏽‍💻 ❤️‍🔥", "👩🏽<U+200D>💻 ❤<U+FE0F><U+200D>🔥", "👩🏽💻 ❤🔥", 0},
		{"©\ufe0f®\ufe0f‼\ufe0f⁉\ufe0f", "©<U+FE0F>®<U+FE0F>‼<U+FE0F>⁉<U+FE0F>", "©®‼⁉", 0},
		{"×\ufe0f¿\ufe0f", "×<U+FE0F>¿<U+FE0F>", "×<U+FE0F>¿<U+FE0F>", 2},
		{"#\ufe0e⃣", "#<U+FE0E>⃣", "#⃣", 0},
		{"a\ufeff", "a<U+FEFF>", "a<U+FEFF>", 1},
		{"a\rb", "a<U+000D>b", "a<U+000D>b", 1},
		{"a\ufeffb", "a<U+FEFF>b", "a<U+FEFF>b", 1},
		{"👍\ufe0f\ufe0f", "👍<U+FE0F><U+FE0F>", "👍<U+FE0F>", 1},
		{"👍\u200dx", "👍<U+200D>x", "👍<U+200D>x", 1},
		{"∧\u200d∧", "∧<U+200D>∧", "∧<U+200D>∧", 1},
		{"1\ufe0f", "1<U+FE0F>", "1<U+FE0F>", 1},
		{"a+\u200db", "a+<U+200D>b", "a+<U+200D>b", 1},
		{"x\ufe0f", "x<U+FE0F>", "x<U+FE0F>", 1},
		{"می\u200cخواهم", "می<U+200C>خواهم", "می<U+200C>خواهم", 1},
		{"a\xffb\ufffd", "a<0xFF>b\ufffd", "a<0xFF>b\ufffd", 1},
	} {
		if got := Mark(c.in); got != c.mark {
			t.Errorf("Mark(%q) = %q, want %q", c.in, got, c.mark)
		}
		if got, n := Document(c.in); got != c.document || n != c.marks {
			t.Errorf("Document(%q) = %q, %d; want %q, %d", c.in, got, n, c.document, c.marks)
		}
		tally := Tally{}
		if tally.Add(c.in); len(tally) != min(c.marks, 1) || Blank(c.in) {
			t.Errorf("of %q count %v, want %d", c.in, tally, c.marks)
		}
	}
}

// TestATextOfWhatNobodySeesIsBlank, and one that is cut anywhere is marked as the whole is.
func TestATextOfWhatNobodySeesIsBlank(t *testing.T) {
	for text, want := range map[string]bool{"": true, " \n\t": true, "\u200b \u202e": true, "\ufeff": true, "\u200ba": false, "\xff": true, " é ": false} {
		if Blank(text) != want {
			t.Errorf("Blank(%q) = %v", text, !want)
		}
	}
	for in, want := range map[string]int{"": 0, "a": 1, "aé": 3, "a\xc3": 1, "a\xe2\x80": 1, "a\xf0\x9f\x98": 1, "a\x80\x80\x80": 4, "a\xff": 2, "\xe2\x80\xae": 3} {
		if got := Whole([]byte(in)); got != want {
			t.Errorf("Whole(%q) = %d, not %d", in, got, want)
		}
	}
	long := strings.Repeat("x", 64<<10-2) + "\u202e" + strings.Repeat("y", 64<<10-3) + "\xe2\x80"
	var b strings.Builder
	if err := Copy(&b, iotest.DataErrReader(strings.NewReader(long))); err != nil || b.String() != Mark(long) {
		t.Errorf("%v: %d bytes, not %d", err, b.Len(), len(Mark(long)))
	}
	if err := Copy(io.Discard, iotest.ErrReader(os.ErrClosed)); !errors.Is(err, os.ErrClosed) {
		t.Errorf("it cannot be read: %v", err)
	}
	if err := Copy(full{}, strings.NewReader("x")); !errors.Is(err, io.ErrShortWrite) {
		t.Errorf("it cannot be written: %v", err)
	}
}

// A full writer takes nothing.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, io.ErrShortWrite }

// TestOutputHasNoColours, and its other sequences stay to be seen.
func TestOutputHasNoColours(t *testing.T) {
	for in, want := range map[string]string{
		"plain\tö\n":                        "plain\tö\n",
		"\x1b[1;31mFAIL\x1b[0m\x1b[m x\r\n": "FAIL x\n",
		"\x1b[38:5:1mred":                   "red",
		"10%\x1b[K\r20%\x1b[2Jm":            "10%<U+001B>[K<U+000D>20%<U+001B>[2Jm",
		"\x1b[31":                           "<U+001B>[31",
		"\x1b\x1b[m[31m":                    "<U+001B>[31m",
		"\u009b31m\u202e":                   "<U+009B>31m<U+202E>",
	} {
		if got := Output(in); got != want || Output(got) != got {
			t.Errorf("Output(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestATallyNamesAFewInTheirOrder(t *testing.T) {
	tally := Tally{}
	for _, text := range []string{"\u202e\u2066", "\u202ea\xff\U000e0041\x1b"} {
		tally.Add(text)
	}
	if got, want := tally.String(), "U+001B, U+202E (2 times), U+2066, U+E0041, 0xFF"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	for r := rune(0x80); r < 0x90; r++ {
		tally.Add("x" + string(r))
	}
	if got := tally.String(); !strings.HasSuffix(got, "and 9 more") || strings.Count(got, ",") != maxNames {
		t.Error(got)
	}
}

// evil is what no terminal and no reader should get, said once more in other words than the code's.
func evil(r rune) bool {
	return r < ' ' && r != '\n' && r != '\t' || 0x7f <= r && r <= 0x9f || unicode.Is(unicode.Bidi_Control, r) ||
		0x200b <= r && r <= 0x200f || r == 0x2028 || r == 0x2029 || r == 0xfeff || 0xe0000 <= r && r <= 0xe007f
}

func FuzzClean(f *testing.F) {
	for _, s := range []string{"", "a\x1b[31mb", "\x1b]8;;x\x1b\\", "\x1bP\u009c", "\xff\u202e", "\x1b(\x1b(", "\u009b\x9b", "👍\ufe0f\u200d👍", "\ufeff\r\r\n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for name, show := range map[string]func(string) string{"Clean": Clean, "Mark": Mark} {
			got := show(s)
			if !utf8.ValidString(got) {
				t.Fatalf("%s(%q) = %q is not UTF-8", name, s, got)
			}
			if show(got) != got {
				t.Fatalf("%s(%q) = %q is not clean", name, s, got)
			}
			if i := strings.IndexFunc(got, evil); i >= 0 {
				t.Fatalf("%s(%q) = %q shows a hidden character at %d", name, s, got, i)
			}
			if strings.Count(got, "\n") != strings.Count(s, "\n") {
				t.Fatalf("%s(%q) = %q dropped a newline", name, s, got)
			}
		}
	})
}
