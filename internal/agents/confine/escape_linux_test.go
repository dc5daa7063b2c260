package confine_test

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/test/kit"
)

// evil makes a git directory that runs a program of the executor's for each file that git looks at, and for more.
const evil = `
printf '#!/bin/sh\necho ran >>"%s"\ncat\n' "$CANARY" >"$HOME/canary" && chmod +x "$HOME/canary"
cp -r "$(git rev-parse --absolute-git-dir)" "$HOME/evil"
for key in filter.evil.clean filter.evil.smudge diff.evil.textconv diff.external core.fsmonitor core.pager core.sshCommand; do
	git config --file "$HOME/evil/config" $key "$HOME/canary"
done
mkdir -p "$HOME/evil/hooks"
for hook in post-index-change pre-commit post-checkout reference-transaction; do cp "$HOME/canary" "$HOME/evil/hooks/$hook"; done
printf '* filter=evil diff=evil\n' >.gitattributes
echo two >code.txt
`

// escapes are ways to have git outside use that directory.
var escapes = map[string]string{
	"another .git file":    `printf 'gitdir: %s\n' "$HOME/evil" >.git`,
	"a .git folder":        `rm .git && cp -r "$HOME/evil" .git`,
	"a link":               `rm .git && ln -s "$HOME/evil" .git`,
	"commondir":            `printf '%s\n' "$HOME/evil" >"$(git rev-parse --absolute-git-dir)/commondir"`,
	"its own git folder":   `cp "$HOME/evil/config" "$(git rev-parse --absolute-git-dir)/config"`,
	"the project's folder": `for d in "$P/.git/worktrees/alt"*; do echo "$HOME/evil" >"$d/commondir"; cp "$HOME/evil/config" "$d/config.worktree"; done`,
}

// look is what the client of a reviewer does in the work tree, while the executor is still there.
const look = `for call in "status --short" "diff" "log -1 --format=%s" "add -A --dry-run"; do git --no-pager $call || echo failed; done
`

// TestNoGitOfAnExecutorRunsOutside: whatever it makes of the git directory that its work tree names, the server outside that takes
// its work runs nothing of it, nor does the client of its reviewer. A person's own git there would.
func TestNoGitOfAnExecutorRunsOutside(t *testing.T) {
	inEach(t, func(t *testing.T, in setting) {
		for i, name := range slices.Sorted(maps.Keys(escapes)) {
			if !kit.Sampled(9, i, slices.Index(settings, in)) {
				continue
			}
			escape := escapes[name]
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				canary := filepath.Join(t.TempDir(), "canary")
				s := newSite(t, in, "wait_for_task sh:escape.sh check submit hang", map[string]string{"escape.sh": "exit 0\n", "look.sh": look}, "")
				before := s.dotGit()
				s.at.Write("escape.sh", fmt.Sprintf("CANARY='%s' P='%s'\n", canary, s.Dir)+evil+escape+"\necho escaped\n")
				out, err := s.conduct(t)
				run, log := s.executor(t)
				if err != nil || out.Task.State != state.Complete || !strings.Contains(log, "escaped") {
					t.Fatalf("%s, %v\n%s", out.Task.State, err, log)
				}
				if text, _ := os.ReadFile(s.runOf(t, "reviewer").Log); !strings.Contains(string(text), "more\n") || strings.Contains(string(text), "failed") {
					t.Errorf("the reviewer has not looked:\n%s", text)
				}
				if text, err := os.ReadFile(canary); err == nil {
					t.Errorf("its program ran outside %d times\n%s", strings.Count(string(text), "ran"), log)
				}
				if s.dotGit() != before {
					t.Errorf("the work tree names %q for %q", s.dotGit(), before)
				}
				if want := in == landlocked && (strings.Contains(name, ".git f") || name == "a link"); run.Replaced != want {
					t.Errorf("that .git was replaced is recorded: %v", run.Replaced)
				}
				if s.at.Read("code.txt") != "two\n" {
					t.Error("the work is lost")
				}
				if in != landlocked || name == "the project's folder" {
					return // the executor could not write there
				}
				// The person's own git shows that there is something to be stopped.
				must(t, os.WriteFile(filepath.Join(s.at.Dir, ".git"), []byte("gitdir: "+filepath.Join(s.folder().Home(), "evil")+"\n"), 0o644))
				cmd := exec.Command("git", "add", "-A")
				cmd.Dir = s.at.Dir
				_ = cmd.Run()
				if _, err := os.Stat(canary); err != nil {
					t.Errorf("git runs nothing of it here, so that nothing is shown: %v", err)
				}
			})
		}
	})
}
