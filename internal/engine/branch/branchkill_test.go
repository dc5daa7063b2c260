//go:build unix

package branch_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/engine/branch"
	"github.com/ferrus-go/ferrus/internal/engine/enginetest"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/worktree/snapshots"
	"github.com/ferrus-go/ferrus/test/kit"
)

// What a process that is to be killed gets: what to do, where, where the count stands of the points that it has come to,
// at which to die, and where the true git is.
const (
	cutDeed  = "FERRUS_CUT_DEED"
	cutRoot  = "FERRUS_CUT_ROOT"
	cutCount = "FERRUS_CUT_COUNT"
	cutAt    = "FERRUS_CUT_AT"
	cutGit   = "FERRUS_CUT_GIT"
)

// shim is the git of that process. A point is before each call of git and after it; another is each look at the clock, of
// which the store takes one before it commits.
const shim = `#!/bin/sh
point() {
	printf . >>"$FERRUS_CUT_COUNT"
	[ "$(wc -c <"$FERRUS_CUT_COUNT")" -ne "$FERRUS_CUT_AT" ] || { kill -9 $PPID; exit 1; }
}
point
"$FERRUS_CUT_GIT" "$@"
code=$?
point
exit $code
`

// TestTheCallThatIsKilled is no test: it is the process that is killed.
func TestTheCallThatIsKilled(t *testing.T) {
	t.Parallel()
	d, ok := deeds[os.Getenv(cutDeed)]
	if !ok {
		t.Skip("for TestAKilledCallIsFinishedByTheSame")
	}
	at, err := strconv.ParseInt(os.Getenv(cutAt), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	count, err := os.OpenFile(os.Getenv(cutCount), os.O_APPEND|os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	p := &enginetest.Machine{T: t, Dir: os.Getenv(cutRoot), Side: filepath.Dir(os.Getenv(cutCount))}
	p.Opts = engine.Options{Log: enginetest.Quiet, Now: func() time.Time {
		_, _ = count.WriteString(".")
		if info, err := count.Stat(); err == nil && info.Size() == at {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
		return time.Now()
	}}
	if err := d.do(t.Context(), p, p.Human()); err != nil {
		t.Fatal(err)
	}
}

// A deed is a call that may be killed.
type deed struct {
	ready func(t *testing.T, p *enginetest.Machine)
	do    func(ctx context.Context, p *enginetest.Machine, h *engine.Session) error
	at    int                                       // the point at which it is killed without -full: late, of some more that it has
	over  refusal.Code                              // of the refusal when it had been done, and only its answer was lost
	done  func(t *testing.T, p *enginetest.Machine) // demands that it is, once
}

var deeds = map[string]deed{
	"branch": {branchReady, func(ctx context.Context, _ *enginetest.Machine, h *engine.Session) error {
		return enginetest.Second(branch.Create(ctx, h, branch.Fork{Names: []string{"alt"}}))
	}, 39, refusal.InvalidInput, branchDone},
	"merge":   {mergeReady, mergeAlt, 84, refusal.WrongState, mergeDone},
	"resolve": {resolveReady, resolveAlt, 34, refusal.WrongState, resolveDone},
	"remove": {removeReady, func(ctx context.Context, _ *enginetest.Machine, h *engine.Session) error {
		return enginetest.Second(branch.Remove(ctx, h, "alt", true))
	}, 53, refusal.NotInitialised, removeDone},
}

// TestAKilledCallIsFinishedByTheSame: branches are made, merged, given back and removed whole or not at all, whenever the
// process dies, and the same call again finishes. What is the user's stays as it is, and an edit of in between is not lost.
func TestAKilledCallIsFinishedByTheSame(t *testing.T) {
	enginetest.InFiles(t, "its points of a kill are operations on files")
	var said []string
	cases, bad := 0, 0
	for _, name := range []string{"branch", "merge", "resolve", "remove"} {
		t.Run(name, func(t *testing.T) {
			k := newKill(t, name)
			first, last := deeds[name].at, deeds[name].at
			if kit.Full() {
				k.again(t)
				first, last = 1, k.cut(0)
			}
			for at := first; at <= last; at++ {
				cases++
				if !t.Run(strconv.Itoa(at), func(t *testing.T) { k.killed(t, at) }) {
					bad++
				}
			}
			said = append(said, fmt.Sprintf("%s from point %d to %d", name, first, last))
		})
	}
	t.Logf("rig: cases=%d bad=%d; %s", cases, bad, strings.Join(said, ", "))
}

// A kill is a project in which a call is killed again and again.
type kill struct {
	*enginetest.Machine
	name string
}

// newKill has what the call needs, which is made for the first test that asks. All have the same one: they take turns.
func newKill(t *testing.T, name string) *kill {
	base := filepath.Join(enginetest.Scratch, name)
	made := &kill{&enginetest.Machine{T: t, Dir: filepath.Join(base, enginetest.Folder), Side: filepath.Join(base, "side"), Opts: engine.Options{Log: enginetest.Quiet}}, name}
	if made.Exists(made.Dir + ".saved") {
		return made
	}
	if err := errors.Join(os.RemoveAll(base), os.Mkdir(base, 0o755)); err != nil {
		t.Fatal(err)
	}
	p := enginetest.PlainIn(t, base, enginetest.Gate("test ! -e red")+"[branches]\nsetup = \"echo up >ignored\"\n")
	p.Commits()
	p.Lived(map[string]string{"keep.txt": "1\n2\n3\n4\n5\n6\n", "dir/a": "a\n"})
	p.Write("staged", "staged\n")
	p.Git("add", "staged")
	t.Run("ready", func(t *testing.T) { // all that it opens is closed with it
		p.T = t
		deeds[name].ready(t, p)
	})
	p.T = t
	git := filepath.Join(p.Side, "bin", "git")
	p.Write(git, shim)
	if err := os.Chmod(git, 0o755); err != nil {
		t.Fatal(err)
	}
	p.Save()
	return made
}

// again is the project as it was before the call.
func (k *kill) again(t *testing.T) *enginetest.Machine {
	_ = os.Remove(filepath.Join(k.Side, "fenced"))
	return k.Machine.Again(t)
}

// cut has another process do it and die at a point, at none for 0. It returns how many there were.
func (k *kill) cut(at int) int {
	k.T.Helper()
	count := filepath.Join(k.Side, "count")
	_ = os.Remove(count)
	git, err := exec.LookPath("git")
	if err != nil {
		k.T.Fatal(err)
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestTheCallThatIsKilled$")
	cmd.Env = append(os.Environ(), "PATH="+filepath.Join(k.Side, "bin")+":"+os.Getenv("PATH"), cutDeed+"="+k.name, cutRoot+"="+k.Dir,
		cutCount+"="+count, fmt.Sprintf("%s=%d", cutAt, at), cutGit+"="+git, "TMPDIR="+enginetest.Scratch) // where what it leaves goes with the rest
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	out, err := cmd.CombinedOutput()
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // the git that it had called
	var died *exec.ExitError
	if err != nil && !(errors.As(err, &died) && died.ExitCode() == -1) {
		k.T.Fatalf("%s, to be cut at %d: %v\n%s", k.name, at, err, out)
	}
	info, err := os.Stat(count)
	if err != nil {
		k.T.Fatal(err)
	}
	return int(info.Size())
}

// killed kills the call at a point, and calls it again.
func (k *kill) killed(t *testing.T, at int) {
	p := k.again(t)
	d, own := deeds[k.name], p.Users()
	if n := k.cut(at); n < at {
		t.Errorf("it has only %d points", n)
	}
	h := p.Human()
	p.Looked(h)
	edits := at%2 == 1
	if edits {
		p.Person(t)
	}
	err := d.do(t.Context(), p, h)
	if alt := p.On("alt"); refusal.CodeOf(err) == refusal.TreeChanged && edits && strings.Contains(err.Error(), "person.txt") {
		if alt.Read("person.txt") != "mine\n" {
			t.Error("what was edited is refused, and gone")
		}
		alt.Remove("person.txt")
		err = d.do(t.Context(), p, h)
	}
	if err != nil && refusal.CodeOf(err) != d.over {
		t.Fatalf("again: %v", err)
	}
	enginetest.AllKept(h)
	d.done(t, p)
	if edits && p.Read("person.txt") != "mine\n" {
		t.Error("what was edited in the project is gone")
	}
	if now := p.Users(); now != own {
		t.Errorf("the user's own was\n%s\nand is\n%s", own, now)
	}
	p.Tidy()
}

func branchReady(t *testing.T, p *enginetest.Machine) {
	p.Begun()
	p.Write("code.txt", "two\n")
	p.Write("new.txt", "new\n")
	// One of that name was removed once, but for its last step.
	p.Git("update-ref", "refs/ferrus/alt/"+enginetest.View(t, p.Human()).Task.TaskID+"/99", "HEAD")
}

func branchDone(t *testing.T, p *enginetest.Machine) {
	alt := p.On("alt")
	if got, want := alt.Disk(), p.Disk(); fmt.Sprint(got) != fmt.Sprint(want) || alt.Read("ignored") != "up\n" {
		t.Errorf("the branch has %v, want %v", got, want)
	}
	h := alt.Human()
	now := enginetest.WantState(t, h, state.Executing)
	if n := enginetest.Count(t, h.Engine(), state.Branch); n != 1 || now.Task.Branch != "alt" {
		t.Errorf("%d times made: %+v", n, now.Task)
	}
	for _, ref := range strings.Fields(p.Git("for-each-ref", "--format=%(refname)", "refs/ferrus/alt")) {
		if n, _ := snapshots.Entry(ref); n > now.Task.Seq {
			t.Errorf("it has files of another: %s", ref)
		}
	}
	if n := enginetest.Count(t, p.Human().Engine(), state.Branch); n != 0 {
		t.Error("the project is a branch")
	}
}

// mergeReady has a branch that moves, changes, adds and removes files, of a project that is worked on.
func mergeReady(t *testing.T, p *enginetest.Machine) {
	p.Begun()
	enginetest.Branched(t, p.Human(), branch.Fork{Names: []string{"alt"}})
	alt := p.On("alt")
	alt.Write("moved.txt", alt.Read("keep.txt")+"7\n")
	alt.Remove("keep.txt")
	alt.Remove("dir/a")
	alt.Remove("dir")
	alt.Write("dir", "a file\n")
	alt.Does("sub/new.txt", "new\n")
	p.Write("code.txt", "ours\n")
}

func mergeAlt(ctx context.Context, p *enginetest.Machine, h *engine.Session) error {
	b, err := engine.Open(project.At(cmp.Or(p.Root, p.Dir), "alt"), p.Opts)
	if err != nil {
		return err
	}
	defer b.Close()
	_, err = branch.Merge(ctx, h, b.Session(h.Caller), func() error { return os.WriteFile(filepath.Join(p.Side, "fenced"), nil, 0o600) })
	return err
}

func mergeDone(t *testing.T, p *enginetest.Machine) {
	want := map[string]string{".gitignore": "ignored\n.ferrus\n", "ferrus.toml": p.Read("ferrus.toml"), "code.txt": "ours\n", "staged": "staged\n",
		"moved.txt": "1\n2\n3\n4\n5\n6\n7\n", "dir": "a file\n", "sub/new.txt": "new\n"}
	if got := p.Disk(); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("merged %v", got)
	}
	h, alt := p.Human(), p.On("alt")
	if now := enginetest.WantState(t, h, state.Complete); now.Task.ClaimedBy != "" || !p.Exists(filepath.Join(p.Side, "fenced")) {
		t.Errorf("not fenced: %+v", now.Task)
	}
	if now := enginetest.WantState(t, alt.Human(), state.Complete); now.Task.Merged == "" {
		t.Errorf("the branch does not know: %+v", now.Task)
	}
	if a, b := enginetest.Count(t, h.Engine(), state.Merge), enginetest.Count(t, alt.Human().Engine(), state.Merge); a != 1 || b != 1 {
		t.Errorf("entered %d times in the project, %d times on the branch", a, b)
	}
	want["code.txt"] = "one\n"
	if got := alt.Disk(); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("the branch has %v", got)
	}
}

func resolveReady(t *testing.T, p *enginetest.Machine) {
	h := p.Human()
	enginetest.Branched(t, h, branch.Fork{Names: []string{"alt"}, Own: true})
	alt := p.On("alt")
	enginetest.Must(alt.Human().CreateTask(t.Context(), "Do it.", ""))(t)
	alt.Write("sub/new.txt", "new\n")
	alt.Does("code.txt", "theirs\n")
	p.Write("code.txt", "ours\n")
	p.Remove("keep.txt")
}

func resolveAlt(ctx context.Context, p *enginetest.Machine, h *engine.Session) error {
	b, err := engine.Open(project.At(cmp.Or(p.Root, p.Dir), "alt"), p.Opts)
	if err != nil {
		return err
	}
	defer b.Close()
	from := b.Session(h.Caller)
	_, err = branch.Merge(ctx, h, from, nil)
	var c *branch.ConflictError
	if errors.As(err, &c) {
		_, err = branch.Resolve(ctx, h, from, c)
	}
	return err
}

func resolveDone(t *testing.T, p *enginetest.Machine) {
	alt := p.On("alt")
	h := alt.Human()
	now := enginetest.WantState(t, h, state.Addressing)
	if n := enginetest.Count(t, h.Engine(), state.Reopen); n != 1 {
		t.Errorf("given back %d times", n)
	}
	if text := alt.Read("code.txt"); !strings.Contains(text, "<<<<<<<") || alt.Exists("keep.txt") || !alt.Exists("sub/new.txt") {
		t.Errorf("its executor has %q", alt.Disk())
	}
	if out := p.Git("show", now.Task.BaseTree+":code.txt"); out != "ours\n" {
		t.Errorf("it begins with %q", out)
	}
	if p.Read("code.txt") != "ours\n" || p.Exists("sub") || enginetest.Count(t, p.Human().Engine(), state.MergeBegun) != 0 {
		t.Error("the project has changed")
	}
}

func removeReady(t *testing.T, p *enginetest.Machine) {
	mergeReady(t, p)
	alt := p.On("alt")
	alt.Git("add", "-A")
	alt.Git("commit", "-q", "-m", "an agent's")
	alt.Write("late.txt", "not approved\n")
}

func removeDone(t *testing.T, p *enginetest.Machine) {
	archive := enginetest.Must(fs.Glob(os.DirFS(p.Dir), ".ferrus/archive/branches/alt@*"))(t)
	if len(archive) != 1 || p.Exists(".ferrus/branches/alt") || p.Exists(".ferrus/worktrees/alt") {
		t.Fatalf("archived as %q", archive)
	}
	kept := filepath.Base(archive[0])
	refs := strings.Fields(p.Git("for-each-ref", "--format=%(refname)", "refs/ferrus"))
	has := map[string]bool{}
	for _, ref := range refs {
		if strings.HasPrefix(ref, "refs/ferrus/alt/") || strings.HasPrefix(ref, "refs/ferrus/alt@") && !strings.HasPrefix(ref, "refs/ferrus/"+kept+"/") {
			t.Errorf("%s, and it is saved as %s", ref, kept)
		}
		for _, name := range strings.Fields(p.Git("ls-tree", "-r", "--name-only", ref)) {
			has[name] = true
		}
	}
	if !slices.Contains(refs, "refs/ferrus/"+kept+"/head") || !has["late.txt"] {
		t.Errorf("its files are not kept: %q", refs)
	}
	if strings.Contains(p.Git("branch", "-a"), "ferrus/alt") {
		t.Error("its git branch is still there")
	}
	if enginetest.View(t, p.Human()).Task.State != state.Executing {
		t.Error("the project has changed")
	}
}
