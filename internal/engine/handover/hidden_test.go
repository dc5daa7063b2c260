package handover_test

import (
	"io"
	"strings"
	"testing"

	"github.com/ferrus-go/ferrus/internal/engine/handover"
)

// patchOf is a patch of one new file, its lines as git writes them.
func patchOf(lines ...string) string {
	return "diff --git a/f b/f\nnew file mode 100644\n--- /dev/null\n+++ b/f\n@@ -0,0 +1,9 @@\n+" + strings.Join(lines, "\n+") + "\n"
}

// TestNoLineIsTakenForAHeader: a line that is read in pieces begins with its sign in the first one only.
func TestNoLineIsTakenForAHeader(t *testing.T) {
	text := patchOf(strings.Repeat("diff --git a/x b/x ", 1<<17), "a\u202eb")
	for size := 1 << 20; size < 1<<20+19; size++ { // each place in the line where a piece can end
		var h handover.Hidden
		for rest := text; rest != ""; {
			n := min(size, len(rest))
			io.WriteString(&h, rest[:n])
			rest = rest[n:]
		}
		if got := h.Notice(); !strings.HasSuffix(got, ": f has U+202E") {
			t.Errorf("written by %d bytes: %q", size, got)
		}
	}
}

// TestWhatOnlyDrawsMakesNoNotice: texts of Windows begin with a byte order mark.
func TestWhatOnlyDrawsMakesNoNotice(t *testing.T) {
	const header = "diff --git a/f b/f\n--- a/f\n+++ b/f\n"
	for text, want := range map[string]string{
		patchOf("\ufeffpackage f\r", "⚠️\r"):                                   "",
		header + "@@ -1,2 +1,2 @@\n-\ufeffold\n+\ufeffnew\n same\n":            "",
		header + "@@ -1 +1 @@\n-\ufeffold\n+new\n":                             "",
		header + "@@ -1,2 +1,3 @@\n \ufeffsame\n+new\n":                        "",
		patchOf("package f", "\ufeffx"):                                        "U+FEFF",
		patchOf("x\ufeff"):                                                     "U+FEFF",
		patchOf("\ufeff\ufeffx"):                                               "U+FEFF",
		header + "@@ -1,2 +1,3 @@\n same\n+\ufeffnew\n":                        "U+FEFF",
		header + "@@ -7,2 +7,2 @@ f\n-\ufeffold\n+\ufeffnew\n":                 "U+FEFF (2 times)",
		header + "@@ -1 +1 @@\n-a\n+b\n@@ -10 +10 @@ f\n-old\n+\ufeffnew\n":    "U+FEFF",
		header + "@@ -10,0 +1,2 @@\n+\ufeffnew\n+\ufeffnew\n":                  "U+FEFF",
		header + "@@ -1,2 +10,2 @@\n-\ufeffold\n+\ufeffnew\n":                  "U+FEFF",
		header + "@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+\ufeffnew\n": "",
	} {
		var h handover.Hidden
		io.WriteString(&h, text)
		got := h.Notice()
		if want != "" {
			want = ": f has " + want
		}
		if !strings.HasSuffix(got, want) || want == "" && got != "" {
			t.Errorf("of %q: %q, want %q", text, got, want)
		}
	}
}
