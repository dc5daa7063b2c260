package worktree_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What git's marks hide is named to readers of the patch; what was there before is not.
func TestWhatAPatchDoesNotShowIsNamed(t *testing.T) {
	tests := []struct {
		name   string
		change func(t *testing.T, dir string)
		want   string // in the only line; "" for none
		counts bool   // the change is in the patch
	}{
		{"nothing", func(t *testing.T, dir string) {}, "", false},
		{"an edit", func(t *testing.T, dir string) { write(t, dir, "a.txt", "b\n") }, "", true},
		{"a file that was ignored before", func(t *testing.T, dir string) { write(t, dir, "build/x", "x") }, "", false},
		{"a new rule", func(t *testing.T, dir string) {
			write(t, dir, ".gitignore", "*.o\n/build/\n*.evil\n")
			write(t, dir, "src/x.evil", "x")
		}, "by .gitignore:3: src/x.evil", true},
		{"a folder that ignores itself", func(t *testing.T, dir string) {
			write(t, dir, "pkg/.gitignore", "*\n")
			write(t, dir, "pkg/evil.go", "package evil\n")
		}, "by pkg/.gitignore:1: pkg/", false},
		{"info/exclude", func(t *testing.T, dir string) {
			write(t, dir, ".git/info/exclude", "evil\n")
			write(t, dir, "evil", "x")
		}, "info/exclude changed", true},
		{"core.excludesFile", func(t *testing.T, dir string) {
			write(t, dir, ".git/hidden", "evil\n")
			runGit(t, dir, "config", "core.excludesFile", filepath.Join(dir, ".git/hidden"))
			write(t, dir, "evil", "x")
		}, "git configuration changed|file of core.excludesFile changed", true},
		{"the person's excludes", func(t *testing.T, dir string) {
			write(t, os.Getenv("XDG_CONFIG_HOME"), "git/ignore", "evil\n")
			write(t, dir, "evil", "x")
		}, "file of core.excludesFile changed", true},
		{"a clean filter in the person's files", func(t *testing.T, dir string) {
			write(t, os.Getenv("XDG_CONFIG_HOME"), "git/attributes", "* filter=evil\n")
			write(t, os.Getenv("XDG_CONFIG_HOME"), "git/config", "[filter \"evil\"]\n\tclean = echo harmless\n")
			write(t, dir, "a.txt", "evil\n")
		}, "file of core.attributesFile changed", true},
		{"a clean filter in info/attributes", func(t *testing.T, dir string) {
			runGit(t, dir, "config", "filter.evil.clean", "echo harmless")
			write(t, dir, ".git/info/attributes", "* filter=evil\n")
			write(t, dir, "a.txt", "evil\n")
		}, "git configuration changed|info/attributes changed", true},
		{"a branch that follows another", func(t *testing.T, dir string) { runGit(t, dir, "config", "branch.main.merge", "refs/heads/x") }, "", false},
		{"core.fileMode", func(t *testing.T, dir string) {
			runGit(t, dir, "config", "core.fileMode", "false")
			if err := os.Chmod(filepath.Join(dir, "a.txt"), 0o755); err != nil {
				t.Fatal(err)
			}
		}, "git configuration changed", true},
		{"ident", func(t *testing.T, dir string) {
			write(t, dir, ".gitattributes", "src/* ident\n")
			write(t, dir, "src/b.go", "package b // $Id: evil()$\n")
		}, "", true},
		{"a file that is off the disk", func(t *testing.T, dir string) {
			runGit(t, dir, "update-index", "--skip-worktree", "a.txt")
			remove(t, dir, "a.txt")
		}, "not on disk, and counted as unchanged", false},
		{"a repository without a commit", func(t *testing.T, dir string) { embed(t, dir, "sub", false) }, "sub has no commit", false},
		{"a repository with a commit", func(t *testing.T, dir string) { embed(t, dir, "sub", true) }, "sub is at another commit", true},
		{"a repository with a commit and more", func(t *testing.T, dir string) {
			embed(t, dir, "sub", true)
			write(t, dir, "sub/x", "changed")
			write(t, dir, "sub/new", "new")
		}, "sub is at another commit|sub differs from its commit in 2 files", true},
	}
	bad := 0
	for _, tt := range tests {
		ok := t.Run(tt.name, func(t *testing.T) {
			t.Setenv("XDG_CONFIG_HOME", t.TempDir())
			dir := committed(t)
			tree := open(t, dir)
			base := fingerprint(t, tree)
			tt.change(t, dir)
			tree = open(t, dir) // as another process has it
			now := fingerprint(t, tree)
			if (now != base) != tt.counts {
				t.Errorf("counts = %v, want %v", now != base, tt.counts)
			}
			lines, err := tree.Unseen(t.Context(), base, now, true)
			if err != nil {
				t.Fatal(err)
			}
			var want []string
			if tt.want != "" {
				want = strings.Split(tt.want, "|")
			}
			if len(lines) != len(want) {
				t.Fatalf("lines: %q", lines)
			}
			for i := range want {
				if !strings.Contains(lines[i], want[i]) {
					t.Errorf("%q, want %q", lines[i], want[i])
				}
			}
		})
		if !ok {
			bad++
		}
	}
	t.Logf("rig: cases=%d bad=%d", len(tests), bad)
}

// A file that is declared binary, or has a byte that makes git take it for one, is shown by its lines.
func TestAPatchShowsEveryFileAsText(t *testing.T) {
	t.Parallel()
	for name, attributes := range map[string]string{"declared": "*.go binary\n", "no diff": "*.go -diff\n", "a zero byte": ""} {
		dir := committed(t)
		tree := open(t, dir)
		base := fingerprint(t, tree)
		if attributes != "" {
			write(t, dir, ".gitattributes", attributes)
		}
		text := "package b\n\nfunc evil() {}\n"
		if attributes == "" {
			text += "// \x00\n"
		}
		write(t, dir, "src/b.go", text)
		now := fingerprint(t, tree)
		var patch strings.Builder
		if err := tree.Patch(t.Context(), base, now, &patch); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(patch.String(), "+func evil() {}\n") {
			t.Errorf("%s:\n%s", name, patch.String())
		}
		stat, err := tree.Diffstat(t.Context(), base, now)
		if err != nil || strings.Contains(stat, "Bin") {
			t.Errorf("%s: %v\n%s", name, err, stat)
		}
		if size, err := tree.Size(t.Context(), base, now); err != nil || size.Added < 2 {
			t.Errorf("%s: %+v, %v", name, size, err)
		}
	}
}

func TestAHugeBinaryFileIsBounded(t *testing.T) {
	t.Parallel()
	dir := committed(t)
	tree := open(t, dir)
	base := fingerprint(t, tree)
	write(t, dir, "image", "\x00"+strings.Repeat("a", 2<<20))
	write(t, dir, ".gitattributes", "long binary\n")
	write(t, dir, "long", strings.Repeat("a line\n", 300_000))
	write(t, dir, "a.txt", "b\n")
	var patch strings.Builder
	if err := tree.Patch(t.Context(), base, fingerprint(t, tree), &patch); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"GIT binary patch", "+a line\n", "+b\n"} {
		if !strings.Contains(patch.String(), want) {
			t.Errorf("no %q", want)
		}
	}
	if strings.Contains(patch.String(), "+\x00aaaa") {
		t.Error("the image is shown as text")
	}
}
