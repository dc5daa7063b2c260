package confine_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ferrus-go/ferrus/internal/platform/rootfs"
	"github.com/ferrus-go/ferrus/internal/platform/sandbox"
	"github.com/ferrus-go/ferrus/internal/state"
)

// hostile is what the shell of an executor may run: each line is an attack. What one prints that has the word secret, and what is
// spoiled, is judged from outside.
const hostile = `
cat "$P/.ferrus/journal.jsonl" "$M/journal.jsonl" "$P/.git/ferrus/"*/journal.jsonl
echo spoiled >>"$P/.ferrus/journal.jsonl"
echo spoiled >>"$M/journal.jsonl"
echo spoiled >"$P/.ferrus/tokens.json"
echo spoiled >"$M/executor/run.json"
echo spoiled >"$M/executor/in/x"
mv "$M/executor/home" "$M/executor/gone"
mv "$P/.ferrus/STATE.json" "$P/.ferrus/gone"
ln "$P/.ferrus/STATE.json" linked && cat linked
ls "$P/.ferrus" | grep -x -e STATE.json -e logs | sed s/^/secret/
cat "$P/private" ../other/private "$V/.ssh/id" "$V/notes" "$V/.claude.json"
echo spoiled >>"$P/code.txt"
echo spoiled >>../other/code.txt
echo spoiled >>"$V/.bashrc"
echo spoiled >>"$P/ferrus.toml"
echo spoiled >>"$P/.git/config"
printf '#!/bin/sh\n' >"$P/.git/hooks/post-commit"
printf 'spoiled\n' >"$P/.git/refs/heads/main"
find "$P/.git/objects" -type f -exec chmod u+w {} + -exec sh -c 'for f; do echo spoiled >"$f"; done' sh {} +
git -C "$P" update-ref refs/heads/mine HEAD
echo "$P/.git" >"$P/.git/worktrees/"*/commondir
"$SELF" serve --role supervisor --root "$P" </dev/null && echo secret
cat /proc/$PPID/environ | tr '\0' '\n' | grep -a OUTSIDE
cat /proc/[0-9]*/environ 2>/dev/null | tr '\0' '\n' | grep -a ^OUTSIDE_SECRET=
kill -9 $VICTIM
: >/proc/self/fd/1
exit 0
`

// TestAHostileExecutorReachesNothing: each of its attacks that goes through without a sandbox changes and shows nothing in one, and
// it still has its work approved.
func TestAHostileExecutorReachesNothing(t *testing.T) {
	for _, in := range append([]setting{unconfined}, settings...) {
		t.Run(in.name, func(t *testing.T) {
			t.Parallel()
			sandboxed := in.mechanism != sandbox.None
			person := t.TempDir()
			files := map[string]string{".bashrc": "good\n", "notes": "secret\n", ".ssh/id": "secret\n", ".claude.json": "secret\n"}
			for name, text := range files {
				must(t, os.MkdirAll(filepath.Dir(filepath.Join(person, name)), 0o700))
				must(t, os.WriteFile(filepath.Join(person, name), []byte(text), 0o600))
			}
			victim := exec.Command("sleep", "1000")
			victim.Env = append(os.Environ(), "OUTSIDE_SECRET=secret")
			must(t, victim.Start())
			dead := make(chan struct{})
			go func() { _ = victim.Wait(); close(dead) }()
			t.Cleanup(func() { _ = victim.Process.Kill(); <-dead })
			s := newSite(t, in, "wait_for_task sh:attack.sh truncate submit", map[string]string{"attack.sh": "exit 0\n"}, "")
			head := fmt.Sprintf("P='%s' M='%s' V='%s' SELF='%s' VICTIM=%d\n", s.Dir, filepath.Dir(string(s.folder())), person, s.self, victim.Process.Pid)
			s.at.Write("attack.sh", head+hostile)
			if !in.own { // there it is the executor's to read
				must(t, os.WriteFile(s.Path("private"), []byte("secret\n"), 0o600))
			}
			other := filepath.Join(filepath.Dir(s.at.Dir), "other")
			must(t, os.MkdirAll(other, 0o755))
			must(t, os.WriteFile(filepath.Join(other, "private"), []byte("secret\n"), 0o600))
			must(t, os.WriteFile(filepath.Join(other, "code.txt"), []byte("good\n"), 0o600))
			must(t, os.MkdirAll(s.Path(".git/hooks"), 0o755))
			outside := func() string {
				var b strings.Builder
				paths := []string{s.Path("code.txt")}
				if in.own { // the executor's to write
					paths = nil
				}
				for _, path := range append(paths, s.Path("ferrus.toml"), s.Path(".git/config"), s.Path(".ferrus/journal.jsonl"), s.Path(".ferrus/STATE.json"), other+"/code.txt",
					s.Path(".ferrus/tokens.json"), s.Path(".git/hooks/post-commit"), s.Path(".git/refs/heads/main"), s.Path(".git/refs/heads/mine"), person+"/.bashrc") {
					text, err := os.ReadFile(path)
					if in.own && rootfs.Within(s.Path(".ferrus"), path) { // its own task goes on
						text = []byte(fmt.Sprint(bytes.Contains(text, []byte("spoiled"))))
					}
					fmt.Fprintf(&b, "%s %q %v\n", path, text, err == nil)
				}
				return b.String()
			}
			before := outside()
			out, err := s.conduct(t)
			run, log := s.executor(t)
			killed := false
			select {
			case <-dead:
				killed = true
			default:
			}
			spoiled := outside() != before || killed || strings.Contains(log, "secret") || strings.Contains(log, `"event"`)
			if spoiled == sandboxed {
				t.Errorf("it has spoiled or read something: %v\nbefore:\n%s\nafter:\n%s\n%s", spoiled, before, outside(), log)
			}
			if sandboxed && (err != nil || out.Task.State != state.Complete || !strings.Contains(log, "claimed") || run.Sandbox == "") {
				t.Errorf("%s, %v, %+v\n%s", out.Task.State, err, run, log)
			}
			if _, err := os.Stat(s.folder().In() + "/x"); err == nil {
				t.Error("it has written the folder that it reads")
			}
			if sandboxed {
				s.Git("fsck", "--no-dangling")
			}
		})
	}
}
