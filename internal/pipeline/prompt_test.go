package pipeline

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ferrus-go/ferrus/internal/config/workflow"
	"github.com/ferrus-go/ferrus/test/golden"
)

func at(file string) string { return "/w/.ferrus/pipeline-tmp/research-180141/" + file }

// TestThePromptIsTheWholeContract: S0-07.
func TestThePromptIsTheWholeContract(t *testing.T) {
	t.Parallel()
	w := research(t)
	got := Prompt(w, "synthesizer", "FSA architecture", at)
	golden.Check(t, "testdata/synthesizer.txt", got)
	golden.Check(t, "testdata/researcher-a.txt", Prompt(w, "researcher-a", "FSA architecture", at))
	for _, no := range []string{"phase", "synthesis\"", "collect", "status.json", "final", "next"} {
		if strings.Contains(strings.ToLower(got), no) {
			t.Errorf("it speaks of %s", no)
		}
	}
	if first := Prompt(w, "researcher-a", "t", at); strings.Contains(first, "synthesizer") || strings.Contains(first, "researcher-b") {
		t.Errorf("it speaks of others:\n%s", first)
	}
	if Prompt(w, "nobody", "t", at) != "" {
		t.Error("a prompt for nobody")
	}
}

// TestATurnIsToldNoMoreThanThePath: S3-03.
func TestATurnIsToldNoMoreThanThePath(t *testing.T) {
	t.Parallel()
	got := TurnPrompt("architect-1", at(DialogueFile))
	golden.Check(t, "testdata/turn.txt", got)
	if long := TurnPrompt(strings.Repeat("r", workflow.MaxName), strings.Repeat("p", 400)); len(long) > 1024 {
		t.Errorf("%d bytes", len(long))
	}
}

// TestTheLoopOfForeignAgentsWaits: S4-02, C.10 23.
func TestTheLoopOfForeignAgentsWaits(t *testing.T) {
	t.Parallel()
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("no sh here")
	}
	dir := t.TempDir()
	there := filepath.Join(dir, "it's there.md")
	if out, err := exec.Command("touch", there).CombinedOutput(); err != nil {
		t.Fatalf("%s %v", out, err)
	}
	run := func(paths ...string) string {
		out, err := exec.Command(sh, "-c", "sleep() { :; }\n"+BashWait(paths)).CombinedOutput()
		if err != nil {
			t.Fatalf("%s %v", out, err)
		}
		return string(out)
	}
	if got := run(there, there); got != "INPUT_READY\n" {
		t.Errorf("got %q", got)
	}
	if got := run(); got != "INPUT_READY\n" {
		t.Errorf("got %q", got)
	}
	got := run(there, filepath.Join(dir, "not.md"))
	if !strings.HasPrefix(got, "Waiting... 1\n") || !strings.HasSuffix(got, "Waiting... 60\nTIMEOUT\n") {
		t.Errorf("got %q", got)
	}
}

// TestAPartialResultSaysSo: S4-11.
func TestAPartialResultSaysSo(t *testing.T) {
	t.Parallel()
	got := Partial("FSA\narchitecture", []Part{{"a", "\ntext of a\n\n"}, {"b", "text of b"}}, []string{"c", "d"})
	want := "> **PARTIAL**: nobody is left to finish this. Missing or incomplete: c, d.\n\n# FSA architecture\n\n## a\n\ntext of a\n\n## b\n\ntext of b\n"
	if got != want {
		t.Errorf("got %q", got)
	}
}
