//go:build unix

package e2e

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/test/kit"
	"github.com/ferrus-go/ferrus/test/sharedtest"
)

// struck are the system calls that are struck, and whether they free space on a disk, which may be full.
var struck = map[string]bool{
	"openat": true, "write": true, "pwrite64": true, "fsync": true, "fdatasync": true, "renameat": true, "renameat2": true,
	"mkdirat": true, "linkat": true, "ftruncate": true, "unlinkat": false, "flock": false, "read": false, "pread64": false,
	"close": false, "fstat": false, "newfstatat": false, "getdents64": false, "fchmod": false,
}

// A strike is a fault at the n-th of the system calls of a name that the process's first thread makes.
type strike struct {
	call  string
	n     int
	fault string // in the form of strace
	also  string // what else fails, whenever it is called; "" for nothing
}

func (k strike) String() string {
	return strings.TrimSuffix(fmt.Sprintf("%s at call %d of %s, %s", k.fault, k.n, k.call, k.also), ", ")
}

// orders are the arguments of strace.
func (k strike) orders() []string {
	list := []string{"-e", fmt.Sprintf("inject=%s:%s:when=%d", k.call, k.fault, k.n)}
	if k.also != "" {
		list = append(list, "-e", "inject="+k.also+":error=EIO")
	}
	return list
}

// telling are the calls by which a transition stands or falls: every form of the rig strikes each of one act.
var telling = map[string]bool{"write": true, "fdatasync": true, "ftruncate": true, "flock": true, "close": true}

// A tally counts the cases of the rig.
type tally struct {
	mu                         sync.Mutex
	cases, bad, missed, killed int
	unknown                    int
}

var tracer string

// TestEverySystemCallMayFail kills a real process, or lets the disk fail it, at every system call of an act.
func TestEverySystemCallMayFail(t *testing.T) {
	sharedtest.InFiles(t, "the system calls are those of its files")
	var err error
	if tracer, err = exec.LookPath("strace"); err != nil {
		t.Skip("striking system calls needs strace")
	}
	if out, err := exec.Command(tracer, "-qq", "-o", os.DevNull, "-e", "inject=fsync:error=EIO:when=1", "true").CombinedOutput(); err != nil {
		t.Skipf("striking system calls needs a strace that may trace: %v %s", err, out)
	}
	var y tally
	t.Run("all", func(t *testing.T) {
		for name := range feats {
			for _, dirty := range []bool{false, true} {
				t.Run(fmt.Sprint(name, "/dirty=", dirty), func(t *testing.T) {
					t.Parallel()
					y.scene(set(t, name, dirty))
				})
			}
		}
	})
	t.Logf("rig: cases=%d bad=%d; %d killed, %d with an outcome unknown and said to be; %d faults missed the act", y.cases, y.bad, y.killed, y.unknown, y.missed)
	if y.missed > y.cases/3 { // how often Go makes a call of its own is never the same
		t.Errorf("%d of %d faults did not strike the act", y.missed, y.cases)
	}
}

// scene strikes one feat from one start.
func (y *tally) scene(s *scene) {
	list := s.strikes()
	for n, k := range list {
		if !kit.Full() && n%401 != 0 && !(s.name == "progress" && telling[k.call]) {
			continue
		}
		a, err := s.act(k.call+",write,ftruncate", k.orders()...)
		hit, wrong := s.hit(k), ""
		switch {
		case !hit: // it may have struck a call that Go does not live without, or what follows
		case err != nil:
			wrong = err.Error()
		default:
			wrong = s.judge(a, k.also != "")
		}
		y.mu.Lock()
		y.cases++
		if !hit {
			y.missed++
		}
		if a == nil {
			y.killed++
		} else if a.Code == refusal.OutcomeUnknown {
			y.unknown++
		}
		if wrong != "" {
			y.bad++
			s.t.Errorf("%s: %s", k, wrong)
		}
		y.mu.Unlock()
	}
}

// strikes plans every fault at every call of the act, which a run without faults has counted.
func (s *scene) strikes() (list []strike) {
	s.t.Helper()
	calls := slices.Sorted(maps.Keys(struck))
	a, err := s.act(strings.Join(calls, ","))
	if err != nil || a == nil || a.Code != "" || a.Next != "" {
		s.t.Fatalf("without faults: %+v, %v", a, err)
	}
	if wrong := s.judge(a, false); wrong != "" {
		s.t.Fatal("without faults: " + wrong)
	}
	acting, count := false, map[string]int{}
	for line := range strings.Lines(s.text(s.side + "/trace")) {
		name, rest, _ := strings.Cut(line, "(")
		count[name]++
		switch {
		case strings.Contains(rest, begins):
			acting = true
		case strings.Contains(rest, ends):
			return list
		case acting && slices.Contains(calls, name) && strings.Contains(rest, s.path(".ferrus")): // and not Go's own pipes
			n := count[name]
			list = append(list, strike{name, n, "signal=SIGKILL", ""}, strike{name, n, "error=EIO", ""})
			if struck[name] {
				list = append(list, strike{name, n, "error=ENOSPC", ""})
			}
			if name == "fdatasync" { // and what was written cannot be taken back
				list = append(list, strike{name, n, "error=EIO", "ftruncate"})
			}
		}
	}
	s.t.Fatal("the act has no end")
	return nil
}

// The marks of the part, as strace shows them.
const begins, ends = `, "begin\n", 6`, `, "end\n", 4`

// hit reports whether the fault struck the act: Go's runtime makes calls of its own in between, which may shift what is
// counted.
func (s *scene) hit(k strike) bool {
	before, act, _ := strings.Cut(s.text(s.side+"/trace"), begins)
	act, _, _ = strings.Cut(act, ends)
	n := strings.Count("\n"+before, "\n"+k.call+"(")
	for line := range strings.Lines(act) {
		if strings.HasPrefix(line, k.call+"(") {
			if n++; n == k.n {
				return strings.Contains(line, s.path(".ferrus"))
			}
		}
	}
	return false
}
