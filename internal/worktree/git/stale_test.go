package git

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestALockOfAKilledGitIsRemoved where it is ours and no git runs that may hold it, and the call is carried out.
func TestALockOfAKilledGitIsRemoved(t *testing.T) {
	for _, c := range []struct {
		ref     string
		age     time.Duration
		runs    bool // a git that began before
		removed bool
	}{
		{"refs/ferrus/t/1", quiet + time.Second, false, true},
		{"refs/heads/ferrus/try", quiet + time.Second, false, true},
		{"refs/ferrus/t/1", quiet + time.Second, true, false},
		{"refs/ferrus/t/1", lockAge + time.Second, true, true},
		{"refs/ferrus/t/1", 0, false, false},
		{"refs/heads/main", lockAge + time.Second, false, false},
	} {
		dir := t.TempDir()
		run := func(in string, args ...string) (string, error) {
			cmd := Command{Dir: dir}
			if in != "" {
				cmd.Stdin = strings.NewReader(in)
			}
			out, _, err := cmd.Run(t.Context(), args...)
			return strings.TrimSpace(string(out)), err
		}
		must := func(out string, err error) string {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
			return out
		}
		must(run("", "init", "-q"))
		id := must(run("text", "hash-object", "-w", "--stdin"))
		if strings.HasPrefix(c.ref, "refs/heads/") { // it takes a commit
			tree := must(run("100644 blob "+id+"\tfile\n", "mktree"))
			id = must(run("", "-c", "user.name=a", "-c", "user.email=a@example.com", "commit-tree", "-m", "m", tree))
		}
		lock := filepath.Join(dir, ".git", filepath.FromSlash(c.ref)+".lock")
		if err := os.MkdirAll(filepath.Dir(lock), 0o755); err != nil {
			t.Fatal(err)
		}
		then := time.Now().Add(-c.age)
		if err := os.WriteFile(lock, []byte("half"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(lock, then, then); err != nil {
			t.Fatal(err)
		}
		running = func(at time.Time) bool { return c.runs && !at.After(then.Add(time.Second)) }
		_, err := run("create "+c.ref+" "+id+"\n", "update-ref", "--stdin")
		if _, there := os.Lstat(lock); (err == nil) != c.removed || (there != nil) != c.removed {
			t.Errorf("%s, %v old, a git runs %v: removed %v: %v", c.ref, c.age, c.runs, there != nil, err)
		}
	}
}
