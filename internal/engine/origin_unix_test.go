//go:build unix

package engine_test

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/engine/enginetest"

	"github.com/ferrus-go/ferrus/internal/config/trust"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/worktree/git"
)

// upgraded is a project with a task that a ferrus without records made.
func upgraded(t testing.TB) *enginetest.Machine {
	p := enginetest.Plain(t, checksOf("true"))
	sup := p.Supervisor()
	enginetest.Must(sup.CreateTask(t.Context(), "mine", ""))(t)
	sup.Engine().Close()
	return p.Recorded()
}

func checksOf(command string) string { return "[checks]\ncommands = [\"" + command + "\"]\n" }

func made(t testing.TB, n int) *enginetest.Machine {
	return enginetest.Plain(t, checksOf("true")).Recorded().Agreed().Works(n)
}

func why(err error) project.Strangeness {
	var f *project.ForeignError
	if errors.As(err, &f) && refusal.CodeOf(err) == refusal.ForeignState {
		return f.Why
	}
	return ""
}

// TestStateFromElsewhereIsNotUsed attacks a live project in each way in which state can come from elsewhere.
func TestStateFromElsewhereIsNotUsed(t *testing.T) {
	enginetest.InFiles(t, "it copies journal.jsonl")
	t.Parallel()
	evil := made(t, 5).Journal()
	first := func(journal []byte) []byte { return journal[:bytes.IndexByte(journal, '\n')+1] }
	for _, c := range []struct {
		name string
		do   func(p *enginetest.Machine)
		want project.Strangeness
		code refusal.Code
	}{
		{"another journal", func(p *enginetest.Machine) { p.Replace("journal.jsonl", evil) }, project.OtherJournal, refusal.ForeignState},
		{"another journal, written over ours", func(p *enginetest.Machine) {
			if err := os.WriteFile(p.Path(".ferrus/journal.jsonl"), evil, 0o600); err != nil {
				p.T.Fatal(err)
			}
		}, project.OtherJournal, refusal.ForeignState},
		{"our first line, then another history", func(p *enginetest.Machine) {
			ours := p.Journal()
			p.Replace("journal.jsonl", append(bytes.Clone(first(ours)), bytes.Repeat(evil, 1+len(ours)/len(evil))...))
		}, project.OtherJournal, refusal.ForeignState},
		{"another first line with the hash of ours", func(p *enginetest.Machine) {
			ours := p.Journal()
			p.Replace("journal.jsonl", bytes.Replace(ours, []byte("mine"), []byte("evil"), 1))
		}, "", refusal.Corrupt},
		{"less than was seen", func(p *enginetest.Machine) { p.Replace("journal.jsonl", first(p.Journal())) }, project.OlderJournal, refusal.ForeignState},
		{"half of a line", func(p *enginetest.Machine) { p.Replace("journal.jsonl", evil[:100]) }, project.OtherJournal, refusal.ForeignState},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := made(t, 3)
			if err := p.Judged(); err != nil {
				t.Fatal(err)
			}
			open := p.Supervisor()
			enginetest.View(t, open)
			c.do(p)
			if err := p.Judged(); why(err) != c.want || refusal.CodeOf(err) != c.code {
				t.Errorf("opened anew: %v", err)
			}
			if _, err := open.Engine().View(); c.name != "another journal, written over ours" && refusal.CodeOf(err) != c.code {
				t.Errorf("a server that is open: %v", err)
			}
			if _, err := open.CreateTask(t.Context(), "more", ""); err == nil {
				t.Error("it acts")
			}
			if c.code != refusal.ForeignState {
				return
			}
			opts := p.Opts
			opts.Look = true
			e, err := engine.Open(project.At(p.Dir, ""), opts)
			if err != nil {
				t.Fatal(err)
			}
			defer e.Close()
			files := func() string {
				return p.Read(".ferrus/journal.jsonl") + p.Read(".ferrus/STATE.json") + p.Read(".ferrus/TASK.md")
			}
			before := files()
			_, _ = e.View()
			if why(e.Foreign()) != c.want || files() != before {
				t.Errorf("looked at: %v", e.Foreign())
			}
		})
	}
	t.Run("a journal where there was none", func(t *testing.T) {
		t.Parallel()
		p := enginetest.Plain(t, "").Recorded()
		project.MarkEmpty(project.At(p.Dir, ""), p.Opts.Project)
		p.Replace("journal.jsonl", evil)
		if err := p.Judged(); why(err) != project.OtherJournal {
			t.Error(err)
		}
	})
}

// TestWhatGitTracksIsNotState: a commit brings a control file of any kind.
func TestWhatGitTracksIsNotState(t *testing.T) {
	t.Parallel()
	p := enginetest.Repository(t, checksOf("true")).Recorded().Agreed().Works(1)
	open := p.Supervisor()
	enginetest.View(t, open)
	for name, tracked := range map[string]bool{
		"STATE.json": true, "journal.jsonl": true, "tokens.json": true, "TASK.md": true, "queue/one.md": true, "register.json": true,
		"branches/b/journal.jsonl": true, "runs/t.jsonl": true, "live/agent-main-executor.lock": true, "git/config": true, "anything": true,
		"workflows.json": false, "workflows.schema.json": false, "README.md": false, "TASK.example.md": false, "skills/executor/SKILL.md": false, ".gitignore": false,
	} {
		if !p.Exists(".ferrus/" + name) {
			p.Replace(name, []byte("{}"))
		}
		p.Git("add", "-f", ".ferrus/"+name)
		want := project.Strangeness("")
		if tracked {
			want = project.TrackedState
		}
		if err := p.Judged(); why(err) != want || (err == nil) == tracked {
			t.Errorf("%s: %v", name, err)
		}
		if err := open.Engine().Ours(); why(err) != want {
			t.Errorf("%s, for a server that is open: %v", name, err)
		}
		if _, err := open.Engine().View(); why(err) != want {
			t.Errorf("%s, for a server that is open: %v", name, err)
		}
		p.Git("rm", "-q", "--cached", ".ferrus/"+name)
	}
	if err := p.Judged(); err != nil {
		t.Error(err)
	}
}

// TestAnotherUsersStateIsNotUsed: of .ferrus, of the project, and of the repository around it; in a folder further up it is
// not even found. It needs to give files away, which only root can: others look at their own as another user.
func TestAnotherUsersStateIsNotUsed(t *testing.T) {
	p := enginetest.Repository(t, checksOf("true")).Recorded().Agreed().Works(1)
	sub := filepath.Join(p.Dir, "deep", "down")
	if err := os.MkdirAll(sub, 0o755); err != nil {
		t.Fatal(err)
	}
	give := func(path string) func() { // returns what undoes it
		if os.Geteuid() != 0 {
			was := project.EffectiveUser
			project.EffectiveUser = func() int { return 424242 }
			return func() { project.EffectiveUser = was }
		}
		if err := os.Lchown(path, 424242, -1); err != nil {
			t.Fatal(err)
		}
		return func() { os.Lchown(path, 0, -1) }
	}
	for _, path := range []string{p.Path(".ferrus"), p.Dir} {
		back := give(path)
		if err := p.Judged(); why(err) != project.OwnedByOther {
			t.Errorf("%s: %v", path, err)
		}
		for value, safe := range map[string]bool{p.Dir: true, "*": true, filepath.Dir(p.Dir) + "/*": true, p.Dir + "x": false, filepath.Dir(p.Dir): false} {
			conf := filepath.Join(p.Side, "gitconfig")
			if err := os.WriteFile(conf, []byte("[safe]\n\tdirectory = "+git.ConfigQuoted(value)+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			t.Setenv("GIT_CONFIG_GLOBAL", conf)
			if err := p.Judged(); safe != (why(err) == "") {
				t.Errorf("%s, with safe.directory = %s: %v", path, value, err)
			}
			t.Setenv("GIT_CONFIG_GLOBAL", os.DevNull)
		}
		back()
	}
	if place, err := project.Find(t.Context(), sub); err != nil || place.Root != p.Dir {
		t.Errorf("ours is not found from below: %v, %v", place, err)
	}
	back := give(p.Path(".ferrus"))
	place, err := project.Find(t.Context(), sub)
	if refusal.CodeOf(err) != refusal.NotInitialised || !strings.Contains(err.Error(), "belongs to another user (uid ") || !strings.Contains(err.Error(), "is not used") {
		t.Errorf("found from below: %v, %v", place, err)
	}
	back()
	if err := p.Judged(); err != nil {
		t.Error(err)
	}
}

// TestOneQuestionAtMost: what happens to a project that is nobody's attack, and what is asked then.
func TestOneQuestionAtMost(t *testing.T) {
	enginetest.InFiles(t, "it takes the record of the project away")
	fresh := func(p *enginetest.Machine) {
		p.T.Setenv(trust.EnvStateDir, filepath.Join(p.Side, "fresh"))
		p.Recorded()
	}
	away := func(p *enginetest.Machine, name string) string { return filepath.Join(p.Side, name) }
	for _, c := range []struct {
		name  string
		make  func(t testing.TB) *enginetest.Machine
		do    func(p *enginetest.Machine)
		asks  project.Strangeness
		known bool // by the record, without an agreement
	}{
		{"nothing", func(t testing.TB) *enginetest.Machine { return made(t, 2) }, func(*enginetest.Machine) {}, "", true},
		{"an upgrade", func(t testing.TB) *enginetest.Machine { return upgraded(t) }, func(*enginetest.Machine) {}, "", false},
		{"a fresh HOME", func(t testing.TB) *enginetest.Machine { return made(t, 2) }, fresh, "", false},
		{"other devices and inodes", func(t testing.TB) *enginetest.Machine { return made(t, 2) }, func(p *enginetest.Machine) {
			p.Copy(p.Dir, away(p, "copy"))
			if err := os.RemoveAll(p.Dir); err != nil {
				p.T.Fatal(err)
			}
			p.Copy(away(p, "copy"), p.Dir)
		}, "", true},
		{"a copy in another place", func(t testing.TB) *enginetest.Machine { return made(t, 2) }, func(p *enginetest.Machine) {
			p.Copy(p.Dir, away(p, "copy"))
			p.Dir = away(p, "copy")
			p.Recorded()
		}, "", false},
		{"a backup, newer", func(t testing.TB) *enginetest.Machine { return made(t, 2) }, func(p *enginetest.Machine) {
			record := p.Opts.Project
			p.Opts.Project = nil // another machine goes on with it
			p.Works(2)
			p.Opts.Project = record
		}, "", true},
		{"a backup, older", func(t testing.TB) *enginetest.Machine { return made(t, 1) }, func(p *enginetest.Machine) {
			p.Copy(p.Path(".ferrus"), away(p, "backup"))
			p.Works(2)
			if err := os.RemoveAll(p.Path(".ferrus")); err != nil {
				p.T.Fatal(err)
			}
			p.Copy(away(p, "backup"), p.Path(".ferrus"))
		}, project.OlderJournal, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := c.make(t)
			c.do(p)
			err := p.Judged()
			if why(err) != c.asks || (err == nil) != (c.asks == "") {
				t.Fatalf("the first look: %v", err)
			}
			if r, _, _ := p.Opts.Project.Record(); r.Journal.Begun() != c.known {
				t.Errorf("recorded without an agreement: %+v", r.Journal)
			}
			// The one answer: to the question of the journal, or with the agreement.
			if c.asks != "" {
				opts := p.Opts
				opts.Look = true
				e, err := engine.Open(project.At(p.Dir, ""), opts)
				if err == nil {
					err = errors.Join(e.Adopt(), e.Close())
				}
				if err != nil {
					t.Fatal(err)
				}
			} else if !c.known {
				p.Agreed()
			}
			if err := p.Judged(); err != nil {
				t.Fatalf("asked again: %v", err)
			}
			p.Works(1)
			r, _, err := p.Opts.Project.Record()
			if err != nil || !r.Journal.Begun() || r.Journal.H == "" {
				t.Errorf("not recorded afterwards: %+v, %v", r.Journal, err)
			}
			if err := p.Judged(); err != nil {
				t.Errorf("after more work: %v", err)
			}
		})
	}
	t.Run("FERRUS_TRUST without a state folder", func(t *testing.T) {
		p := enginetest.Plain(t, checksOf("true"))
		t.Setenv(trust.EnvTrust, trust.Digest(p.Values()))
		t.Setenv(trust.EnvStateDir, p.Path("ferrus.toml")) // a file, in the project
		p.Recorded().Works(3)
		if err := p.Judged(); err != nil {
			t.Error(err)
		}
	})
}

// TestAFirstLineIsRecordedBeforeItIsWritten: a process that ends in between, and two that begin at once.
func TestAFirstLineIsRecordedBeforeItIsWritten(t *testing.T) {
	t.Parallel()
	p := enginetest.Plain(t, checksOf("true")).Recorded().Agreed()
	o := project.NewJudge(t.Context(), project.At(p.Dir, ""), p.Opts.Project, time.Time{})
	if err := o.Begin(strings.Repeat("0", 64)); err != nil { // and killed
		t.Fatal(err)
	}
	if err := p.Judged(); err != nil {
		t.Errorf("after the kill: %v", err)
	}
	var wg sync.WaitGroup
	var mu sync.Mutex
	done := 0
	for range 4 {
		s := p.Supervisor()
		wg.Go(func() {
			if _, err := s.CreateTask(t.Context(), "mine", ""); err == nil {
				mu.Lock()
				done++
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	if done != 1 {
		t.Errorf("%d first tasks", done)
	}
	if err := p.Judged(); err != nil {
		t.Errorf("after the race: %v", err)
	}
	r, _, err := p.Opts.Project.Record()
	if err != nil || !r.Journal.Began(p.First()) {
		t.Errorf("the first line is not recorded: %+v, %v", r.Journal, err)
	}
}

// TestAForeignJournalIsSetAside: ours comes back from its hard-linked copy, and the stranger is evidence.
func TestAForeignJournalIsSetAside(t *testing.T) {
	enginetest.InFiles(t, "it changes journal.jsonl")
	t.Parallel()
	p := enginetest.Repository(t, checksOf("true")).Recorded().Agreed()
	p.Init() // links the journal in the repository
	p.Works(2)
	want := p.Journal()
	evil := made(t, 3).Journal()
	p.Replace("journal.jsonl", evil)
	p.Replace("tokens.json", []byte("evil"))
	p.Git("add", "-f", ".ferrus/journal.jsonl", ".ferrus/tokens.json")
	var strange *project.ForeignError
	if err := project.Foreign(t.Context(), project.At(p.Dir, ""), p.Opts.Project); !errors.As(err, &strange) {
		t.Fatal(err)
	}
	did, err := project.SetAside(t.Context(), project.At(p.Dir, ""), p.Opts.Project, strange, time.Now())
	if err != nil || !strings.Contains(did, "restored your journal") {
		t.Fatalf("%s, %v", did, err)
	}
	if err := p.Judged(); err != nil || !bytes.Equal(p.Journal(), want) {
		t.Errorf("not ours again: %v", err)
	}
	kept, _ := fs.Glob(os.DirFS(p.Path(".ferrus")), "archive/foreign-*/journal.jsonl")
	if len(kept) != 1 || p.Exists(".ferrus/tokens.json") {
		t.Errorf("kept: %q", kept)
	}
	if out := p.Git("ls-files", ".ferrus"); out != "" {
		t.Errorf("git still tracks %s", out)
	}
}
