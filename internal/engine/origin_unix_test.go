//go:build unix

package engine

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

	"github.com/ferrus-go/ferrus/internal/agreement"
	"github.com/ferrus-go/ferrus/internal/config"
	"github.com/ferrus-go/ferrus/internal/origin"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/refusal"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/trust"
)

// recorded gives the project its record, as the command line does.
func (p *machine) recorded() *machine {
	p.t.Helper()
	record, err := trust.Open(p.dir)
	if err != nil {
		p.t.Fatal(err)
	}
	p.opts.Project = record
	return p
}

// values are what the project's files make run.
func (p *machine) values() []trust.Value {
	p.t.Helper()
	conf, err := config.Load(p.path(config.FileName))
	if err != nil {
		p.t.Fatal(err)
	}
	return agreement.Executable(p.dir, conf)
}

// agreed has a person agree to the project's files.
func (p *machine) agreed() *machine {
	p.t.Helper()
	if err := p.opts.Project.Agree(p.values()); err != nil {
		p.t.Fatal(err)
	}
	return p
}

// upgraded is a project with a task that a ferrus without records made.
func upgraded(t testing.TB) *machine {
	p := plain(t, checksOf("true"))
	sup := p.supervisor()
	must(sup.CreateTask(t.Context(), "mine", ""))(t)
	sup.e.Close()
	return p.recorded()
}

func checksOf(command string) string { return "[checks]\ncommands = [\"" + command + "\"]\n" }

// works makes n tasks, each after the one before was given up.
func (p *machine) works(n int) *machine {
	p.t.Helper()
	for range n {
		h := p.human()
		if view(p.t, h).Task.State != state.Idle {
			must(h.Reset(p.t.Context(), ""))(p.t)
		}
		must(h.CreateTask(p.t.Context(), "mine", ""))(p.t)
		h.e.Close()
	}
	return p
}

func made(t testing.TB, n int) *machine {
	return plain(t, checksOf("true")).recorded().agreed().works(n)
}

// judged is what opening the project and looking at it says.
func (p *machine) judged() error {
	e, err := Open(project.At(p.dir, ""), p.opts)
	if err != nil {
		return err
	}
	defer e.Close()
	_, err = e.View()
	return err
}

func why(err error) origin.Strangeness {
	var f *origin.ForeignError
	if errors.As(err, &f) && refusal.CodeOf(err) == refusal.ForeignState {
		return f.Why
	}
	return ""
}

// lay puts a file in the place of another, as git does: it removes the one and makes the other.
func (p *machine) lay(name string, data []byte) {
	p.t.Helper()
	path := filepath.Join(p.dir, ".ferrus", filepath.FromSlash(name))
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		p.t.Fatal(err)
	}
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, data, 0o600)); err != nil {
		p.t.Fatal(err)
	}
}

func (p *machine) journal() []byte { return []byte(p.read(".ferrus/journal.jsonl")) }

// TestStateFromElsewhereIsNotUsed attacks a live project in each way in which state can come from elsewhere.
func TestStateFromElsewhereIsNotUsed(t *testing.T) {
	t.Parallel()
	evil := made(t, 5).journal()
	first := func(journal []byte) []byte { return journal[:bytes.IndexByte(journal, '\n')+1] }
	for _, c := range []struct {
		name string
		do   func(p *machine)
		want origin.Strangeness
		code refusal.Code
	}{
		{"another journal", func(p *machine) { p.lay("journal.jsonl", evil) }, origin.OtherJournal, refusal.ForeignState},
		{"another journal, written over ours", func(p *machine) {
			if err := os.WriteFile(p.path(".ferrus/journal.jsonl"), evil, 0o600); err != nil {
				p.t.Fatal(err)
			}
		}, origin.OtherJournal, refusal.ForeignState},
		{"our first line, then another history", func(p *machine) {
			ours := p.journal()
			p.lay("journal.jsonl", append(bytes.Clone(first(ours)), bytes.Repeat(evil, 1+len(ours)/len(evil))...))
		}, origin.OtherJournal, refusal.ForeignState},
		{"another first line with the hash of ours", func(p *machine) {
			ours := p.journal()
			p.lay("journal.jsonl", bytes.Replace(ours, []byte("mine"), []byte("evil"), 1))
		}, "", refusal.Corrupt},
		{"less than was seen", func(p *machine) { p.lay("journal.jsonl", first(p.journal())) }, origin.OlderJournal, refusal.ForeignState},
		{"half of a line", func(p *machine) { p.lay("journal.jsonl", evil[:100]) }, origin.OtherJournal, refusal.ForeignState},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := made(t, 3)
			if err := p.judged(); err != nil {
				t.Fatal(err)
			}
			open := p.supervisor()
			view(t, open)
			c.do(p)
			if err := p.judged(); why(err) != c.want || refusal.CodeOf(err) != c.code {
				t.Errorf("opened anew: %v", err)
			}
			if _, err := open.e.View(); c.name != "another journal, written over ours" && refusal.CodeOf(err) != c.code {
				t.Errorf("a server that is open: %v", err)
			}
			if _, err := open.CreateTask(t.Context(), "more", ""); err == nil {
				t.Error("it acts")
			}
			if c.code != refusal.ForeignState {
				return
			}
			opts := p.opts
			opts.Look = true
			e, err := Open(project.At(p.dir, ""), opts)
			if err != nil {
				t.Fatal(err)
			}
			defer e.Close()
			files := func() string {
				return p.read(".ferrus/journal.jsonl") + p.read(".ferrus/STATE.json") + p.read(".ferrus/TASK.md")
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
		p := plain(t, "").recorded()
		origin.MarkEmpty(project.At(p.dir, ""), p.opts.Project)
		p.lay("journal.jsonl", evil)
		if err := p.judged(); why(err) != origin.OtherJournal {
			t.Error(err)
		}
	})
}

// TestWhatGitTracksIsNotState: a commit brings a control file of any kind.
func TestWhatGitTracksIsNotState(t *testing.T) {
	t.Parallel()
	p := repository(t, checksOf("true")).recorded().agreed().works(1)
	open := p.supervisor()
	view(t, open)
	for name, tracked := range map[string]bool{
		"STATE.json": true, "journal.jsonl": true, "tokens.json": true, "TASK.md": true, "queue/one.md": true, "register.json": true,
		"branches/b/journal.jsonl": true, "runs/t.jsonl": true, "live/agent-main-executor.lock": true, "git/config": true, "anything": true,
		"workflows.json": false, "workflows.schema.json": false, "README.md": false, "TASK.example.md": false, "skills/executor/SKILL.md": false, ".gitignore": false,
	} {
		if !p.exists(".ferrus/" + name) {
			p.lay(name, []byte("{}"))
		}
		p.git("add", "-f", ".ferrus/"+name)
		want := origin.Strangeness("")
		if tracked {
			want = origin.TrackedState
		}
		if err := p.judged(); why(err) != want || (err == nil) == tracked {
			t.Errorf("%s: %v", name, err)
		}
		if err := open.e.Ours(); why(err) != want {
			t.Errorf("%s, for a server that is open: %v", name, err)
		}
		if _, err := open.e.View(); why(err) != want {
			t.Errorf("%s, for a server that is open: %v", name, err)
		}
		p.git("rm", "-q", "--cached", ".ferrus/"+name)
	}
	if err := p.judged(); err != nil {
		t.Error(err)
	}
}

// TestAnotherUsersStateIsNotUsed: of .ferrus, of the project, and of the repository around it; in a folder further up it is
// not even found. It needs to give files away, which only root can: others look at their own as another user.
func TestAnotherUsersStateIsNotUsed(t *testing.T) {
	p := repository(t, checksOf("true")).recorded().agreed().works(1)
	sub := filepath.Join(p.dir, "deep", "down")
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
	for _, path := range []string{p.path(".ferrus"), p.dir} {
		back := give(path)
		if err := p.judged(); why(err) != origin.OwnedByOther {
			t.Errorf("%s: %v", path, err)
		}
		for value, safe := range map[string]bool{p.dir: true, "*": true, filepath.Dir(p.dir) + "/*": true, p.dir + "x": false, filepath.Dir(p.dir): false} {
			conf := filepath.Join(p.side, "gitconfig")
			if err := os.WriteFile(conf, []byte("[safe]\n\tdirectory = "+value+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			t.Setenv("GIT_CONFIG_GLOBAL", conf)
			if err := p.judged(); safe != (why(err) == "") {
				t.Errorf("%s, with safe.directory = %s: %v", path, value, err)
			}
			t.Setenv("GIT_CONFIG_GLOBAL", os.DevNull)
		}
		back()
	}
	if place, err := project.Find(t.Context(), sub); err != nil || place.Root != p.dir {
		t.Errorf("ours is not found from below: %v, %v", place, err)
	}
	back := give(p.path(".ferrus"))
	place, err := project.Find(t.Context(), sub)
	if refusal.CodeOf(err) != refusal.NotInitialised || !strings.Contains(err.Error(), "belongs to another user (uid ") || !strings.Contains(err.Error(), "is not used") {
		t.Errorf("found from below: %v, %v", place, err)
	}
	back()
	if err := p.judged(); err != nil {
		t.Error(err)
	}
}

// TestOneQuestionAtMost: what happens to a project that is nobody's attack, and what is asked then.
func TestOneQuestionAtMost(t *testing.T) {
	fresh := func(p *machine) { t.Setenv(trust.EnvStateDir, filepath.Join(p.side, "fresh")); p.recorded() }
	away := func(p *machine, name string) string { return filepath.Join(p.side, name) }
	for _, c := range []struct {
		name  string
		make  func(t testing.TB) *machine
		do    func(p *machine)
		asks  origin.Strangeness
		known bool // by the record, without an agreement
	}{
		{"nothing", func(t testing.TB) *machine { return made(t, 2) }, func(*machine) {}, "", true},
		{"an upgrade", func(t testing.TB) *machine { return upgraded(t) }, func(*machine) {}, "", false},
		{"a fresh HOME", func(t testing.TB) *machine { return made(t, 2) }, fresh, "", false},
		{"other devices and inodes", func(t testing.TB) *machine { return made(t, 2) }, func(p *machine) {
			p.copy(p.dir, away(p, "copy"))
			if err := os.RemoveAll(p.dir); err != nil {
				p.t.Fatal(err)
			}
			p.copy(away(p, "copy"), p.dir)
		}, "", true},
		{"a copy in another place", func(t testing.TB) *machine { return made(t, 2) }, func(p *machine) {
			p.copy(p.dir, away(p, "copy"))
			p.dir = away(p, "copy")
			p.recorded()
		}, "", false},
		{"a backup, newer", func(t testing.TB) *machine { return made(t, 2) }, func(p *machine) {
			record := p.opts.Project
			p.opts.Project = nil // another machine goes on with it
			p.works(2)
			p.opts.Project = record
		}, "", true},
		{"a backup, older", func(t testing.TB) *machine { return made(t, 1) }, func(p *machine) {
			p.copy(p.path(".ferrus"), away(p, "backup"))
			p.works(2)
			if err := os.RemoveAll(p.path(".ferrus")); err != nil {
				p.t.Fatal(err)
			}
			p.copy(away(p, "backup"), p.path(".ferrus"))
		}, origin.OlderJournal, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := c.make(t)
			c.do(p)
			err := p.judged()
			if why(err) != c.asks || (err == nil) != (c.asks == "") {
				t.Fatalf("the first look: %v", err)
			}
			if r, _, _ := p.opts.Project.Record(); r.Journal.Begun() != c.known {
				t.Errorf("recorded without an agreement: %+v", r.Journal)
			}
			// The one answer: to the question of the journal, or with the agreement.
			if c.asks != "" {
				opts := p.opts
				opts.Look = true
				e, err := Open(project.At(p.dir, ""), opts)
				if err == nil {
					err = errors.Join(e.Adopt(), e.Close())
				}
				if err != nil {
					t.Fatal(err)
				}
			} else if !c.known {
				p.agreed()
			}
			if err := p.judged(); err != nil {
				t.Fatalf("asked again: %v", err)
			}
			p.works(1)
			r, _, err := p.opts.Project.Record()
			if err != nil || !r.Journal.Begun() || r.Journal.H == "" {
				t.Errorf("not recorded afterwards: %+v, %v", r.Journal, err)
			}
			if err := p.judged(); err != nil {
				t.Errorf("after more work: %v", err)
			}
		})
	}
	t.Run("FERRUS_TRUST without a state folder", func(t *testing.T) {
		p := plain(t, checksOf("true"))
		t.Setenv(trust.EnvTrust, trust.Digest(p.values()))
		t.Setenv(trust.EnvStateDir, p.path("ferrus.toml")) // a file, in the project
		p.recorded().works(3)
		if err := p.judged(); err != nil {
			t.Error(err)
		}
	})
}

// TestAFirstLineIsRecordedBeforeItIsWritten: a process that ends in between, and two that begin at once.
func TestAFirstLineIsRecordedBeforeItIsWritten(t *testing.T) {
	t.Parallel()
	p := plain(t, checksOf("true")).recorded().agreed()
	o := origin.New(t.Context(), project.At(p.dir, ""), p.opts.Project, time.Time{})
	if err := o.Begin(strings.Repeat("0", 64)); err != nil { // and killed
		t.Fatal(err)
	}
	if err := p.judged(); err != nil {
		t.Errorf("after the kill: %v", err)
	}
	var wg sync.WaitGroup
	var mu sync.Mutex
	done := 0
	for range 4 {
		s := p.supervisor()
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
	if err := p.judged(); err != nil {
		t.Errorf("after the race: %v", err)
	}
	r, _, err := p.opts.Project.Record()
	if err != nil || !r.Journal.Began(p.first()) {
		t.Errorf("the first line is not recorded: %+v, %v", r.Journal, err)
	}
}

// first is the hash of the journal's first line.
func (p *machine) first() string {
	p.t.Helper()
	for l, err := range p.engine().store.History() {
		if err != nil {
			p.t.Fatal(err)
		}
		return l.H
	}
	return ""
}

// TestAForeignJournalIsSetAside: ours comes back from its hard-linked copy, and the stranger is evidence.
func TestAForeignJournalIsSetAside(t *testing.T) {
	t.Parallel()
	p := repository(t, checksOf("true")).recorded().agreed()
	p.init() // links the journal in the repository
	p.works(2)
	want := p.journal()
	evil := made(t, 3).journal()
	p.lay("journal.jsonl", evil)
	p.lay("tokens.json", []byte("evil"))
	p.git("add", "-f", ".ferrus/journal.jsonl", ".ferrus/tokens.json")
	var strange *origin.ForeignError
	if err := origin.Foreign(t.Context(), project.At(p.dir, ""), p.opts.Project); !errors.As(err, &strange) {
		t.Fatal(err)
	}
	did, err := origin.SetAside(t.Context(), project.At(p.dir, ""), p.opts.Project, strange, time.Now())
	if err != nil || !strings.Contains(did, "restored your journal") {
		t.Fatalf("%s, %v", did, err)
	}
	if err := p.judged(); err != nil || !bytes.Equal(p.journal(), want) {
		t.Errorf("not ours again: %v", err)
	}
	kept, _ := filepath.Glob(p.path(".ferrus/archive/foreign-*/journal.jsonl"))
	if len(kept) != 1 || p.exists(".ferrus/tokens.json") {
		t.Errorf("kept: %q", kept)
	}
	if out := p.git("ls-files", ".ferrus"); out != "" {
		t.Errorf("git still tracks %s", out)
	}
}
