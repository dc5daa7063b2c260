//go:build unix

package engine

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ferrus-go/ferrus/internal/gc"
	"github.com/ferrus-go/ferrus/internal/origin"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/refusal"
	"github.com/ferrus-go/ferrus/internal/rootfs/rootfstest"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/store"
)

// linkable are the folders of ferrus's own that a clone, or an executor, may have laid a link in place of.
func linkable() []string {
	return append(project.At("", "").Folders(), "branches/alt", "branches/alt/logs", "branches/alt/git", "worktrees/alt")
}

// peopled has a task that ended long ago, one under way, a branch, a removed branch, and neighbours with names like those
// that ferrus gives its temporary files.
func peopled(t *testing.T) (p *machine, old string) {
	p = repository(t, gate("true"))
	clock := p.clocked()
	t.Run("ready", func(t *testing.T) { // all that it opens is closed with it
		p.t = t
		old = p.finished("one")
		clock.pass(40 * day)
		h := p.human()
		for _, name := range []string{"alt", "gone"} {
			branched(t, h, Fork{Names: []string{name}, Own: true})
		}
		must(h.Remove(t.Context(), "gone", true))(t)
		clock.pass(40 * day)
		p.begun()
	})
	p.t = t
	then := time.Now().Add(-1000 * time.Hour)
	for _, name := range []string{"draft-1", "index-1", "restore-1", "alt", "gone@20200101T000000.000", "archive", "branches", "logs"} {
		p.write("../outside/"+name+"/only.txt", "there is no other copy\n")
		if err := os.Chtimes(p.path("../outside/"+name), then, then); err != nil {
			t.Fatal(err)
		}
	}
	p.save()
	return p, old
}

// linked replaces a folder below .ferrus by a link to the neighbours, or to itself as it was, moved among them.
func (p *machine) linked(name string, moved bool) (link string) {
	p.t.Helper()
	link = p.path(".ferrus/" + name)
	target := p.path("../outside")
	if moved {
		target = p.path("../outside/moved")
		if err := os.Rename(link, target); err != nil && !os.IsNotExist(err) {
			p.t.Fatal(err)
		}
	}
	rel, err := filepath.Rel(filepath.Dir(link), target)
	if err == nil {
		err = os.RemoveAll(link)
	}
	if err == nil {
		err = os.MkdirAll(filepath.Dir(link), 0o700)
	}
	if err == nil {
		err = os.Symlink(rel, link)
	}
	if err != nil {
		p.t.Fatal(err)
	}
	return link
}

// TestNoFolderOfOursIsALink: with a link in place of any of them nothing is opened, made or cleared away, nothing beside the
// project changes, and the refusal names the link. Also with what was there behind it: it was not made there.
func TestNoFolderOfOursIsALink(t *testing.T) {
	t.Parallel()
	made, _ := peopled(t)
	outside, cases, bad := filepath.Join(filepath.Dir(made.dir), "outside"), 0, 0
	for _, name := range linkable() {
		for _, moved := range []bool{false, true} {
			ok := t.Run(fmt.Sprintf("%s %v", strings.ReplaceAll(name, "/", "-"), moved), func(t *testing.T) {
				p := made.again(t)
				defer os.RemoveAll(p.path("../outside/moved"))
				link := p.linked(name, moved)
				before := rootfstest.Snapshot(t, outside, "-")
				on := project.At(p.dir, "")
				if strings.Contains(name, "alt") {
					on = project.At(p.dir, "alt")
				}
				for op, do := range map[string]func() error{
					"Open":        func() error { return closed(Open(on, p.opts)) },
					"Revive":      func() error { _, err := origin.Revive(on, nil); return err },
					"CheckFolder": on.CheckFolders,
					"FindLitter": func() error {
						if on.Branch != "" && name != "worktrees/alt" && name != "branches/alt" { // looked at by its own store
							return on.CheckFolders()
						}
						_, err := gc.Find(t.Context(), p.dir, time.Now().Add(1000*day))
						if on.Branch != "" && err == nil { // a link is no branch
							err = on.CheckFolders()
						}
						return err
					},
				} {
					cases++
					if err := do(); refusal.CodeOf(err) != refusal.ForeignState || !strings.Contains(err.Error(), link+" is a symbolic link") ||
						!strings.Contains(err.Error(), "ferrus doctor --fix") {
						t.Errorf("%s: %v", op, err)
					}
				}
				if after := rootfstest.Snapshot(t, outside, "-"); after != before {
					t.Errorf("outside there was\n%sand is\n%s", before, after)
				}
			})
			if !ok {
				bad++
			}
		}
	}
	t.Logf("rig: cases=%d bad=%d; links in place of folders", cases, bad)
}

func closed(e *Engine, err error) error {
	if err == nil {
		e.Close()
	}
	return err
}

// TestALinkLaidUnderAnOpenEngine: whoever works in the project may lay one at any moment. What is done then fails, or does not
// need the folder; nothing beside the project changes.
func TestALinkLaidUnderAnOpenEngine(t *testing.T) {
	t.Parallel()
	made, _ := peopled(t)
	outside, cases, bad := filepath.Join(filepath.Dir(made.dir), "outside"), 0, 0
	names := []string{"logs", "git/objects", "archive/branches", "worktrees/alt"} // one of each kind; all with -full
	if *full {
		names = linkable()
	}
	for _, name := range names {
		ok := t.Run(strings.ReplaceAll(name, "/", "-"), func(t *testing.T) {
			p := made.again(t)
			sup, h := p.supervisor(), p.human()
			litter, err := gc.Find(t.Context(), p.dir, time.Now().Add(1000*day))
			if err != nil || len(litter) < 2 {
				t.Fatalf("%v, %v", litter, err)
			}
			p.linked(name, false)
			before := rootfstest.Snapshot(t, outside, "-")
			ctx := context.Background()
			did := map[string]error{}
			for _, l := range litter {
				did["Sweep "+l.Branch+l.TaskID] = gc.Sweep(ctx, p.dir, l)
			}
			if now, err := sup.e.View(); err == nil {
				did["replace"] = sup.e.replace("logs/x.patch", []byte("x"))
				did["Archive"] = sup.e.store.Archive(now)
			}
			_, did["Announce"] = sup.e.store.Announce("s-" + strings.Repeat("1", 8))
			_, _, did["Trial"] = sup.e.Trial(ctx)
			_, did["Branch"] = h.Branch(ctx, Fork{Names: []string{"new"}, Own: true})
			_, did["Remove"] = h.Remove(ctx, "alt", true)
			if name == "git" || name == "git/objects" || strings.HasPrefix(name, "archive") {
				_, did["Steer"] = h.Steer(ctx, "faster") // the store goes on: it needs none of these
			}
			cases += len(did)
			if after := rootfstest.Snapshot(t, outside, "-"); after != before {
				t.Errorf("outside there was\n%sand is\n%s%v", before, after, did)
			}
			if did["Steer"] != nil {
				t.Error(did["Steer"])
			}
		})
		if !ok {
			bad++
		}
	}
	t.Logf("rig: cases=%d bad=%d; links laid under an open engine", cases, bad)
}

// TestAForgedJournalReachesNothing: lines with right hashes whose fields lead out of .ferrus.
func TestAForgedJournalReachesNothing(t *testing.T) {
	t.Parallel()
	made, old := peopled(t)
	outside, cases, bad := filepath.Join(filepath.Dir(made.dir), "outside"), 0, 0
	for name, spoil := range map[string][2]string{
		"the id of the task":      {`"task_id":"` + old, `"task_id":"../../outside/d*`},
		"the id of a part of it":  {`"task_id":"` + old, `"task_id":"t-../../../outside`},
		"the log":                 {`"log":"logs/`, `"log":"../../outside/logs/`},
		"the patch":               {`"patch":"logs/`, `"patch":"../../outside/logs/`},
		"the tree":                {`"base_tree":"`, `"base_tree":"--output=../outside/x`},
		"the session":             {`"session":"`, `"session":"../../outside/`},
		"a document":              {`"docs":{"TASK.md":{`, `"docs":{"../../outside/x":{`},
		"where a document stands": {`"TASK.md":{"off":`, `"TASK.md":{"off":-`},
	} {
		ok := t.Run(name, func(t *testing.T) {
			p := made.again(t)
			forged := rehashed(t, p.read(".ferrus/journal.jsonl"), spoil[0], spoil[1])
			p.write(".ferrus/journal.jsonl", forged)
			before := rootfstest.Snapshot(t, outside, "-")
			ctx := context.Background()
			_, err := gc.Find(ctx, p.dir, time.Now().Add(1000*day))
			if refusal.CodeOf(err) != refusal.Corrupt || !strings.Contains(err.Error(), "its field ") {
				t.Errorf("gc: %v", err)
			}
			cases++
			e, err := Open(project.At(p.dir, ""), p.opts)
			if err != nil {
				t.Fatal(err)
			}
			defer e.Close()
			h := e.Session(Caller{Role: state.Human, Agent: "human", TTY: true})
			_, viewed := e.View() // which may be right: it reads the newest line alone
			for op, err := range map[string]error{
				"check":    func() error { _, _, err := e.Trial(ctx); return err }(),
				"rollback": second(h.Rollback(ctx, 2, "why")),
				"archive":  e.store.Archive(store.Snapshot{Task: state.Task{TaskID: "../../outside/x", Docs: map[state.Doc]state.Ref{state.TaskDoc: {}}}}),
			} {
				cases++
				if viewed != nil && refusal.CodeOf(viewed) != refusal.Corrupt || err != nil && strings.Contains(err.Error(), "panic") {
					t.Errorf("%s: %v, %v", op, viewed, err)
				}
			}
			if after := rootfstest.Snapshot(t, outside, "-"); after != before {
				t.Errorf("outside there was\n%sand is\n%s", before, after)
			}
			if p.read(".ferrus/journal.jsonl") != forged {
				t.Error("the journal was touched")
			}
		})
		if !ok {
			bad++
		}
	}
	t.Logf("rig: cases=%d bad=%d; forged lines", cases, bad)
}

// rehashed is a journal after something in it was replaced, with hashes that are right again.
func rehashed(t *testing.T, journal, old, new string) string {
	t.Helper()
	if !strings.Contains(journal, old) {
		t.Fatalf("the journal has no %s", old)
	}
	var forged strings.Builder
	prev := strings.Repeat("0", 64)
	for line := range strings.Lines(journal) {
		line = strings.ReplaceAll(line, old, new)
		at := strings.LastIndex(line, `"prev":"`)
		head := line[:at] + `"prev":"` + prev + `"`
		prev = fmt.Sprintf("%x", sha256.Sum256([]byte(head)))
		forged.WriteString(head + `,"h":"` + prev + "\"}\n")
	}
	return forged.String()
}

// TestWorkIsDoneWhereTheEngineIs, whatever folder the journal names: of a project that was moved, or of a neighbour.
func TestWorkIsDoneWhereTheEngineIs(t *testing.T) {
	t.Parallel()
	p := repository(t, gate("true"))
	p.begun()
	p.write("../outside/code.txt", "theirs\n")
	forged := rehashed(t, p.read(".ferrus/journal.jsonl"), `"worktree":"`+p.dir, `"worktree":"`+filepath.Dir(p.dir)+"/outside")
	p.write(".ferrus/journal.jsonl", forged)
	e := p.engine()
	now := view(t, e.Session(Caller{Role: state.Supervisor, Agent: "supervisor:claude:1"}))
	if now.Task.Worktree != p.dir || e.workDir(now) != p.dir {
		t.Errorf("the work is in %s", now.Task.Worktree)
	}
	if tree := must(e.Tree(t.Context(), now))(t); tree.Top() != p.dir {
		t.Errorf("its tree is %s", tree.Top())
	}
}

// TestTheNoteOfARemovalIsNoPath: what stands in it becomes a part of names.
func TestTheNoteOfARemovalIsNoPath(t *testing.T) {
	t.Parallel()
	p := plain(t, gate("true"))
	on := project.At(p.dir, "alt")
	for text, want := range map[string]string{
		"alt@20260102T030405.000\n": "alt@20260102T030405.000", "alt@20260102T030405.000": "", "../../outside\n": "",
		"alt@../../outside\n": "", "other@20260102T030405.000\n": "", "alt@20260102T030405.000/..\n": "",
	} {
		p.write(".ferrus/branches/alt/removing", text)
		if got := keptName(on); got != want {
			t.Errorf("%q: %q", text, got)
		}
	}
}
