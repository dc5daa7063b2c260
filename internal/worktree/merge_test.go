package worktree_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrus-go/ferrus/internal/worktree"
)

func TestMerges(t *testing.T) {
	t.Parallel()
	lines := strings.Repeat("line\n", 20)
	type files = map[string]string
	tests := []struct {
		name               string
		base, ours, theirs files // "" is a file that is not there
		want               files // nil where there are conflicts
		conflicts          []worktree.Conflict
		marked             []string // the places of the first and the last mark
	}{
		{name: "nothing", want: files{"a": "a"}},
		{name: "one side", theirs: files{"a": "b", "new/x": "n"}, want: files{"a": "b", "new/x": "n"}},
		{name: "both sides, two files", ours: files{"b": "b"}, theirs: files{"c": "c"}, want: files{"a": "a", "b": "b", "c": "c"}},
		{name: "both sides the same", ours: files{"a": "b"}, theirs: files{"a": "b"}, want: files{"a": "b"}},
		{name: "both sides, one file", base: files{"f": lines}, ours: files{"f": "first\n" + lines}, theirs: files{"f": lines + "last\n"},
			want: files{"a": "a", "f": "first\n" + lines + "last\n"}},
		{name: "a rename and an edit", base: files{"f": lines}, ours: files{"f": "", "g": lines}, theirs: files{"f": lines + "last\n"},
			want: files{"a": "a", "g": lines + "last\n"}},
		{name: "an edit of the same line", ours: files{"a": "1"}, theirs: files{"a": "2"},
			conflicts: []worktree.Conflict{{Path: "a", Kind: "contents"}}, marked: []string{"a:1", "a:5"}},
		{name: "long marks, between lines that look alike", base: files{".gitattributes": "a conflict-marker-size=11\n", "b": "<<<<<<< ours\n>>>>>>> " + strings.Repeat("1", 40) + "\n"},
			ours: files{"a": "=======\n1\n"}, theirs: files{"a": "=======\n2\n"}, conflicts: []worktree.Conflict{{Path: "a", Kind: "contents"}}, marked: []string{"a:2", "a:6"}},
		{name: "an edit and a deletion", ours: files{"a": ""}, theirs: files{"a": "2", "k": "k"},
			conflicts: []worktree.Conflict{{Path: "a", Kind: "modify/delete"}}},
		{name: "two new files", ours: files{"n": "1"}, theirs: files{"n": "2"},
			conflicts: []worktree.Conflict{{Path: "n", Kind: "contents"}}, marked: []string{"n:1", "n:5"}},
		{name: "binary", base: files{"z": "\x000"}, ours: files{"z": "\x001"}, theirs: files{"z": "\x002"},
			conflicts: []worktree.Conflict{{Path: "z", Kind: "binary"}}},
		{name: "two renames", base: files{"f": lines}, ours: files{"f": "", "g": lines}, theirs: files{"f": "", "h": lines},
			conflicts: []worktree.Conflict{{Path: "f", Kind: "rename/rename"}, {Path: "g", Kind: "rename/rename"}, {Path: "h", Kind: "rename/rename"}}},
		{name: "a name for a screen", ours: files{"n\nü": "1"}, theirs: files{"n\nü": "2"},
			conflicts: []worktree.Conflict{{Path: `"n\n\u00fc"`, Kind: "contents"}}, marked: []string{`"n\n\u00fc":1`, `"n\n\u00fc":5`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := repository(t)
			tree := open(t, dir)
			var ids []string
			for _, change := range []files{tt.base, tt.ours, tt.theirs} {
				for name := range manifest(t, dir) {
					remove(t, dir, name)
				}
				for _, layer := range []files{{"a": "a"}, tt.base, change} {
					for name, text := range layer {
						if text == "" {
							remove(t, dir, name)
						} else {
							write(t, dir, name, text)
						}
					}
				}
				ids = append(ids, fingerprint(t, tree))
			}
			plain, err := tree.Merge(t.Context(), ids[0], ids[1], ids[2])
			if err != nil {
				t.Fatal(err)
			}
			configure(t, dir, "[merge]\nconflictStyle = diff3\nrenames = false\nff = only\n[core]\nquotePath = true\n")
			before, disk := inventory(t, dir+"/.git"), manifest(t, dir)
			got, err := tree.Merge(t.Context(), ids[0], ids[1], ids[2])
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(plain, got); diff != "" {
				t.Errorf("the user's settings count:\n%s", diff)
			}
			if diff := cmp.Diff(tt.conflicts, got.Conflicts); diff != "" {
				t.Errorf("conflicts:\n%s", diff)
			}
			if places, err := tree.Marked(t.Context(), got.Tree, got.Marks); err != nil || cmp.Diff(tt.marked, places) != "" {
				t.Errorf("marked at %q, %v", places, err)
			}
			for _, side := range ids {
				if places, err := tree.Marked(t.Context(), side, got.Marks); err != nil || places != nil {
					t.Errorf("a side is marked at %q, %v", places, err)
				}
			}
			back, err := tree.Merge(t.Context(), ids[0], ids[2], ids[1])
			if err != nil || tt.want != nil && back.Tree != got.Tree {
				t.Errorf("the other way round: %+v, %v", back, err)
			}
			if diff := cmp.Diff(before, inventory(t, dir+"/.git")); diff != "" {
				t.Errorf("the .git folder:\n%s", diff)
			}
			if diff := cmp.Diff(disk, manifest(t, dir)); diff != "" {
				t.Errorf("the work tree:\n%s", diff)
			}
			if tt.want == nil {
				return
			}
			if err := tree.SaveRef(t.Context(), "m/1", got.Tree); err != nil {
				t.Fatal(err)
			}
			whole(t, dir, "m/1", got.Tree)
			restored(t, tree, fingerprint(t, tree), got.Tree)
			want := map[string]string{}
			for name, text := range tt.want {
				want[name] = fmt.Sprintf("false %q", text)
			}
			if diff := cmp.Diff(want, manifest(t, dir)); diff != "" {
				t.Errorf("merged:\n%s", diff)
			}
		})
	}
}

func TestAMergeFromTheEmptyTree(t *testing.T) {
	t.Parallel()
	dir := committed(t)
	tree := open(t, dir)
	ours := fingerprint(t, tree)
	got, err := tree.Merge(t.Context(), "", ours, "")
	if err != nil || got.Tree != ours || got.Conflicts != nil {
		t.Errorf("got %+v, %v; want %s", got, err, ours)
	}
	for _, bad := range []string{"HEAD", "--help", strings.Repeat("1", 40)} {
		if _, err := tree.Merge(t.Context(), ours, bad, ours); err == nil {
			t.Errorf("%q is merged", bad)
		}
	}
}

func TestAGitThatIsTooOldIsNamed(t *testing.T) {
	dir := committed(t)
	id := fingerprint(t, open(t, dir))
	for version, old := range map[string]bool{
		"git version 2.37.9": true, "git version 2.32.1 (Apple Git-133)": true, "git version 1.99": true,
		"git version 2.38.0.rc1": false, "git version 2.39.5": false, "git version 3.0.0": false, "git version 2.100.1.windows.1": false,
	} {
		tree := open(t, dir)
		path := os.Getenv("PATH")
		wrap(t, `case " $* " in *" version "*) echo '`+version+`'; exit;; esac`)
		_, err := tree.Merge(t.Context(), id, id, id)
		os.Setenv("PATH", path)
		if (err != nil) != old || old && !strings.Contains(err.Error(), "install git 2.38 or later") {
			t.Errorf("%s: %v", version, err)
		}
	}
}

func FuzzReadMerge(f *testing.F) {
	id := strings.Repeat("a", 40)
	for _, seed := range []string{
		"", id, id + "\x00\x00", id + "\x00100644 " + id + " 1\tf\x00\x001\x00f\x00CONFLICT (contents)\x00text\n\x00",
		id + "\x00\x002\x00d~x\x00d\x00CONFLICT (file/directory)\x00text\x00", id + "\x00\x00-1\x00", id + "\x00\x009999999999\x00x\x00",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, out string) {
		m, err := worktree.ReadMerge(out)
		if err == nil && len(m.Tree) != 40 && len(m.Tree) != 64 {
			t.Errorf("%q: %+v", out, m)
		}
		for _, c := range m.Conflicts {
			if c.Kind == "" {
				t.Errorf("%q: %+v", out, m)
			}
		}
	})
}
