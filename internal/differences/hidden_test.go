package differences_test

import (
	"flag"
	"io"
	"strings"
	"testing"

	"github.com/ferrus-go/ferrus/internal/differences"
)

var _ = flag.Bool("full", false, "changes nothing here") // all rigs have it

// patchOf is a patch of one new file, its lines as git writes them.
func patchOf(lines ...string) string {
	return "diff --git a/f b/f\nnew file mode 100644\n--- /dev/null\n+++ b/f\n@@ -0,0 +1,9 @@\n+" + strings.Join(lines, "\n+") + "\n"
}

// TestNoLineIsTakenForAHeader: a line that is read in pieces begins with its sign in the first one only.
func TestNoLineIsTakenForAHeader(t *testing.T) {
	text := patchOf(strings.Repeat("diff --git a/x b/x ", 1<<17), "a\u202eb")
	for size := 1 << 20; size < 1<<20+19; size++ { // each place in the line where a piece can end
		var h differences.Hidden
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
