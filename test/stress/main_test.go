package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestALuckyTestIsFound: a test that fails in some rounds is named with its rate, one that crashes too, and a run that goes on from its
// record runs neither again.
func TestALuckyTestIsFound(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	for name, text := range map[string]string{
		"go.mod":         "module m\n\ngo 1.24\n",
		"good/a_test.go": "package good\n\nimport \"testing\"\n\nfunc TestGood(t *testing.T) {}\n",
		"none/a.go":      "package none\n",
		"bad/a_test.go": `package bad

import (
	"os"
	"testing"
)

func TestSecondRound(t *testing.T) {
	f, err := os.OpenFile("rounds", os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	_, _ = f.WriteString("x")
	if text, _ := os.ReadFile("rounds"); len(text) == 2 {
		t.Error("the second")
	}
	if text, _ := os.ReadFile("rounds"); len(text) == 3 {
		os.Exit(3)
	}
}
`,
	} {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	was := forms
	forms = []form{{name: "plain", rounds: 4}}
	t.Cleanup(func() { forms = was })
	for try := range 2 {
		var out strings.Builder
		failed, err := run(t.Context(), &out, filepath.Join(dir, "out", "record"), 0, nil)
		if err != nil || !failed {
			t.Fatalf("failed %v, %v\n%s", failed, err, &out)
		}
		for _, want := range []string{"1 of 2 packages and forms passed", "m/bad  TestSecondRound  plain  1 of 4", "m/bad  (the program)  plain  1 of 4"} {
			if !strings.Contains(out.String(), want) {
				t.Errorf("try %d: no %q in\n%s", try, want, &out)
			}
		}
	}
	if rounds, err := os.ReadFile("bad/rounds"); string(rounds) != "xxxx" {
		t.Errorf("rounds %q, %v", rounds, err)
	}
	if saved, _ := filepath.Glob("out/m_bad-plain-*.txt"); len(saved) != 2 {
		t.Errorf("outputs: %q", saved)
	}
}

func TestFailuresAreNamedOnce(t *testing.T) {
	for out, want := range map[string][]string{
		"--- FAIL: TestA (0.1s)\n    --- FAIL: TestA/x (0s)\n--- FAIL: TestB\n--- FAIL: TestA (0.1s)\n": {"TestA", "TestB"},
		"panic: no\n": {"(the program)"},
	} {
		if got := failures([]byte(out)); !slices.Equal(got, want) {
			t.Errorf("%q: %q", out, got)
		}
	}
}
