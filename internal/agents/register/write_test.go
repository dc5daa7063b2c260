package register

import (
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/ferrus-go/ferrus/internal/platform/atomicfile/atomicfiletest"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
)

// TestALinkStaysALink: the file behind it is edited, and keeps its mode; the change says where it is.
func TestALinkStaysALink(t *testing.T) {
	t.Parallel()
	p := project(t, "dot/mcp.json", "{}\n", "dot/codex/config.toml", "# mine\n")
	link(t, p, "dot/mcp.json", ".mcp.json")
	link(t, p, "dot/codex", ".codex")
	target := filepath.Join(p.Root, "dot", "mcp.json")
	if err := os.Chmod(target, 0o640); err != nil {
		t.Fatal(err)
	}
	plan := register(t, p, "claude-code codex")
	if plan.Changes[0].Link != target {
		t.Errorf("%+v", plan.Changes[0])
	}
	for _, name := range []string{".mcp.json", ".codex"} {
		if info, err := os.Lstat(filepath.Join(p.Root, name)); err != nil || info.Mode()&os.ModeSymlink == 0 {
			t.Errorf("%s is no link any more: %v", name, err)
		}
	}
	info, err := os.Stat(target)
	if err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o640 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	text, _ := os.ReadFile(target)
	toml, _ := os.ReadFile(filepath.Join(p.Root, "dot", "codex", "config.toml"))
	if !strings.Contains(string(text), exe) || !strings.Contains(string(toml), exe) {
		t.Errorf("not written through the link:\n%s\n%s", text, toml)
	}
	register(t, p, "")
	text, _ = os.ReadFile(target)
	equal(t, "the file behind the link", string(text), "{}\n")
}

// TestTwoNamesOfOneFile: a skill is written once, and one file cannot hold two roles.
func TestTwoNamesOfOneFile(t *testing.T) {
	t.Parallel()
	p := project(t, ".claude/skills/mine/SKILL.md", "mine\n")
	if err := os.Mkdir(filepath.Join(p.Root, ".agents"), 0o755); err != nil {
		t.Fatal(err)
	}
	link(t, p, ".claude/skills", ".agents/skills")
	register(t, p, "claude-code codex")
	for _, name := range []string{"ferrus-supervisor", "ferrus-executor"} {
		if !exists(filepath.Join(p.Root, ".claude", "skills", name, "SKILL.md")) {
			t.Errorf("%s is missing", name)
		}
	}
	if plan := register(t, p, "claude-code codex"); !plan.Idle() {
		t.Error("the second run is not idle")
	}
	register(t, p, "")
	if _, err := os.Stat(filepath.Join(p.Root, ".claude", "skills", "ferrus-executor")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a skill is left: %v", err)
	}

	p = project(t, ".gemini/settings.json", "{}\n")
	if err := os.Mkdir(filepath.Join(p.Root, ".qwen"), 0o755); err != nil {
		t.Fatal(err)
	}
	link(t, p, ".gemini/settings.json", ".qwen/settings.json")
	var fault *refusal.RefusedError
	if _, err := p.Plan(who("gemini qwen-code")); !errors.As(err, &fault) || !strings.Contains(err.Error(), "the same file as") {
		t.Errorf("%v", err)
	}
	register(t, p, "gemini")
	register(t, p, "gemini")
	if text := tree(t, p)[".qwen/settings.json"]; !strings.Contains(text, "supervisor") {
		t.Errorf("the unused name took the entry of the other:\n%s", text)
	}
}

// TestWhatCannotBeWrittenIsFoundFirst: then no file of all is written, nor a folder made.
func TestWhatCannotBeWrittenIsFoundFirst(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, want string
		spoil      func(t *testing.T, p Project)
	}{
		{"a read-only file", ".codex/config.toml: it is read-only", func(t *testing.T, p Project) {
			if err := os.Chmod(filepath.Join(p.Root, ".codex", "config.toml"), 0o444); err != nil {
				t.Fatal(err)
			}
		}},
		{"a link to nowhere", ".codex/config.toml: it is a link that leads nowhere", func(t *testing.T, p Project) {
			if err := os.Remove(filepath.Join(p.Root, ".codex", "config.toml")); err != nil {
				t.Fatal(err)
			}
			link(t, p, "nowhere", ".codex/config.toml")
		}},
		{"a folder in its place", ".mcp.json: it is no file", func(t *testing.T, p Project) {
			if err := os.Mkdir(filepath.Join(p.Root, ".mcp.json"), 0o755); err != nil {
				t.Fatal(err)
			}
		}},
		{"a file in place of a folder", "", func(t *testing.T, p Project) {
			if err := os.WriteFile(filepath.Join(p.Root, ".agents"), nil, 0o644); err != nil {
				t.Fatal(err)
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := project(t, ".codex/config.toml", "a = 1\n")
			c.spoil(t, p)
			before := names(t, p)
			plan, err := p.Plan(who("claude-code codex"))
			if err == nil {
				err = plan.Write()
			}
			if err == nil || !strings.HasPrefix(err.Error(), c.want) {
				t.Errorf("got %v, want %s", err, c.want)
			}
			equal(t, "files", names(t, p), before)
		})
	}
}

// TestAFileThatChangesBetweenPlanAndWriteIsNotOverwritten, and those that were written before it go back.
func TestAFileThatChangesBetweenPlanAndWriteIsNotOverwritten(t *testing.T) {
	t.Parallel()
	p := project(t, ".mcp.json", "{}\n", ".codex/config.toml", "a = 1\n")
	plan, err := p.Plan(who("claude-code codex"))
	if err != nil {
		t.Fatal(err)
	}
	edit(t, p, ".codex/config.toml", "1", "2")
	before := tree(t, p)
	if err := plan.Write(); err == nil || !strings.Contains(err.Error(), "somebody changed it just now") {
		t.Errorf("%v", err)
	}
	equal(t, "files", tree(t, p), before)
}

// TestAPowerCutLeavesAClientsFileWhole: old or new, and new with the record of it when register has returned.
func TestAPowerCutLeavesAClientsFileWhole(t *testing.T) {
	t.Parallel()
	p := project(t, ".codex/config.toml", "a = 1\n")
	plan, err := p.Plan(who("codex codex"))
	if err != nil {
		t.Fatal(err)
	}
	done := ""
	disk := atomicfiletest.Record(t, p.Root, func() string { return done }, func() {
		if err := plan.Write(); err != nil {
			t.Fatal(err)
		}
		done = "done"
	})
	after, err := os.ReadFile(filepath.Join(p.Root, ".codex", "config.toml"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = disk.Cut(t, true, func(dir, note string) error {
		text, err := os.ReadFile(filepath.Join(dir, ".codex", "config.toml"))
		if err == nil && string(text) != string(after) && (note == "done" || string(text) != "a = 1\n") {
			err = fmt.Errorf("config.toml is %q", text)
		}
		if _, wrong := os.Lstat(filepath.Join(dir, ".ferrus", "register.json")); err == nil && note == "done" {
			err = wrong
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// TestNewFilesAreOrdinary: they have the mode that any new file has, and nothing is left beside them.
func TestNewFilesAreOrdinary(t *testing.T) {
	t.Parallel()
	p := project(t)
	register(t, p, "claude-code codex")
	equal(t, "files", names(t, p), []string{".agents", ".agents/skills", ".agents/skills/ferrus-executor",
		".agents/skills/ferrus-executor/SKILL.md", ".claude", ".claude/settings.local.json", ".claude/skills",
		".claude/skills/ferrus-supervisor", ".claude/skills/ferrus-supervisor/SKILL.md", ".codex", ".codex/config.toml",
		".ferrus", ".ferrus/register.json", ".mcp.json"})
	plain := filepath.Join(p.Root, "plain")
	if err := os.WriteFile(plain, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	want, _ := os.Stat(plain)
	got, err := os.Stat(filepath.Join(p.Root, ".mcp.json"))
	if err != nil || got.Mode() != want.Mode() {
		t.Errorf("mode %v, not %v: %v", got.Mode(), want.Mode(), err)
	}
}

// TestTheDiffShowsTheLines that come and go, with those around them.
func TestTheDiffShowsTheLines(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ before, after, want string }{
		{"", "a\n", "@@ line 1 @@\n+a\n"},
		{"a\n", "", "@@ line 1 @@\n-a\n"},
		{"1\n2\n3\n4\n5\n6\n", "1\n2\n3\n4\nx\n6\n", "@@ line 2 @@\n 2\n 3\n 4\n-5\n+x\n 6\n"},
		{"a", "a\nb\n", "@@ line 1 @@\n-a\n\\ no newline at the end\n+a\n+b\n"},
		{"1\n2\n3\n4\n5\n6\n7\n8\n9\n", "x\n2\n3\n4\n5\n6\n7\n8\ny\n",
			"@@ line 1 @@\n-1\n+x\n 2\n 3\n 4\n@@ line 6 @@\n 6\n 7\n 8\n-9\n+y\n"},
	} {
		equal(t, c.after, unified("f", c.before, c.after), "--- f\n+++ f\n"+c.want)
		if got, ok := apply(c.before, hunks(c.before, c.after)); !ok || got != c.after {
			t.Errorf("apply: %q, %v", got, ok)
		}
	}
}

func link(t *testing.T, p Project, target, name string) {
	t.Helper()
	if err := os.Symlink(filepath.Join(p.Root, target), filepath.Join(p.Root, name)); err != nil {
		t.Skip(err)
	}
}

// names are the files and folders of a project, links not followed.
func names(t *testing.T, p Project) []string {
	t.Helper()
	var all []string
	err := filepath.WalkDir(p.Root, func(name string, _ os.DirEntry, err error) error {
		if rel, _ := filepath.Rel(p.Root, name); rel != "." && name != p.Record+".lock" {
			all = append(all, filepath.ToSlash(rel))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestAnEditOfTheLastMomentIsKept: whatever somebody does to a file right before it is replaced, made or removed.
func TestAnEditOfTheLastMomentIsKept(t *testing.T) {
	t.Parallel()
	put := func(t *testing.T, path, text string) {
		if err := os.WriteFile(path+".part", []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(path+".part", path); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		name, file string
		files      []string
		undo       bool
	}{
		{"replaced", ".codex/config.toml", []string{".mcp.json", "{}\n", ".codex/config.toml", "a = 1\n"}, false},
		{"made", ".codex/config.toml", []string{".mcp.json", "{}\n"}, false},
		{"removed", ".agents/skills/ferrus-executor/SKILL.md", nil, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := project(t, c.files...)
			plan, err := p.Plan(who("claude-code codex"))
			if c.undo {
				register(t, p, "claude-code codex")
				plan, err = p.Plan(nil)
			}
			if err != nil {
				t.Fatal(err)
			}
			before := tree(t, p)
			plan.step = func(file string) {
				if file == c.file {
					put(t, filepath.Join(p.Root, filepath.FromSlash(file)), "mine\n")
				}
			}
			if err := plan.Write(); err == nil || !strings.Contains(err.Error(), "somebody changed it just now") {
				t.Errorf("%v", err)
			}
			put(t, filepath.Join(p.Root, "want"), "mine\n")
			got := tree(t, p)
			if got[c.file] != got["want"] {
				t.Errorf("%s has %q", c.file, got[c.file])
			}
			delete(got, "want")
			got[c.file] = before[c.file]
			if before[c.file] == "" {
				delete(got, c.file)
				delete(got, path.Dir(c.file)+"/") // it stays for the edit
			}
			equal(t, "files", got, before)
		})
	}
}

// TestARecordThatChangesBetweenPlanAndWriteIsNotOverwritten: what another process has registered meanwhile stays known.
func TestARecordThatChangesBetweenPlanAndWriteIsNotOverwritten(t *testing.T) {
	t.Parallel()
	p := project(t)
	first, err := p.Plan(who("claude-code"))
	if err != nil {
		t.Fatal(err)
	}
	second, err := p.Plan(who("- codex"))
	if err != nil {
		t.Fatal(err)
	}
	var during error
	first.step = func(string) { during = second.Write() }
	if err := first.Write(); err != nil {
		t.Fatal(err)
	}
	before := tree(t, p)
	for _, err := range []error{during, second.Write()} {
		if err == nil || !strings.Contains(err.Error(), "another process changed it just now") {
			t.Errorf("%v", err)
		}
	}
	equal(t, "files", tree(t, p), before)
	if again, err := p.Plan(who("claude-code")); err != nil || !again.Idle() || again.Write() != nil {
		t.Errorf("%v: the first one is no longer registered", err)
	}
}
