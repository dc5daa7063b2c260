// Package project knows where a project and its branches live: the folder .ferrus with its machines, the work trees, and who
// owns them. It finds and makes a project, and knows what is configured for it and for a task (settings.go).
//
// A [Judge] tells whether its state was made on this machine by this user, or came with a clone, an archive or a backup. It compares
// the journal and its hard-linked copy with the record of the project outside of it (package trust), and sets aside, adopts or brings
// back what a person decides about (judge.go).
//
// Several packages write below .ferrus, each its own files, all through internal/platform/rootfs, which follows no link:
//
//	journal.jsonl                 store; append and fdatasync, under STATE.lock
//	STATE.json, TASK.md ...       store; from the journal, without a sync, under STATE.lock
//	logs/*                        the helper of a check, agents, servers, the engine (patches); each its own file
//	runs/*.jsonl                  the shim of an agent; one line at the start, one at the end
//	live/*                        sessions, shims, conductors, checks; lock files
//	branches/NAME, worktrees/NAME engine and worktree; made in a draft folder, renamed into place
//	git/                          worktree; the private git directory
//	queue/*.md                    queue, and people; a file for each task, in a database the table queue
//	drafts/*.json                 ui/web; the comments on one submission, replaced, under a lock
//	executor/* of a branch        the shim; below home, tmp and git the executor in its sandbox
//	tokens.json, register.json    server/tokens, agents/register; replaced, under a lock
//	pipeline-tmp/RUN/*            pipeline/run; each worker its own output
//	archive/*, evidence/*         store, engine, status/evidence; when a task ends, or on command
//	history.index, usage.index    status, records; what many other files say, replaced, made again where it is gone
//	archive/runs.kept             records; the runs of what ferrus gc removed
//
// What a task may do is the matter of the engine; this package knows no event.
//
// Start reading at place.go.
package project

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/ferrus-go/ferrus/internal/platform/rootfs"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/store/postgres"
	"github.com/ferrus-go/ferrus/internal/worktree"
)

// A Place is where a machine lives and where its work is done.
type Place struct {
	Root   string // the project: the folder that has .ferrus
	Branch string // "" for the project's own machine
	Work   string // the folder in which a new task is worked on

	survey *postgres.Survey // of which the machine is opened; nil for none
}

// DirName is the name of the folder that makes a folder a project.
const DirName = ".ferrus"

// Dir returns the folder of the machine's control files.
func (p Place) Dir() string {
	if p.Branch != "" {
		return filepath.Join(p.Root, DirName, "branches", p.Branch)
	}
	return filepath.Join(p.Root, DirName)
}

// Path returns the path of a file below Dir.
func (p Place) Path(elem ...string) string {
	return filepath.Join(append([]string{p.Dir()}, elem...)...)
}

// RunAll returns the command by which a computer works on the branches and the queue of the project, n tasks at a time.
func (p Place) RunAll(n string) string {
	if p.InDatabase() {
		return "ferrus node --max " + n
	}
	return "ferrus run --parallel " + n
}

// Find finds the machine that a process standing in dir means: that of the branch whose work tree it stands in, else
// the nearest one upwards, else that of the main work tree when dir is in a linked one. The error is a *refusal.RefusedError of
// code NotInitialised.
func Find(ctx context.Context, dir string) (Place, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return Place{}, &refusal.RefusedError{Code: refusal.NotInitialised, Message: err.Error(), Remedy: "name the project with -C or --root"}
	}
	if resolved, err := filepath.EvalSymlinks(dir); err == nil {
		dir = resolved
	}
	if p, ok := ofBranch(dir); ok {
		return p, nil
	}
	unused := ""
	for at := dir; ; at = filepath.Dir(at) {
		if known(at) {
			if unused = strangers(ctx, at); unused == "" || at == dir {
				return Place{Root: at, Work: at}, nil
			}
		}
		if at == filepath.Dir(at) {
			break
		}
	}
	if main, err := worktree.Main(ctx, dir); err == nil && main != "" && known(main) && strangers(ctx, main) == "" {
		return Place{Root: main, Work: main}, nil
	}
	return Place{}, &refusal.RefusedError{Code: refusal.NotInitialised, Message: "there is no .ferrus in " + dir + " or above it" + unused,
		Remedy: "run ferrus init in the project"}
}

// strangers says that the machine in root is another user's, whom git does not accept either; "" for one that may be used.
func strangers(ctx context.Context, root string) string {
	dir := filepath.Join(root, DirName)
	owner, other := OtherOwner(dir)
	if !other || worktree.Safe(ctx, root) {
		return ""
	}
	return fmt.Sprintf("; %s belongs to another user (uid %d) and is not used", dir, owner)
}

// At returns the place of a named root, and of a branch of it where one is named.
func At(root, branch string) Place {
	p := Place{Root: root, Branch: branch, Work: root}
	if branch != "" {
		p.Work = filepath.Join(p.WorkTree(), Within(root))
	}
	return p
}

// WorkTree returns the top of a branch's work tree: of the whole repository, of which the project may be a folder.
func (p Place) WorkTree() string { return filepath.Join(p.Root, DirName, "worktrees", p.Branch) }

// Top returns the top of the repository in which the project lies, or its root where there is none.
func Top(root string) string {
	for at := root; at != filepath.Dir(at); at = filepath.Dir(at) {
		if rootfs.IsWorkTree(at) {
			return at
		}
	}
	return root
}

// Within returns where the project lies in its repository, "." for all of it or none.
func Within(root string) string {
	rel, _ := filepath.Rel(Top(root), root)
	return rel
}

// On returns the place of a branch of the project. The error is a *refusal.RefusedError when the name is none or there is no such
// branch.
func (p Place) On(branch string) (Place, error) {
	if err := state.CheckBranch(branch); err != nil {
		return Place{}, &refusal.RefusedError{Code: refusal.InvalidInput, Message: err.Error(), Remedy: "ferrus branches lists them", Person: true}
	}
	on := At(p.Root, branch)
	if !on.Initialised() {
		return Place{}, &refusal.RefusedError{Code: refusal.UnknownBranch, Message: "there is no branch " + branch + " in " + p.Root,
			Remedy: refusal.Say("ferrus branches lists them; ferrus branch %s makes it", branch), Person: true}
	}
	return on, nil
}

// ofBranch reads <root>/.ferrus/worktrees/<name>/... backwards.
func ofBranch(dir string) (Place, bool) {
	mark := string(filepath.Separator) + filepath.Join(DirName, "worktrees") + string(filepath.Separator)
	root, rest, ok := strings.Cut(dir+string(filepath.Separator), mark)
	if !ok || !known(root) {
		return Place{}, false
	}
	name, _, _ := strings.Cut(rest, string(filepath.Separator))
	p := At(root, name)
	return p, p.Initialised()
}

// known reports whether a machine lives in root: ours, or one that upstream ferrus left.
func known(root string) bool {
	p := At(root, "")
	if p.Initialised() {
		return true
	}
	_, err := os.Lstat(p.Path("STATE.json"))
	return err == nil
}

// Backup returns where the journal's second hard link belongs: in the common git directory, which git clean and git
// stash leave alone; "" outside git. Each machine of a repository has its own.
func (p Place) Backup() string {
	ctx, cancel := context.WithTimeout(context.Background(), GitLimit)
	defer cancel()
	common, err := worktree.CommonDir(ctx, p.Root)
	if err != nil || common == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(p.Dir()))
	return filepath.Join(common, "ferrus", hex.EncodeToString(sum[:6]), "journal.jsonl")
}

// Repository opens the work tree of a whole project: through it trees are listed and forgotten, and branches made and
// removed, one at a time.
func Repository(ctx context.Context, root string) (*worktree.Tree, error) {
	tree, err := worktree.Open(ctx, root, filepath.Join(root, DirName, "git"), worktree.Options{Root: root})
	if err != nil {
		return nil, refusal.Git(err)
	}
	return tree, nil
}

// GitLimit bounds a call of git for which others wait.
const GitLimit = 10 * time.Second

// Init makes the machine of a project in root where there is none. restored tells that a journal which had been lost
// with its folder came back from its hard-linked copy.
func Init(root string) (restored bool, err error) {
	return Create(At(root, ""), StoreOptions{})
}
