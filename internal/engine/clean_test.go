//go:build unix

package engine_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/ferrus-go/ferrus/internal/config"
	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/engine/branch"
	"github.com/ferrus-go/ferrus/internal/engine/enginetest"
	"github.com/ferrus-go/ferrus/internal/project/gc"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/test/kit"
)

// where is a ferrus.toml whose gate runs there, and never gives up.
func where(place string, commands ...string) string {
	return enginetest.Gate(commands...) + "where = \"" + place + "\"\n[limits]\nmax_check_retries = 100000\nmax_same_failure = 100000\n"
}

// A swapper is a process of the executor's that knows when the gate's command begins and ends to look: the command says so
// itself, and waits for it.
type swapper struct {
	ask, answer *os.File
}

// swapping is a project whose gate looks at code.txt, and waits for a swapper before and after.
func swapping(t *testing.T, place string) (*enginetest.Machine, swapper) {
	p := enginetest.Plain(t, "")
	var ends [2]*os.File
	for i, name := range []string{"ask", "answer"} {
		fifo := filepath.Join(p.Side, name)
		if err := syscall.Mkfifo(fifo, 0o600); err != nil {
			t.Fatal(err)
		}
		var err error
		if ends[i], err = os.OpenFile(fifo, os.O_RDWR, 0); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { ends[i].Close() })
	}
	turn := fmt.Sprintf("echo >%s/ask; read x <%s/answer", p.Side, p.Side)
	p.Write("ferrus.toml", where(place, turn+"; grep -q good code.txt; is=$?; "+turn+"; exit $is"))
	p.Commits()
	return p, swapper{ends[0], ends[1]}
}

// swap does one thing when the command is about to look, and another when it has looked.
func (s swapper) swap(t *testing.T, before, after func() error) {
	line := make([]byte, 1)
	for _, do := range []func() error{before, after} {
		if _, err := s.ask.Read(line); err != nil {
			t.Error(err)
		}
		if err := do(); err != nil {
			t.Error(err)
		}
		if _, err := s.answer.Write([]byte("\n")); err != nil {
			t.Error(err)
		}
	}
}

// TestAGoodFileIsSwappedIn: the executor's work is bad; a process of its own swaps a good file in when the check looks, and
// the bad one back before the files are compared. In the work tree that cannot be told from a good check, and nothing else
// is promised; a clean gate judges what is submitted.
func TestAGoodFileIsSwappedIn(t *testing.T) {
	t.Parallel()
	for _, place := range []string{config.InWorktree, config.InClean} {
		t.Run(place, func(t *testing.T) {
			p, s := swapping(t, place)
			p.Write("code.txt", "bad\n")
			p.Write("src/code.txt", "bad\n")
			_, ex := p.Begun()
			file := func(name string) string { return filepath.Join(p.Dir, name) }
			put := func(name, text string) func() error {
				return func() error { return os.WriteFile(file(name), []byte(text), 0o644) }
			}
			move := func(text string) func() error {
				return func() error {
					if err := os.WriteFile(file("aside"), []byte(text), 0o644); err != nil {
						return err
					}
					return os.Rename(file("aside"), file("code.txt"))
				}
			}
			link := func() error {
				if err := os.Remove(file("code.txt")); err != nil {
					return err
				}
				return os.Symlink(p.Side+"/good", file("code.txt"))
			}
			back := func() error {
				if err := os.Remove(file("code.txt")); err != nil {
					return err
				}
				return put("code.txt", "bad\n")()
			}
			if err := os.WriteFile(p.Side+"/good", []byte("good\n"), 0o644); err != nil {
				t.Fatal(err)
			}
			ways := []struct{ in, out func() error }{
				{put("code.txt", "good\n"), put("code.txt", "bad\n")}, {move("good\n"), move("bad\n")}, {link, back},
			}
			through, attempts := 0, enginetest.Most(9, 300)
			for i := range attempts {
				done := make(chan struct{})
				go func() {
					defer close(done)
					s.swap(t, ways[i%len(ways)].in, ways[i%len(ways)].out)
				}()
				out, err := ex.Check(t.Context(), kit.Patience)
				if err != nil {
					t.Fatal(err)
				}
				<-done
				if out.Status == state.CheckGreen {
					through++
				}
			}
			t.Logf("%s: %d of %d got through", place, through, attempts)
			want := map[string]int{config.InWorktree: attempts, config.InClean: 0}[place]
			if through != want {
				t.Errorf("%d of %d got through, want %d", through, attempts, want)
			}
		})
	}
}

// TestAGoodFileIsSwappedOut is the other way round: the tree that is checked is good, and the bad one is put in its place
// afterwards. Whatever was checked, what is submitted is the work tree.
func TestAGoodFileIsSwappedOut(t *testing.T) {
	t.Parallel()
	p, s := swapping(t, config.InClean)
	p.Write("code.txt", "good\n")
	_, ex := p.Begun()
	go s.swap(t, func() error { p.Write("code.txt", "bad\n"); return nil }, func() error { return nil })
	out, err := ex.Check(t.Context(), kit.Patience)
	if err != nil || out.Status != state.CheckGreen {
		t.Fatalf("%+v, %v", out, err)
	}
	go s.swap(t, func() error { return nil }, func() error { return nil })
	got, err := ex.Submit(t.Context(), engine.Submitting{Summary: "Done.", Verification: "Checked.", NoChange: "None is needed."}, kit.Patience)
	if err != nil || got.Accepted || got.Gate.Status != state.CheckRed {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestACheckLeavesNothingForTheNext: what the gate's own commands wrote into the checkout is gone when the next one runs,
// in the same server and in another.
func TestACheckLeavesNothingForTheNext(t *testing.T) {
	t.Parallel()
	p := enginetest.Repository(t, where("clean", "sh test.sh"))
	p.Write("test.sh", "echo good >code.txt.new; mv code.txt.new answer; echo 'exit 0' >../test.sh; mkdir -p .git/hooks; touch planted\n")
	p.Write("code.txt", "good\n")
	_, ex := p.Begun()
	if out, err := ex.Check(t.Context(), kit.Patience); err != nil || out.Status != state.CheckGreen {
		t.Fatalf("%+v, %v", out, err)
	}
	p.Write("test.sh", "test ! -e answer && test ! -e planted && test ! -e .git && grep -q good code.txt\n")
	p.Write("code.txt", "bad\n")
	if out, err := ex.Check(t.Context(), kit.Patience); err != nil || out.Status != state.CheckRed {
		t.Fatalf("%+v, %v", out, err)
	}
	p.Write("code.txt", "good\n")
	if out, err := ex.Check(t.Context(), kit.Patience); err != nil || out.Status != state.CheckGreen {
		t.Fatalf("%+v, %v", out, err)
	}
	// A check that changes what it judges says nothing of the tree.
	p.Write("test.sh", "echo better >>code.txt\n")
	out, err := ex.Check(t.Context(), kit.Patience)
	if err != nil || out.Status != state.CheckMoved || strings.Join(out.Changed, " ") != "code.txt" {
		t.Fatalf("%+v, %v", out, err)
	}
	if p.Read("code.txt") != "good\n" || p.Exists("planted") {
		t.Error("the checks of a clean gate changed the work tree")
	}
}

// TestTheSetUpRunsBeforeTheExecutor: on the files with which the task began, once, with what the project has beside them.
func TestTheSetUpRunsBeforeTheExecutor(t *testing.T) {
	t.Parallel()
	p := enginetest.Repository(t, where("clean", "grep -q one deps/installed && grep -q secret .env && test ! -e .git")+
		"[branches]\nsetup = 'cp \"$FERRUS_PROJECT/.env\" . && mkdir deps && cp code.txt deps/installed && echo ran >>"+"../../../../runs'\n")
	p.Write(".gitignore", ".env\ndeps\n.ferrus\n")
	p.Write(".env", "secret\n")
	_, ex := p.Begun()
	p.Write("code.txt", "two\n")
	for range 2 {
		if out, err := ex.Check(t.Context(), kit.Patience); err != nil || out.Status != state.CheckGreen {
			t.Fatalf("%+v, %v", out, err)
		}
	}
	dir, err := gc.CheckoutsDir(p.Dir)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(filepath.Join(dir, "../../runs")); err != nil || string(got) != "ran\n" {
		t.Errorf("%q, %v", got, err)
	}
	os.Remove(filepath.Join(dir, "../../runs"))
	if p.Exists("deps") {
		t.Error("it ran in the work tree")
	}
}

// TestCheckoutsGoWithWhatTheyAreFor: with a reset, with a branch, and by ferrus gc.
func TestCheckoutsGoWithWhatTheyAreFor(t *testing.T) {
	t.Parallel()
	p := enginetest.Repository(t, where("clean", "true"))
	_, ex := p.Begun()
	there := func() (names []string) {
		dir, err := gc.CheckoutsDir(p.Dir)
		if err != nil {
			t.Fatal(err)
		}
		entries, _ := os.ReadDir(dir)
		for _, e := range entries {
			names = append(names, e.Name())
		}
		return names
	}
	left := func() []gc.LeftCheckout {
		list, err := gc.LeftCheckouts(p.Dir)
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	out := enginetest.Must(ex.Check(t.Context(), kit.Patience))(t)
	h := p.Human()
	enginetest.Branched(t, h, branch.Fork{Names: []string{"try"}})
	on := p.On("try").Executor("codex")
	enginetest.Claim(t, on)
	enginetest.Must(on.Check(t.Context(), kit.Patience))(t)
	enginetest.Must2(h.Engine().Trial(t.Context()))(t)
	want := []string{"@by-hand", "@" + out.Task.TaskID, "try@" + out.Task.TaskID}
	if got := there(); strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("%q, want %q", got, want)
	}
	if got := left(); len(got) != 1 || got[0].TaskID != gc.ByHand {
		t.Errorf("%+v", got)
	}
	enginetest.Must(branch.Remove(t.Context(), h, "try", true))(t)
	enginetest.Must(h.Reset(t.Context(), "enough"))(t)
	if got := there(); len(got) != 0 {
		t.Errorf("left: %q", got)
	}
	// A killed removal, or one of an older machine.
	dir, _ := gc.CheckoutsDir(p.Dir)
	for _, name := range []string{"gone@t-1", "@t-2.removed"} {
		if err := os.MkdirAll(filepath.Join(dir, name, "files"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if got := left(); len(got) != 2 {
		t.Errorf("%+v", got)
	}
	if err := gc.RemoveCheckouts(left()); err != nil || len(there()) != 0 {
		t.Errorf("%v, %q", err, there())
	}
}

// TestACleanMergeIsJudgedInTheCheckout: the merged result is laid out there, and the branch's work tree keeps its files.
func TestACleanMergeIsJudgedInTheCheckout(t *testing.T) {
	t.Parallel()
	p := enginetest.Repository(t, where("clean", "test ! -e a.txt || test ! -e b.txt || grep -q both code.txt"))
	enginetest.Must(p.Supervisor().CreateTask(t.Context(), "Build it.", ""))(t)
	h := p.Human()
	enginetest.Branched(t, h, branch.Fork{Names: []string{"try"}})
	one := p.On("try")
	one.Does("a.txt", "a\n")
	p.Write("b.txt", "b\n")
	b := one.Human()
	_, err := branch.Merge(t.Context(), h, b, nil)
	if refusal.CodeOf(err) != refusal.Conflict || one.Exists("b.txt") || p.Exists("a.txt") {
		t.Fatalf("%v", err)
	}
	p.Write("code.txt", "both\n")
	if _, err := branch.Merge(t.Context(), h, b, nil); err != nil || p.Read("a.txt") != "a\n" {
		t.Errorf("%v", err)
	}
}

// TestCleanNeedsGit: a project without it gets an error when the gate would be frozen.
func TestCleanNeedsGit(t *testing.T) {
	t.Parallel()
	p := enginetest.Plain(t, where("clean", "true"))
	if _, err := p.Supervisor().CreateTask(t.Context(), "Build it.", ""); refusal.CodeOf(err) != refusal.InvalidInput || !strings.Contains(err.Error(), "git") {
		t.Errorf("a task: %v", err)
	}
	if _, _, err := p.Human().Engine().Trial(t.Context()); refusal.CodeOf(err) != refusal.InvalidInput {
		t.Errorf("by hand: %v", err)
	}
	p.Write("ferrus.toml", enginetest.Gate("true"))
	p.Begun()
	p.Write("ferrus.toml", where("clean", "true"))
	if _, _, err := p.Human().AcceptConfig(t.Context()); refusal.CodeOf(err) != refusal.InvalidInput {
		t.Errorf("accept: %v", err)
	}
}

// TestNoCheckoutWhereTheExecutorWorks: a state folder in the repository is refused before anything is frozen.
func TestNoCheckoutWhereTheExecutorWorks(t *testing.T) {
	enginetest.InFiles(t, "it has the record of the project in the project")
	p := enginetest.Repository(t, where("clean", "true"))
	t.Setenv("FERRUS_STATE_DIR", filepath.Join(p.Dir, "state"))
	if _, err := p.Supervisor().CreateTask(t.Context(), "Build it.", ""); refusal.CodeOf(err) != refusal.InvalidInput {
		t.Error(err)
	}
	if p.Exists("state") {
		t.Error("it was made")
	}
}
