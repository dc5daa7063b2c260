package repository_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ferrus-go/ferrus/internal/worktree/repository"
)

func all(string) bool { return true }

// upTo accepts the names that end in a number of at most n.
func upTo(n int) func(string) bool {
	return func(name string) bool {
		i, err := strconv.Atoi(name[strings.LastIndexByte(name, '/')+1:])
		return err == nil && i <= n
	}
}

func TestWhatIsShared(t *testing.T) {
	t.Parallel()
	dir, saved := committed(t), filepath.Join(t.TempDir(), "saved")
	tree := open(t, dir)
	had := map[string]string{}
	for _, name := range []string{"t/1", "t/2", "t/10", "t/deep/3", "t/lost", "tt/1"} {
		write(t, dir, "a.txt", name)
		had[name] = save(t, tree, name)
	}
	if err := os.CopyFS(saved, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		from, to string
		keep     func(string) bool
		want     []string // what is saved besides
	}{
		"all":               {"t", "u", all, []string{"u/1", "u/10", "u/2", "u/deep/3", "u/lost"}},
		"some":              {"t", "u", upTo(2), []string{"u/1", "u/2"}},
		"with slashes":      {"t/", "b/t/", upTo(1), []string{"b/t/1"}},
		"none":              {"t", "u", func(string) bool { return false }, nil},
		"nothing there":     {"x", "u", all, nil},
		"a deeper one":      {"t/deep", "u", all, []string{"u/3"}},
		"one name":          {"t/1", "u", all, []string{"u"}},
		"with itself":       {"t", "t", all, nil},
		"into itself":       {"t", "t/deep", upTo(3), []string{"t/deep/1", "t/deep/2"}},
		"by the whole name": {"t", "u", func(name string) bool { return name == "t/1" }, []string{"u/1"}},
	} {
		t.Run(name, func(t *testing.T) {
			remove(t, dir, "")
			if err := os.CopyFS(dir, os.DirFS(saved)); err != nil {
				t.Fatal(err)
			}
			tree := open(t, dir)
			before, total := users(t, dir), len(had)
			for range 2 { // what is there already is no error
				if n, err := tree.CopyRefs(t.Context(), tt.from, tt.to, tt.keep); n != len(tt.want) || err != nil {
					t.Errorf("Share: %d, %v; want %d", n, err, len(tt.want))
				}
				names, err := tree.Refs(t.Context(), "")
				if err != nil || len(names) != total+len(tt.want) {
					t.Errorf("kept: %q, %v", names, err)
				}
			}
			wholes(t, dir, had)
			remove(t, dir, ".ferrus/git")
			if _, err := tree.DeleteRefs(t.Context(), "t/1"); err != nil {
				t.Error(err)
			}
			collect(t, dir)
			from, to := strings.Trim(tt.from, "/"), strings.Trim(tt.to, "/")
			shared := map[string]string{}
			for _, name := range tt.want {
				shared[name] = had[from+strings.TrimPrefix(name, to)]
			}
			wholes(t, dir, shared)
			for path := range users(t, dir) {
				if _, ok := before[path]; !ok {
					t.Errorf("made: %s", path)
				}
			}
		})
	}
}

func TestWhatANameHeldIsLetGoWhenItIsShared(t *testing.T) {
	t.Parallel()
	dir := committed(t)
	tree := open(t, dir)
	one := save(t, tree, "t/1")
	write(t, dir, "a.txt", "other")
	save(t, tree, "u/1")
	two := save(t, tree, "u/2")
	if n, err := tree.CopyRefs(t.Context(), "t", "u", all); n != 1 || err != nil {
		t.Errorf("Share: %d, %v", n, err)
	}
	whole(t, dir, "u/1", one)
	whole(t, dir, "u/2", two)
}

func TestAllIsSharedOrNothing(t *testing.T) {
	dir := committed(t)
	tree := open(t, dir)
	for _, name := range []string{"t/1", "t/2", "u/2/deeper"} {
		save(t, tree, name)
	}
	want := []string{"t/1", "t/2", "u/2/deeper"}
	check := func(from, to, says string) {
		t.Helper()
		if n, err := tree.CopyRefs(t.Context(), from, to, all); n != 0 || err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("Share(%q, %q) = %d, %v; want %q", from, to, n, err, says)
		}
		names, err := tree.Refs(t.Context(), "")
		slices.Sort(names)
		if err != nil || !slices.Equal(names, want) {
			t.Errorf("kept: %q, %v", names, err)
		}
	}
	check("t", "u", "rename that one, or take another name")
	check("", "u", "empty part")
	check("t", "", "empty part")
	check("t", "a..b", "two dots")
	check("--all", "u//v", "empty part")
	// Another process forgets one of them before they are shared.
	wrap(t, fmt.Sprintf(`case " $* " in *" update-ref "*) "$REAL" --git-dir='%s' update-ref -d refs/ferrus/t/1;; esac`, filepath.Join(dir, ".git")))
	want = want[1:]
	check("t", "v", "t/1")
}

func TestAShareIsTwoCallsOfGit(t *testing.T) {
	dir := committed(t)
	tree := open(t, dir)
	for i := range 20 {
		save(t, tree, fmt.Sprintf("t/%d", i))
	}
	calls := filepath.Join(t.TempDir(), "calls")
	wrap(t, "printf x >>'"+calls+"'")
	if n, err := tree.CopyRefs(t.Context(), "t", "u", all); n != 20 || err != nil {
		t.Errorf("Share: %d, %v", n, err)
	}
	if got, err := os.ReadFile(calls); string(got) != "xx" || err != nil {
		t.Errorf("calls: %q, %v", got, err)
	}
}

func TestKeptNames(t *testing.T) {
	t.Parallel()
	tree := open(t, committed(t))
	id, ctx := fingerprint(t, tree), t.Context()
	for _, name := range []string{"t-2/1", "t-1/10", "t-1/2", "t-1/1", "t-11/1", "t/x"} {
		if err := tree.SaveRef(ctx, name, id); err != nil {
			t.Fatal(err)
		}
	}
	for prefix, want := range map[string][]string{
		"":       {"t-1/1", "t-1/2", "t-1/10", "t-2/1", "t-11/1", "t/x"},
		"t-1":    {"t-1/1", "t-1/2", "t-1/10"},
		"t-1/":   {"t-1/1", "t-1/2", "t-1/10"},
		"t-1/10": {"t-1/10"},
		"t-":     nil,
	} {
		if got, err := tree.Refs(ctx, prefix); !slices.Equal(got, want) || err != nil {
			t.Errorf("Refs(%q) = %q, %v; want %q", prefix, got, err, want)
		}
	}
	for _, step := range []struct {
		prefix string
		n      int
	}{{"t-1", 3}, {"t-1", 0}, {"t-11/1", 1}} {
		if n, err := tree.DeleteRefs(ctx, step.prefix); n != step.n || err != nil {
			t.Errorf("Forget(%q) = %d, %v; want %d", step.prefix, n, err, step.n)
		}
	}
	for _, bad := range []string{"", "/"} {
		if n, err := tree.DeleteRefs(ctx, bad); n != 0 || err == nil {
			t.Errorf("Forget(%q) = %d, %v", bad, n, err)
		}
	}
	if got, err := tree.Refs(ctx, ""); !slices.Equal(got, []string{"t-2/1", "t/x"}) || err != nil {
		t.Errorf("Refs: %q, %v", got, err)
	}
	for name, want := range map[string]string{"t/x": id, "t": "", "t/y": ""} {
		if got, err := tree.ReadRef(ctx, name); got != want || err != nil {
			t.Errorf("Kept(%q) = %q, %v; want %q", name, got, err, want)
		}
	}
	for _, bad := range []string{"HEAD", "", id[:9], strings.TrimSpace(runGit(t, tree.Top(), "rev-parse", "HEAD")), strings.Repeat("1", 40)} {
		if err := tree.SaveRef(ctx, "t/bad", bad); err == nil {
			t.Errorf("%q is saved as a tree", bad)
		}
	}
}

func TestANameIsOneThatGitTakes(t *testing.T) {
	t.Parallel()
	isolate(t)
	parts := []string{"", "a", "t-1/2", ".lock", "/", ".", "@", "{", "ü", "\"$", " ", "~", "^", ":", "?", "*", "[", `\`, "\t", "\x7f"}
	for _, one := range parts {
		for _, two := range parts {
			name := one + two
			want := exec.Command("git", "check-ref-format", "refs/ferrus/"+name).Run() == nil
			if err := repository.CheckName(name); (err == nil) != want {
				t.Errorf("%q: %v, git says %v", name, err, want)
			}
		}
	}
}
