package plan_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/ferrus-go/ferrus/internal/agents"
	"github.com/ferrus-go/ferrus/internal/conductor/plan"
	"github.com/ferrus-go/ferrus/internal/config"
	"github.com/ferrus-go/ferrus/internal/engine/enginetest"
	"github.com/ferrus-go/ferrus/internal/platform/sandbox"
	"github.com/ferrus-go/ferrus/internal/project"
)

// Variables that make this binary a process on another machine, which prints what ferrus says there.
const (
	lacksVariable = "FERRUS_TEST_LACKS" // landlock, userns, or both; then "entered"
	rootVariable  = "FERRUS_TEST_ROOT"  // the project
)

// another is the process on another machine, if this is one.
func another() {
	lacks, root := os.Getenv(lacksVariable), os.Getenv(rootVariable)
	if root == "" {
		return
	}
	if lacks != "entered" {
		runtime.LockOSThread()
		if err := lack(lacks); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Setenv(lacksVariable, "entered")
		fmt.Fprintln(os.Stderr, syscall.Exec("/proc/self/exe", os.Args, os.Environ())) // all threads have the filter then
		os.Exit(1)
	}
	said := map[string]string{}
	claude, _ := agents.Find("claude-code")
	self, _ := os.Executable()
	for _, mode := range []string{"auto", "on", "bwrap", "landlock"} {
		for _, branch := range []string{"alt", ""} {
			c := config.Default()
			c.Checks.Sandbox, c.HQ.Sandbox.Mode = config.AutoSandbox, mode
			place := project.Place{Root: root, Branch: branch, Work: root}
			if branch != "" {
				place.Work = place.WorkTree()
			}
			p, err := plan.Of(context.Background(), plan.Executor{Gate: c.Gate(), Place: place, Work: place.Work, Ferrus: self, Environ: []string{"PATH=/usr/bin:/bin", "ANTHROPIC_API_KEY=x"}, Agent: claude})
			text := p.Outside
			switch {
			case err != nil:
				text = "refused: " + err.Error()
			case p.Order != nil:
				text = string(p.Order.Mechanism)
			}
			said[mode+" "+branch] = text
		}
	}
	_ = json.NewEncoder(os.Stdout).Encode(said)
	os.Exit(0)
}

// lack takes Landlock and user namespaces away from this thread and all that it becomes and starts, as an older kernel and a container do.
func lack(what string) error {
	load := func(off uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: off}
	}
	give := func(v uint32) unix.SockFilter { return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: v} }
	fails := func(errno unix.Errno) unix.SockFilter { return give(0x00050000 | uint32(errno)) }
	is := func(nr uint32, skip uint8) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jf: skip, K: nr}
	}
	prog := []unix.SockFilter{load(0)}
	if strings.Contains(what, "landlock") {
		prog = append(prog, is(unix.SYS_LANDLOCK_CREATE_RULESET, 1), fails(unix.ENOSYS))
	}
	if strings.Contains(what, "userns") {
		prog = append(prog, is(unix.SYS_CLONE3, 1), fails(unix.ENOSYS))
		for _, nr := range []uint32{unix.SYS_CLONE, unix.SYS_UNSHARE} {
			prog = append(prog, is(nr, 4), load(16),
				unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K, Jf: 1, K: unix.CLONE_NEWUSER}, fails(unix.EPERM), give(0x7fff0000))
		}
	}
	prog = append(prog, give(0x7fff0000))
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	fprog := unix.SockFprog{Len: uint16(len(prog)), Filter: &prog[0]}
	if _, _, errno := unix.RawSyscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, uintptr(unsafe.Pointer(&fprog))); errno != 0 {
		return errno
	}
	return nil
}

// TestWhatIsSaidOnOtherMachines: an old kernel, a container without user namespaces, both. auto takes what there is and names why there is
// nothing; a mode that is named is refused before anything starts.
func TestWhatIsSaidOnOtherMachines(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range sandbox.Mechanisms() {
		if err := sandbox.Probe(t.Context(), m, self); err != nil {
			t.Skip("both mechanisms are needed, so that one can be taken away: ", err)
		}
	}
	const own = "landlock cannot keep an executor in the project's own work tree out of .ferrus"
	for lacks, want := range map[string]map[string]string{
		"nothing": {"auto alt": "=bwrap", "auto ": "=bwrap", "on alt": "=bwrap", "on ": "=bwrap", "bwrap alt": "=bwrap", "bwrap ": "=bwrap",
			"landlock alt": "=landlock", "landlock ": "refused: [hq.executor] sandbox = \"landlock\": " + own},
		"userns": {"auto alt": "=landlock", "auto ": own, "on alt": "=landlock", "on ": "make bubblewrap work: ferrus doctor --sandbox; or work on a branch",
			"bwrap alt": "bwrap does not hold here", "bwrap ": "bwrap does not hold here", "landlock alt": "=landlock", "landlock ": own},
		"landlock": {"auto alt": "=bwrap", "auto ": "=bwrap", "on alt": "=bwrap", "on ": "=bwrap", "bwrap alt": "=bwrap", "bwrap ": "=bwrap", "landlock alt": "the kernel has version 0 of Landlock, and version 3 is needed", "landlock ": "refused: "},
		"landlock userns": {"auto alt": "not in a sandbox: ", "auto ": "not in a sandbox: ", "on alt": "refused: ", "on ": "refused: ",
			"bwrap alt": "bwrap does not hold here", "bwrap ": "bwrap does not hold here", "landlock alt": "the kernel has version 0 of Landlock", "landlock ": own},
	} {
		t.Run(lacks, func(t *testing.T) {
			t.Parallel()
			m := enginetest.Repository(t, "")
			for _, dir := range []string{"worktrees/alt", "branches/alt"} {
				if err := os.MkdirAll(filepath.Join(m.Dir, ".ferrus", dir), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			cmd := exec.CommandContext(t.Context(), self)
			cmd.Env = append(os.Environ(), lacksVariable+"="+lacks, rootVariable+"="+m.Dir)
			var trouble bytes.Buffer
			cmd.Stderr = &trouble
			out, err := cmd.Output()
			var said map[string]string
			if err == nil {
				err = json.Unmarshal(out, &said)
			}
			if err != nil {
				t.Fatalf("%v: %s%s", err, out, trouble.String())
			}
			for name, want := range want {
				exactly := strings.HasPrefix(want, "=")
				if got := said[name]; exactly && "="+got != want || !exactly && !strings.Contains(got, want) {
					t.Errorf("%s: %q, and not %q", name, got, want)
				}
				if got := said[name]; strings.HasPrefix(got, "not in") && !strings.Contains(got, `set sandbox = "off" under [hq.executor]`) {
					t.Errorf("%s names no remedy: %s", name, got)
				}
			}
			t.Logf("%q", said)
		})
	}
}
