package checkrun

import (
	"context"
	"path"
	"slices"
	"strings"

	"github.com/ferrus-go/ferrus/internal/config"
	"github.com/ferrus-go/ferrus/internal/engine/checks"
	"github.com/ferrus-go/ferrus/internal/platform/safetext"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/worktree"
)

// A Written names files that changed while checks ran: most often the checks write them. The zero value names none.
type Written struct {
	lines   []string // of a .gitignore
	tracked []string // paths that no such line leaves out
	fresh   bool     // none of them was there before
}

// WrittenSince says by which lines git leaves out what was written beside a tree: paths, or where these are nil what another tree has
// that to names. The error is one of git.
func WrittenSince(ctx context.Context, tree *worktree.Tree, from, to string, paths []string) (w Written, err error) {
	if paths == nil {
		if paths, err = tree.ChangedPaths(ctx, from, to); err != nil {
			return w, err
		}
	}
	lines, tracked, err := tree.IgnoreLines(ctx, from, paths)
	w = Written{lines: first(lines), tracked: first(tracked)}
	if err == nil && len(lines) > 0 && len(tracked) == 0 {
		w.fresh, err = tree.Lacks(ctx, from, paths)
	}
	return w, err
}

func first(list []string) []string { return list[:min(len(list), state.MaxWritten)] }

// Count enters into a check that has its status whether the same files changed again, or new ones came again. Every verdict ends the
// count.
func (w Written) Count(c *state.Check) {
	lines, tracked := strings.Join(w.lines, "\n"), strings.Join(w.tracked, "\n")
	switch {
	case c.Status == state.CheckGateError:
	case c.Status != state.CheckMoved:
		c.Moved, c.Written, c.Tracked = 0, "", ""
	case c.Written == lines && c.Tracked == tracked:
		c.Moved++
	case w.fresh && c.Moved > 0 && c.Tracked == "":
		c.Moved, c.Written = c.Moved+1, strings.Join(Alike(splitLines(c.Written), w.lines), "\n")
	default:
		c.Moved, c.Written, c.Tracked = 1, lines, tracked
	}
}

// WrittenDuring returns the files that changed during a check of a task.
func WrittenDuring(c state.Check) Written {
	if c.Status != state.CheckMoved {
		return Written{}
	}
	return Written{lines: splitLines(c.Written), tracked: splitLines(c.Tracked)}
}

func splitLines(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return r == '\n' })
}

// numbered are the parts of a name that differ from run to run: counters, times, process ids, and random letters with digits.
var numbered = safetext.Lazily(`[A-Za-z]*[0-9][A-Za-z0-9]*`)

// Alike joins the lines of two checks. Those that differ in such a part of their last name become one line with a star.
func Alike(was, now []string) []string {
	pattern := func(line string) string {
		dir, name := path.Split(strings.TrimSuffix(line, "/"))
		return dir + numbered().ReplaceAllStringFunc(name, func(part string) string {
			if letters := strings.TrimRight(part, "0123456789"); !strings.ContainsAny(letters, "0123456789") {
				return letters + "*"
			}
			return "*"
		}) + line[len(strings.TrimSuffix(line, "/")):]
	}
	all := slices.Compact(slices.Sorted(slices.Values(slices.Concat(was, now))))
	of := map[string]int{}
	for _, line := range all {
		of[pattern(line)]++
	}
	for i, line := range all {
		if p := pattern(line); of[p] > 1 {
			all[i] = p
		}
	}
	slices.Sort(all)
	return first(slices.Compact(all))
}

// Remedy is what to do if the checks of a task on a branch write the files, "" where there are none. who names what may have written
// them, ignore the .gitignore.
func (w Written) Remedy(branch, who, ignore string) string {
	var parts []string
	if len(w.lines) > 0 {
		parts = append(parts, "If "+who+" write these files, add to "+ignore+":\n    "+strings.Join(w.lines, "\n    "))
	}
	if len(w.tracked) > 0 {
		quoted := make([]string, len(w.tracked))
		for i, name := range w.tracked {
			quoted[i] = `"/` + name + `"`
		}
		parts = append(parts, refusal.OnBranch(branch, "git tracks %s. Let %s leave them as they are; or write into ferrus.toml, and run ferrus config accept{branch}:\n"+
			"    [checks]\n    ignore = [%s]", strings.Join(w.tracked, ", "), who, strings.Join(quoted, ", ")))
	}
	return strings.Join(parts, "\n")
}

// TheChecks are what has usually written the files.
const TheChecks = "the checks"

// IgnoreFile names the .gitignore of a work tree.
const IgnoreFile = ".gitignore at the top of the work tree"

// ByHand runs checks for a person at a site. As for an executor they prove nothing if files of the work tree change meanwhile: then they
// could not run, and the error names the files and what to do.
func (r *Runner) ByHand(ctx context.Context, gate config.Gate, at Site, spec checks.Spec) (checks.Result, error) {
	tree, err := worktree.Open(ctx, r.place.Work, r.place.Path("git"), worktree.Options{Root: r.place.Root, Ignore: gate.Checks.Ignore})
	if err != nil {
		return checks.Result{}, refusal.Git(err)
	}
	before, err := tree.Fingerprint(ctx)
	if err != nil {
		return checks.Result{}, refusal.Git(err)
	}
	res, err := r.Run(ctx, at.On(spec))
	if res = at.Result(res); err != nil || res.Status != checks.Passed || at.Clean != nil {
		return res, err
	}
	after, err := tree.Fingerprint(ctx)
	if err != nil || after == before {
		return res, nil // what cannot be read afterwards is for the next command to say
	}
	changed, err := tree.Changed(ctx, before, after)
	if err != nil {
		return res, nil
	}
	w, err := WrittenSince(ctx, tree, before, after, nil)
	if err != nil {
		return res, nil
	}
	res.Status, res.Err = checks.GateError, "files changed meanwhile, so that a check of an executor would not count: "+strings.Join(changed, ", ")+"\n"+w.Remedy(r.place.Branch, TheChecks, IgnoreFile)
	return res, nil
}
