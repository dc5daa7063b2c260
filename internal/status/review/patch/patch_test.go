package patch

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const sample = `diff --git a/a.go b/a.go
index 1..2 100644
--- a/a.go
+++ b/a.go
@@ -1,3 +1,4 @@ func f() {
 package a
-var x = "<old>"
+var x = "<script>alert(1)</script>"
+// diff --git a/fake b/fake
 
\ No newline at end of file
@@ -10 +11,0 @@
--- a/looks.like
diff --git "a/\303\244 b" "b/\303\244 b"
new file mode 100755
--- /dev/null
+++ "b/\303\244 b"
@@ -0,0 +1 @@
+<one>
diff --git a/old name b/new name
similarity index 90%
rename from old name
rename to new name
diff --git a/gone b/gone
deleted file mode 100644
--- a/gone
+++ /dev/null
@@ -1 +0,0 @@
-last
`

func TestAPatchIsRead(t *testing.T) {
	got := Parse(sample)
	want := []File{
		{Path: "a.go", ID: "2", Added: 2, Removed: 2, Hunks: []Hunk{
			{"@@ -1,3 +1,4 @@ func f() {", []Line{
				{' ', 1, 1, "package a"}, {'-', 2, 0, `var x = "<old>"`}, {'+', 0, 2, `var x = "<script>alert(1)</script>"`},
				{'+', 0, 3, "// diff --git a/fake b/fake"}, {' ', 3, 4, ""}, {'\\', 0, 0, " No newline at end of file"}}},
			{"@@ -10 +11,0 @@", []Line{{'-', 10, 0, "-- a/looks.like"}}}}},
		{Path: "ä b", Notes: []string{"new file mode 100755"}, Added: 1, Hunks: []Hunk{{"@@ -0,0 +1 @@", []Line{{'+', 0, 1, "<one>"}}}}},
		{Path: "new name", Was: "old name", Notes: []string{"similarity index 90%"}},
		{Path: "gone", Notes: []string{"deleted file mode 100644"}, Removed: 1, Hunks: []Hunk{{"@@ -1 +0,0 @@", []Line{{'-', 1, 0, "last"}}}}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	keys := map[string]string{}
	for _, h := range got[0].Hunks {
		for _, l := range h.Lines {
			keys[l.Key()] = l.Text
		}
	}
	if diff := cmp.Diff(map[string]string{"n1": "package a", "n2": `var x = "<script>alert(1)</script>"`, "n3": "// diff --git a/fake b/fake", "n4": "",
		"o2": `var x = "<old>"`, "o10": "-- a/looks.like", "": " No newline at end of file"}, keys); diff != "" {
		t.Error(diff)
	}
}

// TestWhatGitWrites of files with awkward names and lines is read: as many lines as git counts, and every path.
func TestWhatGitWrites(t *testing.T) {
	dir := t.TempDir()
	for side, files := range map[string]map[string]string{
		"a": {"gone": "1\n2\n", "same": "x\n", "change": "one\ntwo\nthree\n", "sp ace": "1", "quote\"d": "--- a/x\n+++ b/x\n"},
		"b": {"same": "x\n", "change": "one\n2\nthree\nfour", "sp ace": "1\n2", "quote\"d": "@@ -1 +1 @@\n-- a/x\n", "né w": "diff --git a/x b/x\n", "empty": ""},
	} {
		for name, text := range files {
			file := filepath.Join(dir, side, name)
			if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	git := func(args ...string) string {
		cmd := exec.Command("git", append([]string{"diff", "--no-index", "--no-prefix"}, args...)...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1")
		out, _ := cmd.Output() // it exits with 1 where there are differences
		return string(out)
	}
	files := Parse(git("--no-renames", "a", "b"))
	if len(files) != 6 {
		t.Fatalf("%d files", len(files))
	}
	sum := map[string][2]int{}
	for _, f := range files {
		sum[f.Path] = [2]int{f.Added, f.Removed}
	}
	want := map[string][2]int{"gone": {0, 2}, "change": {2, 1}, "sp ace": {2, 1}, "quote\"d": {2, 2}, "né w": {1, 0}, "empty": {0, 0}}
	if diff := cmp.Diff(want, sum); diff != "" {
		t.Error(diff)
	}
}
