//go:build unix

package tools

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/test/kit"
)

// TestAReviewingAgentReadsEveryHiddenCharacterAsAMark, in the result and in the patch that it names. A notice names the files and the
// characters, and the patch for git is named beside it, to the byte.
func TestAReviewingAgentReadsEveryHiddenCharacterAsAMark(t *testing.T) {
	t.Parallel()
	w := repository(t, "")
	sup, exe := w.enter(state.Supervisor, 1), w.enter(state.Executor, 1)
	sup.do("create_task", nil)
	exe.do("wait_for_task", nil)
	every := kit.HiddenText()
	text := strings.ReplaceAll(every, "\x00", "")
	names := kit.HiddenNames()
	w.write("every.go", every)
	for _, name := range names {
		w.write(name, "x\n")
	}
	message := filepath.Join(t.TempDir(), "message")
	if err := os.WriteFile(message, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"add", "-A"}, {"-c", "user.name=x", "-c", "user.email=x@y", "commit", "-q", "--cleanup=verbatim", "-F", message}} {
		if out, err := exec.Command("git", append([]string{"-C", w.dir}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	exe.do("progress", map[string]any{"note": text[:2000]})
	exe.do("submit", map[string]any{"summary": text, "verification": "v"})
	for _, tool := range []string{"review_pending", "wait_for_review"} {
		r := sup.do(tool, nil)
		answer, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		if raw, _ := kit.Unmarked(string(answer)); len(raw) > 0 {
			t.Errorf("%s sends %U raw", tool, raw)
		}
		if raw, dropped := kit.Unmarked(r.Submission); len(raw) > 0 || len(dropped) != 1 { // NUL was not sent
			t.Errorf("the submission has %U raw, and %U not at all", raw, dropped)
		}
		shown := contents(t, r.Patch)
		if raw, dropped := kit.Unmarked(shown); len(raw) > 0 || len(dropped) > 0 {
			t.Errorf("the patch shows %U raw, and %U not at all", raw, dropped)
		}
		var heads strings.Builder
		for line := range strings.Lines(shown) {
			if strings.HasPrefix(line, "+++ ") {
				heads.WriteString(line)
			}
		}
		if _, dropped := kit.Unmarked(heads.String()); len(dropped) > 33 { // git itself escapes those of ASCII, and NUL is in no name
			t.Errorf("the names in the patch lack %U", dropped)
		}
		if !slices.ContainsFunc(r.Notices, func(n string) bool {
			return strings.HasPrefix(n, "hidden: ") && strings.Contains(n, "U+0000") && strings.Contains(n, " more")
		}) {
			t.Errorf("no notice names them: %q", r.Notices)
		}
		apply := exec.Command("git", "-C", w.dir, "apply", "--reverse", "--check", "--whitespace=nowarn", r.PatchExact)
		if out, err := apply.CombinedOutput(); err != nil {
			t.Errorf("git does not take the exact patch %s: %v\n%s", r.PatchExact, err, out)
		}
	}
	// Work without any has one patch, and no notice but that of the commit above.
	sup.do("reject", nil)
	exe.do("wait_for_task", nil)
	for _, name := range append(names, "every.go") {
		w.remove(name)
	}
	w.write("plain.go", "package plain // größe ⚠️\r\n")
	exe.do("submit", nil)
	if r := sup.do("review_pending", nil); r.PatchExact != "" || len(r.Notices) > 1 || strings.Contains(strings.Join(r.Notices, ""), "hidden: ") || !strings.Contains(contents(t, r.Patch), "⚠️\r\n") {
		t.Errorf("%q %q %q", r.Notices, r.Patch, r.PatchExact)
	}
}

func contents(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
