//go:build linux || darwin

package restore_test

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestAPersonWorksInGitMeanwhile: what somebody edits and then adds, commits, stashes or leaves for another commit, in the
// middle of a Restore, is on disk, in that commit or stash, or kept.
func TestAPersonWorksInGitMeanwhile(t *testing.T) {
	t.Parallel()
	deeds := map[string][][]string{
		"add":      {{"add", "-A"}},
		"commit":   {{"add", "-A"}, {"commit", "-qm", "mine"}},
		"stash":    {{"stash", "push", "-q", "-u"}},
		"checkout": {{"add", "-A"}, {"commit", "-qm", "mine"}, {"checkout", "-q", "HEAD~1"}},
	}
	cases, bad := 0, 0
	for name, deed := range deeds {
		for _, step := range []int{1, 9, 15, 25}[most(2, 0):most(3, 4)] { // among removals, replacements and at the end
			cases++
			if !t.Run(fmt.Sprintf("%s at step %d", name, step), func(t *testing.T) {
				dir, from, to := arena(t)
				write(t, dir, ".git/info/exclude", "/.ferrus/\n")
				runGit(t, dir, "add", "stays")
				runGit(t, dir, "commit", "-qm", "one")
				runGit(t, dir, "commit", "-qm", "two", "--allow-empty")
				tree := openWork(t, dir)
				mine := []string{"stays", "replaced-0", "going-0/removed", "made-0", "replaced-6", "made-6", "new/file"}
				n := 0
				tree.Hooked(func(string) {
					if n++; n != step {
						return
					}
					for _, name := range mine {
						editors[0].save(t, filepath.Join(dir, name), killedText(name)+", first", nil)
					}
					for _, args := range deed {
						runGit(t, dir, append([]string{"-c", "core.excludesFile="}, args...)...)
					}
					for _, name := range mine { // and goes on
						editors[0].save(t, filepath.Join(dir, name), killedText(name)+", again", nil)
					}
				}, false, nil, nil)
				c, err := tree.Restore(t.Context(), from, to, "t/edits")
				if err != nil || n < step {
					t.Fatalf("after %d steps: %v", n, err)
				}
				found := strings.Join(slices.Collect(maps.Values(manifest(t, dir))), "\n")
				for _, e := range c.Edited {
					if e.Show != "" {
						found += runGit(t, dir, strings.Fields(e.Show)[1:]...)
					}
				}
				found += runGit(t, dir, "-c", "alias.all=!for c in $(git rev-list --all --reflog) $(git write-tree); do git archive $c; done | cat", "all")
				for _, name := range mine {
					for _, text := range []string{", first", ", again"} {
						if !strings.Contains(found, killedText(name)+text) {
							t.Errorf("%s%s is lost; named: %v", name, text, c.Edited)
						}
					}
				}
			}) {
				bad++
			}
		}
	}
	t.Logf("rig: cases=%d bad=%d; steps at which a person works in git", cases, bad)
}
