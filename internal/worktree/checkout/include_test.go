package checkout_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrus-go/ferrus/internal/worktree"
	"github.com/ferrus-go/ferrus/internal/worktree/checkout"
	"github.com/ferrus-go/ferrus/internal/worktree/worktreetest"
)

// must fails the test for an error.
func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// ignoring is a repository that ignores all files whose names begin with "i", and what is named in it.
func ignoring(t *testing.T, patterns string) (dir string, tree *worktree.Tree) {
	dir = worktreetest.Committed(t)
	worktreetest.Write(t, dir, ".git/info/exclude", "i*\n/.ferrus/\n")
	worktreetest.Write(t, dir, checkout.IncludeFile, patterns)
	return dir, worktreetest.Open(t, dir)
}

// TestWhatThePatternsOfACloneName: files that git ignores and tracks not, which lie in the work tree itself and are no larger than the limits.
func TestWhatThePatternsOfACloneName(t *testing.T) {
	dir, tree := ignoring(t, "# all\n*\n!i-not\n/i.env\nmissing.env\nconf/missing\n")
	for name, text := range map[string]string{"i.env": "1", "i-not": "2", "sub/i.json": "3", "i dir/Ä": "4", "plain": "5", "i[x]": "6", "i-repo/i.env": "7",
		"i-wt/.git": "gitdir: nowhere\n", "i-wt/i.env": "8", "i-proj/.ferrus/tokens.json": "9", "i\x1bname": "10", ".ferrus/i.env": "11"} {
		worktreetest.Write(t, dir, name, text)
	}
	worktreetest.RunGit(t, dir, "init", "-q", filepath.Join(dir, "i-repo"))
	for name, to := range map[string]string{"i-link": "/etc/passwd", "i-folder": "..", "i-broken": "nowhere"} {
		must(t, os.Symlink(to, filepath.Join(dir, name)))
	}
	must(t, os.WriteFile(filepath.Join(dir, "i-large"), nil, 0o600))
	must(t, os.Truncate(filepath.Join(dir, "i-large"), 17<<20))
	l, err := checkout.FindIncluded(t.Context(), tree)
	must(t, err)
	if diff := cmp.Diff([]string{"i dir/Ä", "i.env", "i[x]", "sub/i.json"}, l.Names()); diff != "" {
		t.Error(diff)
	}
	left := strings.Join(l.LeftOut, "\n")
	for _, want := range []string{"i-link: a link", "i-folder: a link", "i-broken: a link", "i-large: larger than 16 MiB", "i-repo/: a repository of its own",
		"i-wt/i.env: in a repository of its own", `"i\x1bname": a name with characters`} {
		if !strings.Contains(left, want) {
			t.Errorf("%q is not in\n%s", want, left)
		}
	}
	if diff := cmp.Diff([]string{"missing.env", "conf/missing"}, l.Missing); diff != "" {
		t.Error(diff)
	}
}

// TestPatternsThatAreNotUsed: the file is read as it lies there, and what it matches must be few.
func TestPatternsThatAreNotUsed(t *testing.T) {
	for name, c := range map[string]struct {
		make func(t *testing.T, dir string)
		want string
	}{
		"none": {func(t *testing.T, dir string) { must(t, os.Remove(filepath.Join(dir, checkout.IncludeFile))) }, ""},
		"a link": {func(t *testing.T, dir string) {
			must(t, os.Remove(filepath.Join(dir, checkout.IncludeFile)))
			must(t, os.Symlink("/etc/hosts", filepath.Join(dir, checkout.IncludeFile)))
		}, "link"},
		"a folder": {func(t *testing.T, dir string) {
			must(t, os.Remove(filepath.Join(dir, checkout.IncludeFile)))
			must(t, os.Mkdir(filepath.Join(dir, checkout.IncludeFile), 0o755))
		}, "folder"},
		"too large": {func(t *testing.T, dir string) { must(t, os.Truncate(filepath.Join(dir, checkout.IncludeFile), 2<<20)) }, "too large"},
		"too many": {func(t *testing.T, dir string) {
			for i := range 501 {
				worktreetest.Write(t, dir, "i/"+strings.Repeat("x", i%100+1)+strings.Repeat("y", i/100+1), "")
			}
		}, "matches 502 files, and ferrus copies at most 500"},
	} {
		t.Run(name, func(t *testing.T) {
			dir, tree := ignoring(t, "*\n")
			worktreetest.Write(t, dir, "i.env", "")
			c.make(t, dir)
			l, err := checkout.FindIncluded(t.Context(), tree)
			must(t, err)
			if got := strings.Join(l.LeftOut, "\n"); len(l.Files) > 0 || !strings.Contains(got, c.want) || (c.want == "") != (got == "") {
				t.Errorf("%v, %q", l.Names(), got)
			}
		})
	}
}

// TestNothingIsCopiedThroughALink: neither where a file is taken from nor where it goes, whatever has changed since the files were listed.
func TestNothingIsCopiedThroughALink(t *testing.T) {
	base := t.TempDir()
	from, to, out := filepath.Join(base, "from"), filepath.Join(base, "to"), filepath.Join(base, "out")
	for _, name := range []string{"from/a", "from/was/file", "from/dir/file", "from/large", "to/a", "out/file"} {
		worktreetest.Write(t, base, name, name)
	}
	must(t, os.Chmod(filepath.Join(from, "dir", "file"), 0o754))
	must(t, os.Symlink(filepath.Join(out, "file"), filepath.Join(from, "link")))
	must(t, os.RemoveAll(filepath.Join(from, "was")))
	must(t, os.Symlink(out, filepath.Join(from, "was")))
	must(t, os.Mkdir(filepath.Join(from, "into"), 0o755))
	worktreetest.Write(t, from, "into/file", "secret")
	must(t, os.Symlink(out, filepath.Join(to, "into")))
	must(t, os.Truncate(filepath.Join(from, "large"), 17<<20))
	var files []checkout.IncludedFile
	names := []string{"a", "link", "was/file", "dir/file", "into/file", "large", "gone", "../out/file"}
	for _, name := range names {
		files = append(files, checkout.IncludedFile{Name: name})
	}
	left, err := checkout.CopyIncluded(files, from, to)
	must(t, err)
	if len(left) != len(names)-1 {
		t.Errorf("left: %q", left)
	}
	info, err := os.Stat(filepath.Join(to, "dir", "file"))
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("%v, %v", info, err)
	}
	must(t, os.Remove(filepath.Join(to, "into")))
	if there := worktreetest.Inventory(t, to); len(there) != 2 { // a and dir/file
		t.Errorf("%q", there)
	}
	if text, _ := os.ReadFile(filepath.Join(out, "file")); string(text) != "out/file" {
		t.Errorf("%q", text)
	}
}
