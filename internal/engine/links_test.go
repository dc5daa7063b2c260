//go:build unix

package engine_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/engine/branch"
	"github.com/ferrus-go/ferrus/internal/engine/enginetest"
	"github.com/ferrus-go/ferrus/internal/platform/rootfs/rootfstest"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/project/gc"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/store"
	"github.com/ferrus-go/ferrus/test/kit"
)

// linkable are the folders of ferrus's own that a clone, or an executor, may have laid a link in place of.
func linkable() []string {
	return append(project.At("", "").Folders(), "branches/alt", "branches/alt/logs", "branches/alt/git", "worktrees/alt")
}

// peopled has a task that ended long ago, one under way, a branch, a removed branch, and neighbours with names like those
// that ferrus gives its temporary files.
func peopled(t *testing.T) (p *enginetest.Machine, old string) {
	p = enginetest.Repository(t, enginetest.Gate("true"))
	clock := p.Clocked()
	t.Run("ready", func(t *testing.T) { // all that it opens is closed with it
		p.T = t
		old = p.Finished("one")
		clock.Pass(40 * enginetest.Day)
		h := p.Human()
		for _, name := range []string{"alt", "gone"} {
			enginetest.Branched(t, h, branch.Fork{Names: []string{name}, Own: true})
		}
		enginetest.Must(branch.Remove(t.Context(), h, "gone", true))(t)
		clock.Pass(40 * enginetest.Day)
		p.Begun()
	})
	p.T = t
	then := time.Now().Add(-1000 * time.Hour)
	for _, name := range []string{"draft-1", "index-1", "restore-1", "alt", "gone@20200101T000000.000", "archive", "branches", "logs"} {
		p.Write("../outside/"+name+"/only.txt", "there is no other copy\n")
		if err := os.Chtimes(p.Path("../outside/"+name), then, then); err != nil {
			t.Fatal(err)
		}
	}
	p.Save()
	return p, old
}

// TestNoFolderOfOursIsALink: with a link in place of any of them nothing is opened, made or cleared away, nothing beside the
// project changes, and the refusal names the link. Also with what was there behind it: it was not made there.
func TestNoFolderOfOursIsALink(t *testing.T) {
	enginetest.InFiles(t, "it moves folders of the store")
	t.Parallel()
	made, _ := peopled(t)
	outside, cases, bad := filepath.Join(filepath.Dir(made.Dir), "outside"), 0, 0
	for _, name := range linkable() {
		for _, moved := range []bool{false, true} {
			ok := t.Run(fmt.Sprintf("%s %v", strings.ReplaceAll(name, "/", "-"), moved), func(t *testing.T) {
				p := made.Again(t)
				defer os.RemoveAll(p.Path("../outside/moved"))
				link := p.Linked(name, moved)
				before := rootfstest.Snapshot(t, outside, "-")
				on := project.At(p.Dir, "")
				if strings.Contains(name, "alt") {
					on = project.At(p.Dir, "alt")
				}
				for op, do := range map[string]func() error{
					"Open":        func() error { return closed(engine.Open(on, p.Opts)) },
					"Revive":      func() error { _, err := project.Revive(on, nil); return err },
					"CheckFolder": on.CheckFolders,
					"FindLitter": func() error {
						if on.Branch != "" && name != "worktrees/alt" && name != "branches/alt" { // looked at by its own store
							return on.CheckFolders()
						}
						_, err := gc.Find(t.Context(), p.Dir, time.Now().Add(1000*enginetest.Day))
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

func closed(e *engine.Engine, err error) error {
	if err == nil {
		e.Close()
	}
	return err
}

// TestALinkLaidUnderAnOpenEngine: an agent in the project may lay one at any moment. What is done then fails, or does not
// need the folder; nothing beside the project changes.
func TestALinkLaidUnderAnOpenEngine(t *testing.T) {
	enginetest.InFiles(t, "it moves folders of the store")
	t.Parallel()
	made, _ := peopled(t)
	outside, cases, bad := filepath.Join(filepath.Dir(made.Dir), "outside"), 0, 0
	names := []string{"logs", "git/objects", "archive/branches", "worktrees/alt"} // one of each kind; all with -full
	if kit.Full() {
		names = linkable()
	}
	for _, name := range names {
		ok := t.Run(strings.ReplaceAll(name, "/", "-"), func(t *testing.T) {
			p := made.Again(t)
			sup, h := p.Supervisor(), p.Human()
			litter, err := gc.Find(t.Context(), p.Dir, time.Now().Add(1000*enginetest.Day))
			if err != nil || len(litter) < 2 {
				t.Fatalf("%v, %v", litter, err)
			}
			p.Linked(name, false)
			before := rootfstest.Snapshot(t, outside, "-")
			ctx := context.Background()
			did := map[string]error{}
			for _, l := range litter {
				did["Sweep "+l.Branch+l.TaskID] = gc.Sweep(ctx, p.Dir, l)
			}
			if now, err := sup.Engine().View(); err == nil {
				did["replace"] = sup.Engine().Place().WriteFile("logs/x.patch", []byte("x"))
				did["Archive"] = sup.Engine().Place().Archive(sup.Engine().Store(), now)
			}
			_, did["Announce"] = sup.Engine().Store().Announce("s-" + strings.Repeat("1", 8))
			_, _, did["Trial"] = sup.Engine().Trial(ctx)
			_, did["Branch"] = branch.Create(ctx, h, branch.Fork{Names: []string{"new"}, Own: true})
			_, did["Remove"] = branch.Remove(ctx, h, "alt", true)
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
	enginetest.InFiles(t, "it changes journal.jsonl")
	t.Parallel()
	made, old := peopled(t)
	outside, cases, bad := filepath.Join(filepath.Dir(made.Dir), "outside"), 0, 0
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
			p := made.Again(t)
			forged := rehashed(t, p.Read(".ferrus/journal.jsonl"), spoil[0], spoil[1])
			p.Write(".ferrus/journal.jsonl", forged)
			before := rootfstest.Snapshot(t, outside, "-")
			ctx := context.Background()
			_, err := gc.Find(ctx, p.Dir, time.Now().Add(1000*enginetest.Day))
			if refusal.CodeOf(err) != refusal.Corrupt || !strings.Contains(err.Error(), "its field ") {
				t.Errorf("gc: %v", err)
			}
			cases++
			e, err := engine.Open(project.At(p.Dir, ""), p.Opts)
			if err != nil {
				t.Fatal(err)
			}
			defer e.Close()
			h := e.Session(engine.Caller{Role: state.Human, Agent: "human", TTY: true})
			_, viewed := e.View() // which may be right: it reads the newest line alone
			for op, err := range map[string]error{
				"check":    func() error { _, _, err := e.Trial(ctx); return err }(),
				"rollback": enginetest.Second(h.Rollback(ctx, 2, "why")),
				"archive":  e.Place().Archive(e.Store(), store.Snapshot{Task: state.Task{TaskID: "../../outside/x", Docs: map[state.Doc]state.Ref{state.TaskDoc: {}}}}),
			} {
				cases++
				if viewed != nil && refusal.CodeOf(viewed) != refusal.Corrupt || err != nil && strings.Contains(err.Error(), "panic") {
					t.Errorf("%s: %v, %v", op, viewed, err)
				}
			}
			if after := rootfstest.Snapshot(t, outside, "-"); after != before {
				t.Errorf("outside there was\n%sand is\n%s", before, after)
			}
			if p.Read(".ferrus/journal.jsonl") != forged {
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
	enginetest.InFiles(t, "it changes journal.jsonl")
	t.Parallel()
	p := enginetest.Repository(t, enginetest.Gate("true"))
	p.Begun()
	outside := strings.Repeat("x", len(filepath.Base(p.Dir))) // as long as the name that it replaces: STATE.json says where lines begin
	p.Write("../"+outside+"/code.txt", "theirs\n")
	forged := rehashed(t, p.Read(".ferrus/journal.jsonl"), `"worktree":"`+p.Dir, `"worktree":"`+filepath.Dir(p.Dir)+"/"+outside)
	p.Write(".ferrus/journal.jsonl", forged)
	e := p.Engine()
	now := enginetest.View(t, e.Session(engine.Caller{Role: state.Supervisor, Agent: "supervisor:claude:1"}))
	if now.Task.Worktree != p.Dir || e.Place().Work != p.Dir {
		t.Errorf("the work is in %s", now.Task.Worktree)
	}
	if tree := enginetest.Must(e.Tree(t.Context(), now))(t); tree.Top() != p.Dir {
		t.Errorf("its tree is %s", tree.Top())
	}
}
