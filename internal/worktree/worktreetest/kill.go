package worktreetest

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/ferrus-go/ferrus/internal/worktree"
	"github.com/ferrus-go/ferrus/test/kit"
)

// Victim is the environment variable that makes this binary do one thing to a work tree, to be killed in the middle: it
// says before which of its own changes.
const Victim = "FERRUS_TEST_KILL"

// A Killed is a process that does one thing to a work tree and is killed in the middle of it.
type Killed struct {
	Dir     string
	Tree    *worktree.Tree
	AtDeath func() // called right before the process is killed; nil for nothing
}

// Main runs the tests of a package, with a HOME that has no configuration of git. In a process that [Die] has started it does
// what acts has for its first argument instead. The caller ends the process with what Main returns.
func Main(m *testing.M, acts map[string]func(ctx context.Context, k *Killed, args []string) error) int {
	if at, ok := os.LookupEnv(Victim); ok {
		if err := act(at, os.Args[1], acts[os.Args[2]], os.Args[3:]); err != nil {
			fmt.Println(err)
			return 1
		}
		return 0
	}
	return kit.Main(func() int { return run(m) })
}

// scratch is a folder of all tests; see copied.
var scratch string

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "ferrus-worktree-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	scratch = dir
	home := filepath.Join(dir, "home")
	for name, value := range map[string]string{"HOME": home, "XDG_CONFIG_HOME": filepath.Join(home, ".config")} {
		os.Setenv(name, value)
	}
	if err := os.Mkdir(home, 0o700); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// Most is how much of something is tried, in the usual form and with -full.
func Most(usual, most int) int {
	if kit.Full() {
		return most
	}
	return usual
}

// act does one thing in the work tree dir, and kills itself before its at-th change.
func act(at, dir string, do func(context.Context, *Killed, []string) error, args []string) error {
	ctx := context.Background()
	tree, err := worktree.Open(ctx, dir, filepath.Join(dir, ".ferrus", "git"), worktree.Options{})
	if err != nil {
		return err
	}
	left, _ := strconv.Atoi(at)
	k := &Killed{Dir: dir, Tree: tree}
	tree.OnChange(func() {
		if left--; left == 0 {
			if k.AtDeath != nil {
				k.AtDeath()
			}
			self, _ := os.FindProcess(os.Getpid())
			_ = self.Kill()
			select {}
		}
	})
	return do(ctx, k, args)
}

// A Death is a moment at which a process is killed: before its own n-th change, or around the n-th call of git, which
// then has not begun, goes on, or has ended.
type Death struct {
	N    int
	Call string
}

func (d Death) String() string { return fmt.Sprintf("%d %s", d.N, d.Call) }

// Deaths calls do for every moment at which die can be killed; do reports whether it was. The first that fails is the last.
// Without -full a process dies before every third change, and around each call of git in one of the three ways.
func Deaths(t *testing.T, do func(t *testing.T, d Death) bool) {
	stride := Most(3, 1)
	if !kit.Named() {
		stride = 9
	}
	for i, call := range []string{"", "before", "during", "after"} {
		for n := 1 + i%stride; ; n += stride {
			died := false
			t.Run(Death{n, call}.String(), func(t *testing.T) { died = do(t, Death{n, call}) })
			if !died {
				break
			}
		}
	}
}

// outlived returns a FIFO that is open as long as a git runs that has outlived its parent. The test ends after it.
func outlived(t *testing.T) string {
	t.Helper()
	fifo := filepath.Join(t.TempDir(), "git")
	if out, err := exec.Command("mkfifo", fifo).CombinedOutput(); err != nil {
		t.Skipf("no FIFO: %v: %s", err, out)
	}
	end, err := os.OpenFile(fifo, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _, err := io.Copy(io.Discard, end); err != nil {
			t.Error(err)
		}
		end.Close()
	})
	return fifo
}

// Die does something in dir in a process that is killed, if it lives that long, and reports whether it was.
func Die(t *testing.T, d Death, dir string, args ...string) bool {
	t.Helper()
	if d.Call != "" {
		count := filepath.Join(t.TempDir(), "count")
		path := os.Getenv("PATH")
		Wrap(t, fmt.Sprintf(`printf x >>'%[1]s'
			if [ $(wc -c <'%[1]s') -eq %[2]d ]; then
				exec 9>'%[4]s'
				case %[3]s in
				during) "$REAL" "$@" & ;;
				after) "$REAL" "$@" ;;
				esac
				kill -9 $PPID
				exit 1
			fi`, count, d.N, d.Call, outlived(t)))
		defer os.Setenv("PATH", path)
		d.N = 0
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, append([]string{dir}, args...)...)
	cmd.Env = append(os.Environ(), Victim+"="+strconv.Itoa(d.N))
	out, err := cmd.CombinedOutput()
	if err != nil && !strings.Contains(err.Error(), "killed") {
		t.Fatalf("%v: %v\n%s", args, err, out)
	}
	return err != nil
}
