//go:build unix

package clients

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/ferrus-go/ferrus/internal/agents"
	"github.com/ferrus-go/ferrus/internal/agents/process"
)

// processes are those that have to do with the rig.
func (r *rig) processes() []running {
	var found []running
	entries, _ := os.ReadDir("/proc")
	for _, entry := range entries {
		p := running{dir: filepath.Join("/proc", entry.Name())}
		if _, err := fmt.Sscan(entry.Name(), &p.pid); err != nil || p.pid == os.Getpid() {
			continue
		}
		p.line, _ = os.ReadFile(filepath.Join(p.dir, "cmdline"))
		environ, _ := os.ReadFile(filepath.Join(p.dir, "environ"))
		cwd, _ := os.Readlink(filepath.Join(p.dir, "cwd"))
		if bytes.Contains(p.line, []byte(r.base)) || bytes.Contains(environ, []byte(r.base)) || strings.HasPrefix(cwd, r.base) {
			found = append(found, p)
		}
	}
	return found
}

// left are the processes that do not end by themselves: the last step of a shim comes after the run that it belongs to.
func (r *rig) left() []running {
	left := r.processes()
	for end := time.Now().Add(patience); len(left) > 0 && time.Now().Before(end); left = r.processes() {
		time.Sleep(5 * time.Millisecond)
	}
	return left
}

type running struct {
	pid  int
	dir  string
	line []byte
}

func (p running) String() string {
	return fmt.Sprintf("%d %.200s", p.pid, bytes.ReplaceAll(p.line, []byte{0}, []byte(" ")))
}

// quiet kills what a test that failed has left behind.
func (r *rig) quiet() {
	for _, p := range r.processes() {
		if one, err := os.FindProcess(p.pid); err == nil {
			_ = one.Kill() // an error means that it is gone already
		}
	}
}

// slay kills processes, or groups of them by a negative number. Who has ended since the look is none the less dead.
func (r *rig) slay(pids ...int) {
	r.t.Helper()
	for _, pid := range pids {
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil && err != syscall.ESRCH {
			r.t.Fatal(err)
		}
	}
}

// shim is the process that holds the slot of a duty, and leads the group of all that is in it.
func (r *rig) shim(duty agents.Duty) int {
	r.t.Helper()
	var holder struct{ Shim int }
	if err := json.Unmarshal([]byte(r.text(string(process.Path(r.place().Dir(), r.branch, string(duty))))), &holder); err != nil {
		r.t.Fatal(err)
	}
	return holder.Shim
}

// clients are the processes that the shim of a slot has started itself.
func (r *rig) clients(duty agents.Duty) []int {
	r.t.Helper()
	shim := r.shim(duty)
	var pids []int
	for _, p := range r.processes() {
		stat, _ := os.ReadFile(filepath.Join(p.dir, "stat"))
		_, after, _ := bytes.Cut(stat, []byte(") ")) // the name may hold anything
		if fields := bytes.Fields(after); len(fields) > 1 && string(fields[1]) == strconv.Itoa(shim) {
			pids = append(pids, p.pid)
		}
	}
	if len(pids) == 0 {
		r.t.Fatalf("no client below the shim %d: %v", shim, r.processes())
	}
	return pids
}
