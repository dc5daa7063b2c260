package proc

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestAProgramOfTheProjectIsNotFound, wherever in it one stands; the person's is.
func TestAProgramOfTheProjectIsNotFound(t *testing.T) {
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"home/bin", "home/p/.git", "home/p/.ferrus/worktrees/b/pkg", "home/p/bin", "home/p/inner/.git", "home/mono/.git", "home/mono/pkg/.ferrus", "home/mono/bin"} {
		if err := os.MkdirAll(filepath.Join(top, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"home/bin/tool.exe", "home/p/bin/tool.exe", "home/mono/bin/tool.exe"} {
		if err := os.WriteFile(filepath.Join(top, name), nil, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Join(top, "home/p/bin"), filepath.Join(top, "home/link")); err != nil {
		t.Skip(err)
	}
	list := func(dirs ...string) string {
		for i, dir := range dirs {
			if dirs[i] = filepath.FromSlash(dir); strings.HasPrefix(dir, "home") {
				dirs[i] = filepath.Join(top, dir)
			}
		}
		return strings.Join(dirs, string(filepath.ListSeparator))
	}
	path := list("", ".", "bin", "./bin", "home/p/bin", "home/link", "home/p/inner/../bin", "home/mono/bin", "home/bin")
	for from, want := range map[string]string{
		"home/p": "home/mono/bin", "home/p/.ferrus/worktrees/b/pkg": "home/mono/bin", "home/p/inner": "home/mono/bin",
		"home/mono/pkg": "home/p/bin", "home": "home/p/bin",
	} {
		t.Chdir(filepath.Join(top, from))
		not := WorkTree(filepath.Join(top, from))
		got, err := LookPath("tool.exe", path, not)
		if from == "home" {
			not = filepath.Join(top, "home")
			if p, err := LookPath("tool.exe", path, not); err == nil {
				t.Errorf("below %s it finds %s", not, p)
			}
			continue
		}
		if want = filepath.Join(top, want, "tool.exe"); err != nil || got != want {
			t.Errorf("from %s it finds %q, not %q: %v", from, got, want, err)
		}
		cleaned := Outside([]string{"A=b", "PATH=" + path}, not)
		if again, err := LookPath("tool.exe", strings.TrimPrefix(cleaned[1], "PATH="), ""); err != nil || again != want {
			t.Errorf("from %s the PATH without the project finds %q: %v", from, again, err)
		}
	}
}
