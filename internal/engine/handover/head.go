package handover

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/worktree"
	"github.com/ferrus-go/ferrus/internal/worktree/git"
)

// A Head says how HEAD differs from what it was when the task was created. The patch of the task has all that differs, whether it
// was committed or not.
type Head struct {
	From     string   `json:"from"`             // the commit when the task was created
	To       string   `json:"to"`               // the commit now
	Was      string   `json:"was,omitempty"`    // the branch when the task was created, "" for none
	Branch   string   `json:"branch,omitempty"` // the branch now, "" for none
	How      How      `json:"how"`
	Switched bool     `json:"switched,omitempty"` // to another branch
	Commits  int      `json:"commits,omitempty"`  // that are new
	Files    []string `json:"files,omitempty"`    // in which both commits differ, as far as they are the work of the task; see git.Listed
	Paths    []string `json:"-"`                  // of the same files, all of them and as they are
}

// A How is how HEAD came to where it is.
type How string

// The ways, in words that stand after "since the task was created".
const (
	Committed How = "committed" // there are commits on top
	Back      How = "back"      // it was moved back
	Amended   How = "amended"   // the commit was replaced by one with the same parents
	Rewritten How = "rewritten" // the commit is no longer in the history
	Same      How = "same"      // another branch, and the same commit
	Unknown   How = "unknown"   // git cannot tell
)

// HeadOf returns how HEAD differs from what it was when the task was created, nil where it does not or nobody knows. to is the tree of
// the task's work, to which the files are limited; "" for no limit. It starts no process while HEAD is where it was, and never one of
// the repository.
func HeadOf(ctx context.Context, tree *worktree.Tree, t state.Task, to string) *Head {
	if t.Head == "" || !tree.Git() {
		return nil
	}
	h := &Head{From: t.Head, Was: t.HeadBranch}
	h.To, h.Branch = tree.HeadNow(ctx)
	own := "ferrus/" + t.Branch // which ferrus has made for the work tree of the task
	h.Switched = h.Branch != h.Was && !(t.Branch != "" && h.Branch == own)
	switch {
	case h.To == "" || h.To == h.From && !h.Switched:
		return nil
	case h.To == h.From:
		h.How = Same
		return h
	}
	between := [4]string{h.From, h.To}
	if to != "" {
		between[2], between[3] = t.BaseTree, to
	}
	m := headMoveOf(ctx, tree, between)
	h.How, h.Commits, h.Paths, h.Files = m.how, m.commits, m.paths, git.Listed(slices.Clone(m.paths))
	if h.How == Amended && h.Switched {
		h.How = Rewritten
	}
	return h
}

// A headMove is how HEAD came from one commit to another, and the paths in which both differ.
type headMove struct {
	how     How
	commits int      // that are new
	paths   []string // nil where git cannot tell
}

// headMoves are those between two commits, with the two trees that limit the paths, "" for no limit.
var headMoves memo[[4]string, headMove]

// maxPaths is how many paths a move has at most to be remembered.
const maxPaths = 1000

// headMoveOf asks git, unless it has answered before.
func headMoveOf(ctx context.Context, tree *worktree.Tree, between [4]string) headMove {
	m, ok := headMoves.get(between)
	if ok {
		return m
	}
	rel, err := tree.RelationOf(ctx, between[0], between[1])
	if err != nil {
		return headMove{how: Unknown}
	}
	m.how, m.commits = Rewritten, rel.Commits
	switch {
	case rel.Later:
		m.how = Committed
	case rel.Earlier:
		m.how = Back
	case rel.Amended:
		m.how = Amended
	}
	if m.paths, err = pathsOf(ctx, tree, between); err == nil && len(m.paths) <= maxPaths {
		headMoves.put(between, m)
	}
	return m
}

// pathsOf lists the paths in which two commits differ, as far as two trees differ in them.
func pathsOf(ctx context.Context, tree *worktree.Tree, between [4]string) ([]string, error) {
	paths, err := tree.ChangedPaths(ctx, between[0], between[1])
	if err != nil || between[3] == "" {
		return paths, err
	}
	work, err := tree.ChangedPaths(ctx, between[2], between[3])
	if err != nil {
		return nil, err
	}
	is := git.SetOf(work)
	return slices.DeleteFunc(paths, func(name string) bool { return !is[name] }), nil
}

// Range names both commits.
func (h *Head) Range() string { return short(h.From) + ".." + short(h.To) }

func short(id string) string { return id[:min(len(id), 10)] }

// String says it in a line.
func (h *Head) String() string {
	on, was := orDetached(h.Branch), orDetached(h.Was)
	from, to := short(h.From), short(h.To)
	var text string
	switch h.How {
	case Same:
		return fmt.Sprintf("the work tree was switched from %s to %s, at the same commit %s", was, on, to)
	case Committed:
		text = fmt.Sprintf("%s on %s, %s", commits(h.Commits), on, h.Range())
	case Back:
		text = fmt.Sprintf("%s was moved back from %s to %s", on, from, to)
	case Amended:
		text = fmt.Sprintf("the commit %s of %s was amended and is %s now", from, on, to)
	case Rewritten:
		text = fmt.Sprintf("the history of %s was rewritten: it is at %s now, without %s", on, to, from)
	default:
		text = fmt.Sprintf("%s is at %s, and git cannot tell how that comes from %s", on, to, from)
	}
	if h.Switched {
		text = fmt.Sprintf("the work tree was switched from %s at %s to %s at %s", was, from, on, to)
	}
	text += " since the task was created"
	if len(h.Files) == 0 {
		return text
	}
	const most = 5
	shown := strings.Join(h.Files[:min(most, len(h.Files))], ", ")
	if n := len(h.Paths) - most; n > 0 {
		shown += fmt.Sprintf(" and %d more", n)
	}
	return text + "; of the task's files they differ in " + shown
}

func orDetached(branch string) string {
	if branch == "" {
		return "no branch"
	}
	return branch
}

func commits(n int) string {
	if n == 1 {
		return "1 commit"
	}
	return fmt.Sprintf("%d commits", n)
}
