//go:build unix

package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/refusal"
	"github.com/ferrus-go/ferrus/internal/snapshots"
	"github.com/ferrus-go/ferrus/internal/state"
)

// What a process that is to be killed is told: what to do, where, where the count stands of the points that it has come to,
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
	p := &machine{t: t, dir: os.Getenv(cutRoot), side: filepath.Dir(os.Getenv(cutCount))}
	p.opts = Options{Log: quiet, Now: func() time.Time {
		_, _ = count.WriteString(".")
		if info, err := count.Stat(); err == nil && info.Size() == at {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
		return time.Now()
	}}
	if err := d.do(t.Context(), p, p.human()); err != nil {
		t.Fatal(err)
	}
}

// A deed is a call that may be killed.
type deed struct {
	ready func(t *testing.T, p *machine)
	do    func(ctx context.Context, p *machine, h *Session) error
	at    int                            // the point at which it is killed without -full: late, of some more that it has
	over  refusal.Code                   // of the refusal when it had been done, and only its answer was lost
	done  func(t *testing.T, p *machine) // demands that it is, once
}

var deeds = map[string]deed{
	"branch": {branchReady, func(ctx context.Context, _ *machine, h *Session) error {
		return second(h.Branch(ctx, Fork{Names: []string{"alt"}}))
	}, 50, refusal.InvalidInput, branchDone},
	"merge":   {mergeReady, mergeAlt, 84, refusal.WrongState, mergeDone},
	"resolve": {resolveReady, resolveAlt, 48, refusal.WrongState, resolveDone},
	"remove": {removeReady, func(ctx context.Context, _ *machine, h *Session) error {
		return second(h.Remove(ctx, "alt", true))
	}, 56, refusal.NotInitialised, removeDone},
}

// TestAKilledCallIsFinishedByTheSame: branches are made, merged, given back and removed whole or not at all, whenever the
// process dies, and the same call again finishes. What is the user's stays as it is, and an edit of in between is not lost.
func TestAKilledCallIsFinishedByTheSame(t *testing.T) {
	var said []string
	cases, bad := 0, 0
	for _, name := range []string{"branch", "merge", "resolve", "remove"} {
		t.Run(name, func(t *testing.T) {
			k := newKill(t, name)
			first, last := deeds[name].at, deeds[name].at
			if *full {
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
	*machine
	name string
}

// newKill has what the call needs, which is made for the first test that asks. All have the same one: they take turns.
func newKill(t *testing.T, name string) *kill {
	base := filepath.Join(scratch, name)
	made := &kill{&machine{t: t, dir: filepath.Join(base, "project"), side: filepath.Join(base, "side"), opts: Options{Log: quiet}}, name}
	if made.exists(made.dir + ".saved") {
		return made
	}
	if err := errors.Join(os.RemoveAll(base), os.Mkdir(base, 0o755)); err != nil {
		t.Fatal(err)
	}
	p := plainIn(t, base, gate("test ! -e red")+"[branches]\nsetup = \"echo up >ignored\"\n")
	p.commits()
	p.lived(map[string]string{"keep.txt": "1\n2\n3\n4\n5\n6\n", "dir/a": "a\n"})
	p.write("staged", "staged\n")
	p.git("add", "staged")
	t.Run("ready", func(t *testing.T) { // all that it opens is closed with it
		p.t = t
		deeds[name].ready(t, p)
	})
	p.t = t
	git := filepath.Join(p.side, "bin", "git")
	p.write(git, shim)
	if err := os.Chmod(git, 0o755); err != nil {
		t.Fatal(err)
	}
	p.save()
	return made
}

// again is the project as it was before the call.
func (k *kill) again(t *testing.T) *machine {
	_ = os.Remove(filepath.Join(k.side, "fenced"))
	return k.machine.again(t)
}

// cut has another process do it and die at a point, at none for 0. It returns how many there were.
func (k *kill) cut(at int) int {
	k.t.Helper()
	count := filepath.Join(k.side, "count")
	_ = os.Remove(count)
	git, err := exec.LookPath("git")
	if err != nil {
		k.t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestTheCallThatIsKilled$")
	cmd.Env = append(os.Environ(), "PATH="+filepath.Join(k.side, "bin")+":"+os.Getenv("PATH"), cutDeed+"="+k.name, cutRoot+"="+k.dir,
		cutCount+"="+count, fmt.Sprintf("%s=%d", cutAt, at), cutGit+"="+git, "TMPDIR="+scratch) // where what it leaves goes with the rest
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	out, err := cmd.CombinedOutput()
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // the git that it had called
	var died *exec.ExitError
	if err != nil && !(errors.As(err, &died) && died.ExitCode() == -1) {
		k.t.Fatalf("%s, to be cut at %d: %v\n%s", k.name, at, err, out)
	}
	info, err := os.Stat(count)
	if err != nil {
		k.t.Fatal(err)
	}
	return int(info.Size())
}

// killed kills the call at a point, and calls it again.
func (k *kill) killed(t *testing.T, at int) {
	p := k.again(t)
	d, own := deeds[k.name], p.users()
	if n := k.cut(at); n < at {
		t.Errorf("it has only %d points", n)
	}
	h := p.human()
	p.looked(h)
	edits := at%2 == 1
	if edits {
		p.person(t)
	}
	err := d.do(t.Context(), p, h)
	if alt := p.on("alt"); refusal.CodeOf(err) == refusal.TreeChanged && edits && strings.Contains(err.Error(), "person.txt") {
		if alt.read("person.txt") != "mine\n" {
			t.Error("what was edited is refused, and gone")
		}
		alt.remove("person.txt")
		err = d.do(t.Context(), p, h)
	}
	if err != nil && refusal.CodeOf(err) != d.over {
		t.Fatalf("again: %v", err)
	}
	allKept(h)
	d.done(t, p)
	if edits && p.read("person.txt") != "mine\n" {
		t.Error("what was edited in the project is gone")
	}
	if now := p.users(); now != own {
		t.Errorf("the user's own was\n%s\nand is\n%s", own, now)
	}
	p.tidy()
}

// person edits, in the project and, where it has a work tree, on the branch.
func (p *machine) person(t *testing.T) {
	p.write("person.txt", "mine\n")
	if alt := p.on("alt"); p.exists(".ferrus/worktrees/alt/.git") && p.exists(".ferrus/branches/alt") {
		alt.write("person.txt", "mine\n")
	}
}

// users is what ferrus has no business with: index, HEAD, stash, branches and ignored files.
func (p *machine) users() string {
	index, err := os.ReadFile(p.path(".git/index"))
	if err != nil {
		p.t.Fatal(err)
	}
	refs := slices.DeleteFunc(strings.SplitAfter(p.git("for-each-ref", "refs/heads", "refs/tags", "refs/stash"), "\n"),
		func(line string) bool { return strings.Contains(line, "refs/heads/ferrus/") })
	return fmt.Sprintf("%x\n%s%s%s%s", index, p.read(".git/HEAD"), p.git("stash", "list"), strings.Join(refs, ""), p.read("ignored"))
}

// looked demands that what was cut off can be looked at, and says what finishes it.
func (p *machine) looked(h *Session) {
	p.t.Helper()
	now := view(p.t, h)
	names, err := project.Branches(p.dir)
	if err != nil {
		p.t.Fatal(err)
	}
	for _, a := range h.e.Attempts(context.Background(), names) {
		if a.Error != "" && !strings.Contains(a.Error, "--remove alt --force finishes it") {
			p.t.Errorf("%s: %s", a.Branch, a.Error)
		}
	}
	if now.Task.Returning.From != "" {
		_, err := h.Remove(context.Background(), "alt", true)
		refused(p.t, err, refusal.WrongState, "ferrus merge alt finishes that")
	}
}

// tidy demands that nothing is left of what was tried.
func (p *machine) tidy() {
	p.t.Helper()
	names, err := project.Branches(p.dir)
	if err != nil {
		p.t.Fatal(err)
	}
	entries, err := os.ReadDir(p.path(".ferrus/branches"))
	if err != nil {
		p.t.Fatal(err)
	}
	for _, e := range entries {
		if e.IsDir() && !slices.Contains(names, e.Name()) {
			p.t.Errorf("a draft is left: %s", e.Name())
		}
	}
	var trees []string
	for _, e := range must(os.ReadDir(p.path(".ferrus/worktrees")))(p.t) {
		trees = append(trees, e.Name())
	}
	if !slices.Equal(trees, names) {
		p.t.Errorf("work trees %q of branches %q", trees, names)
	}
	if list := p.git("worktree", "list", "--porcelain"); strings.Count(list, "worktree ") != 1+len(names) || strings.Contains(list, "locked") || strings.Contains(list, "prunable") {
		p.t.Errorf("work trees of git:\n%s", list)
	}
	if refs := p.git("for-each-ref", "refs/ferrus"); strings.Contains(refs, "/merging") {
		p.t.Errorf("a merge is still marked:\n%s", refs)
	}
	if now := view(p.t, p.human()); now.Task.Returning != (state.FileMove{}) {
		p.t.Errorf("the project is still in the middle of it: %+v", now.Task.Returning)
	}
}

// disk is what lies there, but for what git ignores and what the person of the test has edited.
func (p *machine) disk() map[string]string {
	got := p.all()
	delete(got, "person.txt")
	return got
}

func branchReady(t *testing.T, p *machine) {
	p.begun()
	p.write("code.txt", "two\n")
	p.write("new.txt", "new\n")
	// One of that name was removed once, but for its last step.
	p.git("update-ref", "refs/ferrus/alt/"+view(t, p.human()).Task.TaskID+"/99", "HEAD")
}

func branchDone(t *testing.T, p *machine) {
	alt := p.on("alt")
	if got, want := alt.disk(), p.disk(); fmt.Sprint(got) != fmt.Sprint(want) || alt.read("ignored") != "up\n" {
		t.Errorf("the branch has %v, want %v", got, want)
	}
	h := alt.human()
	now := wantState(t, h, state.Executing)
	if n := count(t, h.e, state.Branch); n != 1 || now.Task.Branch != "alt" {
		t.Errorf("%d times made: %+v", n, now.Task)
	}
	for _, ref := range strings.Fields(p.git("for-each-ref", "--format=%(refname)", "refs/ferrus/alt")) {
		if n, _ := snapshots.Entry(ref); n > now.Task.Seq {
			t.Errorf("it has files of another: %s", ref)
		}
	}
	if n := count(t, p.human().e, state.Branch); n != 0 {
		t.Error("the project is a branch")
	}
}

// mergeReady has a branch that moves, changes, adds and removes files, of a project that is worked on.
func mergeReady(t *testing.T, p *machine) {
	p.begun()
	branched(t, p.human(), Fork{Names: []string{"alt"}})
	alt := p.on("alt")
	alt.write("moved.txt", alt.read("keep.txt")+"7\n")
	alt.remove("keep.txt")
	alt.remove("dir/a")
	alt.remove("dir")
	alt.write("dir", "a file\n")
	alt.does("sub/new.txt", "new\n")
	p.write("code.txt", "ours\n")
}

func mergeAlt(ctx context.Context, p *machine, h *Session) error {
	b, err := Open(project.At(cmp.Or(p.root, p.dir), "alt"), p.opts)
	if err != nil {
		return err
	}
	defer b.Close()
	_, err = h.Merge(ctx, b.Session(h.Caller), func() error { return os.WriteFile(filepath.Join(p.side, "fenced"), nil, 0o600) })
	return err
}

func mergeDone(t *testing.T, p *machine) {
	want := map[string]string{".gitignore": "ignored\n.ferrus\n", "ferrus.toml": p.read("ferrus.toml"), "code.txt": "ours\n", "staged": "staged\n",
		"moved.txt": "1\n2\n3\n4\n5\n6\n7\n", "dir": "a file\n", "sub/new.txt": "new\n"}
	if got := p.disk(); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("merged %v", got)
	}
	h, alt := p.human(), p.on("alt")
	if now := wantState(t, h, state.Complete); now.Task.ClaimedBy != "" || !p.exists(filepath.Join(p.side, "fenced")) {
		t.Errorf("not fenced: %+v", now.Task)
	}
	if now := wantState(t, alt.human(), state.Complete); now.Task.Merged == "" {
		t.Errorf("the branch does not know: %+v", now.Task)
	}
	if a, b := count(t, h.e, state.Merge), count(t, alt.human().e, state.Merge); a != 1 || b != 1 {
		t.Errorf("entered %d times in the project, %d times on the branch", a, b)
	}
	want["code.txt"] = "one\n"
	if got := alt.disk(); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("the branch has %v", got)
	}
}

func resolveReady(t *testing.T, p *machine) {
	h := p.human()
	branched(t, h, Fork{Names: []string{"alt"}, Own: true})
	alt := p.on("alt")
	must(alt.human().CreateTask(t.Context(), "Do it.", ""))(t)
	alt.write("sub/new.txt", "new\n")
	alt.does("code.txt", "theirs\n")
	p.write("code.txt", "ours\n")
	p.remove("keep.txt")
}

func resolveAlt(ctx context.Context, p *machine, h *Session) error {
	b, err := Open(project.At(cmp.Or(p.root, p.dir), "alt"), p.opts)
	if err != nil {
		return err
	}
	defer b.Close()
	from := b.Session(h.Caller)
	_, err = h.Merge(ctx, from, nil)
	var c *ConflictError
	if errors.As(err, &c) {
		_, err = h.Resolve(ctx, from, c)
	}
	return err
}

func resolveDone(t *testing.T, p *machine) {
	alt := p.on("alt")
	h := alt.human()
	now := wantState(t, h, state.Addressing)
	if n := count(t, h.e, state.Reopen); n != 1 {
		t.Errorf("given back %d times", n)
	}
	if text := alt.read("code.txt"); !strings.Contains(text, "<<<<<<<") || alt.exists("keep.txt") || !alt.exists("sub/new.txt") {
		t.Errorf("its executor has %q", alt.disk())
	}
	if out := p.git("show", now.Task.BaseTree+":code.txt"); out != "ours\n" {
		t.Errorf("it begins with %q", out)
	}
	if p.read("code.txt") != "ours\n" || p.exists("sub") || count(t, p.human().e, state.MergeBegun) != 0 {
		t.Error("the project has changed")
	}
}

func removeReady(t *testing.T, p *machine) {
	mergeReady(t, p)
	alt := p.on("alt")
	alt.git("add", "-A")
	alt.git("commit", "-q", "-m", "an agent's")
	alt.write("late.txt", "not approved\n")
}

func removeDone(t *testing.T, p *machine) {
	archive := must(filepath.Glob(p.path(".ferrus/archive/branches/alt@*")))(t)
	if len(archive) != 1 || p.exists(".ferrus/branches/alt") || p.exists(".ferrus/worktrees/alt") {
		t.Fatalf("archived as %q", archive)
	}
	kept := filepath.Base(archive[0])
	refs := strings.Fields(p.git("for-each-ref", "--format=%(refname)", "refs/ferrus"))
	has := map[string]bool{}
	for _, ref := range refs {
		if strings.HasPrefix(ref, "refs/ferrus/alt/") || strings.HasPrefix(ref, "refs/ferrus/alt@") && !strings.HasPrefix(ref, "refs/ferrus/"+kept+"/") {
			t.Errorf("%s, and it is kept as %s", ref, kept)
		}
		for _, name := range strings.Fields(p.git("ls-tree", "-r", "--name-only", ref)) {
			has[name] = true
		}
	}
	if !slices.Contains(refs, "refs/ferrus/"+kept+"/head") || !has["late.txt"] {
		t.Errorf("its files are not kept: %q", refs)
	}
	if strings.Contains(p.git("branch", "-a"), "ferrus/alt") {
		t.Error("its git branch is still there")
	}
	if view(t, p.human()).Task.State != state.Executing {
		t.Error("the project has changed")
	}
}
