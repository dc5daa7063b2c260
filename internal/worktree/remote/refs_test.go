package remote_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrus-go/ferrus/internal/worktree/remote"
	"github.com/ferrus-go/ferrus/internal/worktree/worktreetest"
	"github.com/ferrus-go/ferrus/test/kit"
)

// TestOneOfEightPushesWins: all have looked before one of them pushes, and expect the same commit. Then they push at once, or in
// the next round one after the other. The losers are told what the ref has.
func TestOneOfEightPushesWins(t *testing.T) {
	dir := committed(t)
	h := newHost(t, dir)
	tree := open(t, dir)
	at := push(t, tree, openRemote(t, tree, h.dir), epoch(1, ""), h.main)
	path := os.Getenv("PATH")
	for round := range worktreetest.Most(2, 20) {
		if !kit.Every(2, round) {
			continue
		}
		const many = 8
		var pushes [many]func() (remote.Ref, error)
		for i := range many {
			there := h.clone(t)
			write(t, there, "who", fmt.Sprintf("%d in round %d", i, round))
			other := open(t, there)
			r, id := openRemote(t, other, h.dir), fingerprint(t, other)
			pushes[i] = func() (remote.Ref, error) { return r.Push(t.Context(), at, id, h.main) }
		}
		arrived := filepath.Join(t.TempDir(), "arrived")
		wrap(t, fmt.Sprintf(`case " $* " in *" push "*)
			printf x >>'%[1]s'
			while [ $(wc -c <'%[1]s') -lt %[2]d ]; do :; done
			if [ %[3]d = 1 ]; then
				until mkdir '%[1]s.turn' 2>/dev/null; do :; done
				"$REAL" "$@"; code=$?
				rmdir '%[1]s.turn'
				exit $code
			fi;; esac`, arrived, many, round%2))
		var won []remote.Ref
		var mu sync.Mutex
		var all sync.WaitGroup
		for _, push := range pushes {
			all.Go(func() {
				to, err := push()
				mu.Lock()
				defer mu.Unlock()
				if err == nil {
					won = append(won, to)
				} else if !is[*remote.StaleError](err) {
					t.Errorf("a loser is told: %v", err)
				}
			})
		}
		all.Wait()
		os.Setenv("PATH", path)
		if len(won) != 1 || h.refs(t)["refs/ferrus/p/t/1"] != won[0].Commit {
			t.Fatalf("winners %v, refs %v", won, h.refs(t))
		}
		at = won[0]
	}
}

// between has a command run on the host right before the first call of git with that word, as another machine may.
func (h *host) between(t *testing.T, word string, args ...string) {
	t.Helper()
	wrap(t, fmt.Sprintf(`case " $* " in *" %s "*)
		if mkdir '%s' 2>/dev/null; then
			(unset GIT_DIR GIT_COMMON_DIR GIT_OBJECT_DIRECTORY GIT_ALTERNATE_OBJECT_DIRECTORIES; "$REAL" --git-dir='%s' %s) || exit 77
		fi;; esac`, word, filepath.Join(t.TempDir(), "once"), h.dir, strings.Join(args, " ")))
}

// TestAPushThatLosesTheRaceOverwritesNothing: the ref changes between the look and the push.
func TestAPushThatLosesTheRaceOverwritesNothing(t *testing.T) {
	dir := committed(t)
	h := newHost(t, dir)
	tree := open(t, dir)
	r := openRemote(t, tree, h.dir)
	for name, c := range map[string]struct{ at, other remote.Ref }{
		"a ref that is there":     {push(t, tree, r, remote.Ref{Task: "a", Epoch: 1}, h.main), remote.Ref{Task: "a", Epoch: 1, Commit: h.main}},
		"a ref that is not there": {remote.Ref{Task: "b", Epoch: 1}, remote.Ref{Task: "b", Epoch: 1, Commit: h.main}},
		"a later epoch":           {push(t, tree, r, remote.Ref{Task: "c", Epoch: 1}, h.main), remote.Ref{Task: "c", Epoch: 1, Commit: h.main}},
	} {
		t.Run(name, func(t *testing.T) {
			write(t, dir, "new", name)
			id := fingerprint(t, tree)
			ref := fmt.Sprintf("refs/ferrus/p/%s/1", c.at.Task)
			if name == "a later epoch" {
				h.between(t, "ls-remote", "update-ref", "refs/ferrus/p/c/2", h.main)
			} else {
				h.between(t, "push", "update-ref", ref, h.main)
			}
			_, err := r.Push(t.Context(), c.at, id, h.main)
			want := c.other.Commit
			if name == "a later epoch" {
				if later, ok := errors.AsType[*remote.LaterError](err); !ok || later.Later != 2 {
					t.Errorf("err = %v", err)
				}
				want = c.at.Commit
			} else if stale, ok := errors.AsType[*remote.StaleError](err); !ok || stale.Have != h.main || stale.Expect != c.at.Commit {
				t.Errorf("err = %v", err)
			}
			if got := h.refs(t)[ref]; got != want {
				t.Errorf("%s is %s", ref, got)
			}
		})
	}
}

// TestAnOldEpochIsNotPublished: its holder is told of the later one, and the later one sweeps.
func TestAnOldEpochIsNotPublished(t *testing.T) {
	t.Parallel()
	dir := committed(t)
	h := newHost(t, dir)
	tree := open(t, dir)
	r := openRemote(t, tree, h.dir)
	first := push(t, tree, r, epoch(9, ""), h.main)
	write(t, dir, "new", "x")
	second := push(t, tree, r, epoch(10, ""), h.main)
	write(t, dir, "new", "y")
	before := h.refs(t)
	for _, at := range []remote.Ref{first, epoch(8, "")} {
		_, err := r.Push(t.Context(), at, fingerprint(t, tree), h.main)
		if later, ok := errors.AsType[*remote.LaterError](err); !ok || later.Later != 10 {
			t.Errorf("%+v: %v", at, err)
		}
		if err := r.Restore(t.Context(), remote.Ref{Task: "t", Epoch: at.Epoch, Commit: first.Commit}); !is[*remote.LaterError](err) {
			t.Errorf("restore of %+v: %v", at, err)
		}
	}
	if diff := cmp.Diff(before, h.refs(t)); diff != "" {
		t.Error(diff)
	}
	push(t, tree, r, remote.Ref{Task: "ended", Epoch: 3}, h.main)
	runGit(t, h.dir, "update-ref", "refs/ferrus/other/t/1", h.main)
	runGit(t, h.dir, "update-ref", "refs/ferrus/p/t/010", h.main) // no name of ours
	n, err := r.Sweep(t.Context(), func(at remote.Ref) bool { return at.Task == "t" && at.Epoch >= 10 })
	if err != nil || n != 2 {
		t.Errorf("swept %d, %v", n, err)
	}
	want := map[string]string{"refs/ferrus/p/t/10": second.Commit, "refs/ferrus/other/t/1": h.main, "refs/ferrus/p/t/010": h.main}
	if diff := cmp.Diff(want, h.refs(t)); diff != "" {
		t.Error(diff)
	}
	if all, err := r.List(t.Context(), ""); err != nil || len(all) != 1 || all[0] != second {
		t.Errorf("%v, %v", all, err)
	}
}

// TestASweepDeletesManyAndNoneThatChanges while it is at work.
func TestASweepDeletesManyAndNoneThatChanges(t *testing.T) {
	dir := committed(t)
	h := newHost(t, dir)
	tree := open(t, dir)
	r := openRemote(t, tree, h.dir)
	at := push(t, tree, r, epoch(1, ""), h.main)
	for i := range 250 {
		runGit(t, h.dir, "update-ref", fmt.Sprintf("refs/ferrus/p/many/%d", i+1), at.Commit)
	}
	h.between(t, "push", "update-ref", "refs/ferrus/p/t/1", h.main)
	n, err := r.Sweep(t.Context(), func(remote.Ref) bool { return false })
	if diff := cmp.Diff(map[string]string{"refs/ferrus/p/t/1": h.main}, h.refs(t)); n != 250 || err != nil || diff != "" {
		t.Errorf("swept %d, %v, %s", n, err, diff)
	}
}

// TestRefsDeletedByAMirrorAreRestored, and the holder hears of it.
func TestRefsDeletedByAMirrorAreRestored(t *testing.T) {
	t.Parallel()
	dir := committed(t)
	h := newHost(t, dir)
	mirror := h.clone(t)
	tree := open(t, dir)
	r := openRemote(t, tree, h.dir)
	write(t, dir, "new", "x")
	at := push(t, tree, r, epoch(1, ""), h.main)
	runGit(t, mirror, "push", "-q", "--mirror", h.dir)
	if len(h.refs(t)) > 0 {
		t.Fatal("the mirror deletes no refs")
	}
	runGit(t, h.dir, "gc", "-q", "--prune=now")
	other := open(t, h.clone(t))
	if _, err := openRemote(t, other, h.dir).Fetch(t.Context(), at, h.main); !errors.Is(err, remote.ErrMissing) {
		t.Errorf("fetch: %v", err)
	}
	write(t, dir, "new", "y")
	_, err := r.Push(t.Context(), at, fingerprint(t, tree), h.main)
	if stale, ok := errors.AsType[*remote.StaleError](err); !ok || stale.Have != "" {
		t.Errorf("push: %v", err)
	}
	for range 2 {
		if err := r.Restore(t.Context(), at); err != nil {
			t.Error(err)
		}
	}
	if s, err := openRemote(t, other, h.dir).Fetch(t.Context(), at, h.main); err != nil || s.Commit != at.Commit {
		t.Errorf("%+v, %v", s, err)
	}
	push(t, tree, r, at, h.main)
	if err := r.Restore(t.Context(), at); !is[*remote.StaleError](err) {
		t.Errorf("restore of what was replaced: %v", err)
	}
	for _, commit := range []string{"", h.main, strings.Repeat("1", 40)} {
		if err := r.Restore(t.Context(), epoch(7, commit)); err == nil {
			t.Errorf("%q was restored", commit)
		}
	}
}

// TestACommitOfTheJournalIsFetchedAfterALaterPush: a session that was killed between a push and its journal line leaves a ref
// that is ahead of the journal.
func TestACommitOfTheJournalIsFetchedAfterALaterPush(t *testing.T) {
	t.Parallel()
	dir := committed(t)
	h := newHost(t, dir)
	tree := open(t, dir)
	there := h.clone(t)
	for _, kind := range []string{"path", "daemon", "http"} {
		url := h.by(t, kind)
		r := openRemote(t, tree, url)
		task := remote.Ref{Task: kind, Epoch: 1}
		write(t, dir, "new", "named by the journal "+kind)
		want := fingerprint(t, tree)
		named := push(t, tree, r, task, h.main)
		write(t, dir, "new", "not named "+kind)
		push(t, tree, r, named, h.main)
		s, err := openRemote(t, open(t, there), url).Fetch(t.Context(), named, h.main)
		if err != nil || s.Tree != want {
			t.Errorf("%s: %+v, %v", kind, s, err)
		}
	}
	// The base is known there, so its history is as it was.
	must(t, filepath.WalkDir(filepath.Join(there, ".ferrus"), func(path string, e fs.DirEntry, err error) error {
		if err == nil && e.Name() == "shallow" {
			err = fmt.Errorf("%s was cut off at the base", path)
		}
		return err
	}))
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestAHostThatRefusesTheNamespace is named as such, and the other namespace can be used.
func TestAHostThatRefusesTheNamespace(t *testing.T) {
	t.Parallel()
	const only = `echo "only branches and tags here" >&2; exit 1`
	for name, script := range map[string]string{
		"update":      `case "$1" in refs/heads/*|refs/tags/*) ;; *) ` + only + `;; esac`,
		"pre-receive": `while read old new ref; do case "$ref" in refs/heads/*|refs/tags/*) ;; *) ` + only + `;; esac; done`,
	} {
		for _, kind := range []string{"path", "daemon", "http"} {
			t.Run(name+" "+kind, func(t *testing.T) {
				t.Parallel()
				dir := committed(t)
				h := newHost(t, dir)
				h.hook(t, name, script)
				url := h.by(t, kind)
				tree := open(t, dir)
				r := openRemote(t, tree, url)
				_, pushed := r.Push(t.Context(), epoch(1, ""), fingerprint(t, tree), h.main)
				for _, err := range []error{r.Probe(t.Context()), pushed} {
					refused, ok := errors.AsType[*remote.RefusedError](err)
					if !ok || !strings.Contains(err.Error(), "only branches and tags here") || !strings.Contains(err.Error(), "namespace refs/heads/ferrus") {
						t.Fatalf("err = %v", err)
					}
					if !strings.HasPrefix(refused.Ref, "refs/ferrus/p") {
						t.Errorf("ref %q", refused.Ref)
					}
				}
				r = openRemote(t, tree, url, remote.Options{Namespace: remote.Branches})
				if err := r.Probe(t.Context()); err != nil {
					t.Error(err)
				}
				at := push(t, tree, r, epoch(1, ""), h.main)
				if diff := cmp.Diff(map[string]string{"refs/heads/ferrus/p/t/1": at.Commit}, h.refs(t)); diff != "" {
					t.Error(diff)
				}
				runGit(t, h.dir, "config", "receive.denyDeletes", "true")
				if _, err := r.Sweep(t.Context(), func(remote.Ref) bool { return false }); !is[*remote.RefusedError](err) {
					t.Errorf("sweep: %v", err)
				}
				if err := r.Probe(t.Context()); !is[*remote.RefusedError](err) {
					t.Errorf("probe: %v", err)
				}
			})
		}
	}
}

// TestWhatIsFetchedIsTheCommit that the journal names, and one of ours.
func TestWhatIsFetchedIsTheCommit(t *testing.T) {
	t.Parallel()
	dir := committed(t)
	h := newHost(t, dir)
	tree := open(t, dir)
	write(t, dir, "new", "x")
	good := push(t, tree, openRemote(t, tree, h.dir), epoch(1, ""), h.main)
	write(t, dir, "new", "evil")
	evil := push(t, tree, openRemote(t, tree, h.dir), epoch(2, ""), h.main)

	there := h.clone(t)
	other := open(t, there)
	far := openRemote(t, other, h.dir)
	for name, c := range map[string]struct{ commit, base string }{
		"a commit of somebody else": {h.main, ""},
		"another base":              {good.Commit, good.Commit},
		"no base":                   {good.Commit, ""},
		"a tree":                    {fingerprint(t, tree), h.main},
		"no id":                     {"main", h.main},
		"none":                      {"", h.main},
	} {
		if s, err := far.Fetch(t.Context(), epoch(1, c.commit), c.base); err == nil || s != (remote.Snapshot{}) {
			t.Errorf("%s: %+v, %v", name, s, err)
		}
	}
	// An agent on this machine has written another commit under the id.
	loose := func(store, id string) string { return filepath.Join(store, id[:2], id[2:]) }
	text, err := os.ReadFile(filepath.Join(dir, loose(".ferrus/git/objects", evil.Commit)))
	if err != nil {
		t.Fatal(err)
	}
	forged := h.clone(t)
	if _, err := openRemote(t, open(t, forged), h.dir).Fetch(t.Context(), evil, h.main); err != nil { // its tree is there
		t.Fatal(err)
	}
	write(t, forged, loose(".git/objects", good.Commit), string(text))
	if _, err := openRemote(t, open(t, forged), h.dir).Fetch(t.Context(), good, h.main); err == nil {
		t.Error("a commit in the place of another is taken")
	}
}

// TestAKilledPushIsRepeated: whenever ferrus or git is killed, the ref has the old or the new commit, and the push can be
// repeated.
func TestAKilledPushIsRepeated(t *testing.T) {
	worktreetest.Deaths(t, func(t *testing.T, d worktreetest.Death) bool {
		dir := committed(t)
		h := newHost(t, dir)
		tree := open(t, dir)
		old := push(t, tree, openRemote(t, tree, h.dir), epoch(1, ""), h.main)
		write(t, dir, "new", "x")
		before := users(t, dir)
		died := worktreetest.Die(t, d, dir, "push", h.dir, old.Commit, h.main)
		repeated(t, h, dir, old)
		if diff := cmp.Diff(before, users(t, dir)); diff != "" {
			t.Error(diff)
		}
		return died
	})
	for name, verdict := range map[string]string{"git, and the host takes the ref": "exit 0", "git, and the host does not": "exit 1"} {
		t.Run(name, func(t *testing.T) {
			dir := committed(t)
			h := newHost(t, dir)
			tree := open(t, dir)
			r := openRemote(t, tree, h.dir)
			old := push(t, tree, r, epoch(1, ""), h.main)
			write(t, dir, "new", "x")
			pid := filepath.Join(t.TempDir(), "pid")
			h.hook(t, "pre-receive", fmt.Sprintf(`kill -9 $(cat '%s'); %s`, pid, verdict))
			func() {
				path := os.Getenv("PATH")
				defer os.Setenv("PATH", path)
				wrap(t, fmt.Sprintf(`case " $* " in *" push "*) echo $$ >'%s';; esac`, pid))
				if _, err := r.Push(t.Context(), old, fingerprint(t, tree), h.main); err == nil {
					t.Error("git was not killed")
				}
			}()
			remove(t, h.dir, "hooks/pre-receive")
			repeated(t, h, dir, old)
		})
	}
}

// repeated pushes once more what a killed process pushed, which may have come to its end on the host, or still be about to.
func repeated(t *testing.T, h *host, dir string, old remote.Ref) {
	t.Helper()
	again := open(t, dir)
	at := push(t, again, openRemote(t, again, h.dir), old, h.main)
	if diff := cmp.Diff(map[string]string{"refs/ferrus/p/t/1": at.Commit}, h.refs(t)); diff != "" {
		t.Error(diff)
	}
	if s, err := openRemote(t, open(t, h.clone(t)), h.dir).Fetch(t.Context(), at, h.main); err != nil || s.Tree != fingerprint(t, again) {
		t.Errorf("%+v, %v", s, err)
	}
	if out, err := exec.Command("git", "-C", h.dir, "fsck", "--strict").CombinedOutput(); err != nil {
		t.Errorf("fsck: %s", out)
	}
}

// TestACommitIsKnownBeforeItIsPushed: whoever has tree and base names it, and the first epoch is 0.
func TestACommitIsKnownBeforeItIsPushed(t *testing.T) {
	t.Parallel()
	dir := committed(t)
	h := newHost(t, dir)
	tree := open(t, dir)
	r := openRemote(t, tree, h.dir)
	write(t, dir, "new.txt", "new\n")
	for i, base := range []string{h.main, ""} {
		want := r.CommitOf(fingerprint(t, tree), base)
		if lost, err := tree.Missing(t.Context(), []string{want}); err != nil || len(lost) != 1 {
			t.Errorf("the commit was written: %v", err)
		}
		at := remote.Ref{Task: strings.Repeat("t", i+1)}
		if got := push(t, tree, r, at, base); got.Commit != want || h.refs(t)["refs/ferrus/p/"+at.Task+"/0"] != want {
			t.Errorf("pushed %s, and it was to be %s: %v", got.Commit, want, h.refs(t))
		}
	}
}
