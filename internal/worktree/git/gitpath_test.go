package git_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ferrus-go/ferrus/internal/worktree/git"
)

// odd are texts with characters that mean something in files of git.
var odd = []string{"plain", `back\slash`, `a "quote"`, "a\ttab", " spaces ", "# ; = [", "naïve", `\n`, "carriage\rreturn", "\b\x01"}

// TestGitReadsAValueAsItWas, and the name of a subsection, from a configuration file.
func TestGitReadsAValueAsItWas(t *testing.T) {
	for _, text := range append(odd, "two\nlines", "") {
		if said := listed(t, `[section "name"]`+"\n\tkey = "+git.ConfigQuoted(text)+"\n"); said != "section.name.key\n"+text+"\x00" {
			t.Errorf("the value %q is read as %q", text, said)
		}
	}
	for _, text := range odd {
		if said := listed(t, "[section "+git.ConfigQuoted(text)+"]\n\tkey = value\n"); said != "section."+text+".key\nvalue\x00" {
			t.Errorf("the subsection %q is read as %q", text, said)
		}
	}
}

// listed has git list a configuration file.
func listed(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "config")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("git", "config", "--file", file, "--list", "-z").Output()
	if err != nil {
		t.Fatal(text, err)
	}
	return string(out)
}

// TestGitReadsAnAlternateAsItWas: the folder of objects has an odd name.
func TestGitReadsAnAlternateAsItWas(t *testing.T) {
	for _, text := range append(odd, "two\nlines", "a:b") {
		from, to := filepath.Join(t.TempDir(), text), t.TempDir()
		run := func(dir string, args ...string) string {
			cmd := exec.Command("git", args...)
			cmd.Dir, cmd.Stdin = dir, strings.NewReader("content")
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Fatalf("%q: git %v: %v: %s", text, args, err, out)
			}
			return strings.TrimSpace(string(out))
		}
		if err := os.Mkdir(from, 0o700); err != nil {
			t.Logf("this system has no folder %q: %v", text, err)
			continue
		}
		run(from, "init", "-q")
		run(to, "init", "-q")
		list := git.Quoted(filepath.Join(from, ".git", "objects")) + "\n"
		if err := os.WriteFile(filepath.Join(to, ".git", "objects", "info", "alternates"), []byte(list), 0o600); err != nil {
			t.Fatal(err)
		}
		run(to, "cat-file", "-e", run(from, "hash-object", "-w", "--stdin"))
	}
}
