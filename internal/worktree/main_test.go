package worktree_test

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/ferrus-go/ferrus/internal/test/kit"
	"github.com/ferrus-go/ferrus/internal/worktree"
)

var long = flag.Bool("full", false, "try as many work trees as it takes to see everything happen")

// victim is the environment variable that makes this binary do one thing to a work tree, to be killed in the middle: it
// says before which of its own changes.
const victim = "FERRUS_TEST_KILL"

func TestMain(m *testing.M) {
	if at, ok := os.LookupEnv(victim); ok {
		act(at, os.Args[1], os.Args[2:])
		return
	}
	os.Exit(kit.Main(func() int { return run(m) }))
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

// most is how much of something is tried, in the usual form and with -full.
func most(usual, full int) int {
	if *long {
		return full
	}
	return usual
}

// act does what the arguments say in the work tree dir, and kills itself before its at-th change.
func act(at, dir string, args []string) {
	ctx := context.Background()
	tree, err := worktree.Open(ctx, dir, filepath.Join(dir, ".ferrus", "git"), worktree.Options{})
	if err == nil {
		left, _ := strconv.Atoi(at)
		atDeath := func() {}
		if os.Getenv("FERRUS_TEST_EDIT") != "" {
			atDeath = edited(dir, tree)
		}
		tree.OnChange(func() {
			if left--; left == 0 {
				atDeath()
				self, _ := os.FindProcess(os.Getpid())
				_ = self.Kill()
				select {}
			}
		})
		switch verb := args[0]; verb {
		case "save":
			_, err = tree.Save(ctx, args[1])
		case "restore":
			_, err = tree.Restore(ctx, args[1], args[2], "t/edits")
		case "add":
			err = tree.Add(ctx, args[1], args[2])
		case "remove":
			err = tree.Remove(ctx, args[1], args[2])
		}
	}
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}

// A death is a moment at which a process is killed: before its own n-th change, or around the n-th call of git, which
// then has not begun, goes on, or has ended.
type death struct {
	n    int
	call string
}

func (d death) String() string { return fmt.Sprintf("%d %s", d.n, d.call) }

// deaths calls do for every moment at which die can be killed; do reports whether it was. The first that fails is the last.
// Without -full a process dies before every third change, and around each call of git in one of the three ways.
func deaths(t *testing.T, do func(t *testing.T, d death) bool) {
	stride := most(3, 1)
	for i, call := range []string{"", "before", "during", "after"} {
		for n := 1 + i%stride; ; n += stride {
			died := false
			t.Run(death{n, call}.String(), func(t *testing.T) { died = do(t, death{n, call}) })
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

// die does something in dir in a process that is killed, if it lives that long, and reports whether it was.
func die(t *testing.T, d death, dir string, args ...string) bool {
	t.Helper()
	if d.call != "" {
		count := filepath.Join(t.TempDir(), "count")
		path := os.Getenv("PATH")
		wrap(t, fmt.Sprintf(`printf x >>'%[1]s'
			if [ $(wc -c <'%[1]s') -eq %[2]d ]; then
				exec 9>'%[4]s'
				case %[3]s in
				during) "$REAL" "$@" & ;;
				after) "$REAL" "$@" ;;
				esac
				kill -9 $PPID
				exit 1
			fi`, count, d.n, d.call, outlived(t)))
		defer os.Setenv("PATH", path)
		d.n = 0
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, append([]string{dir}, args...)...)
	cmd.Env = append(os.Environ(), victim+"="+strconv.Itoa(d.n))
	out, err := cmd.CombinedOutput()
	if err != nil && !strings.Contains(err.Error(), "killed") {
		t.Fatalf("%v: %v\n%s", args, err, out)
	}
	return err != nil
}
