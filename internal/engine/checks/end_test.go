//go:build unix

package checks

import (
	"bufio"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gofrs/flock"
	"golang.org/x/sys/unix"

	"github.com/ferrus-go/ferrus/internal/platform/proc"
	"github.com/ferrus-go/ferrus/test/kit"
)

// stragglers starts a sleeper without an environment in the background and a daemon in a session of its own, both with
// the output open, and writes their ids to files.
const stragglers = `env -i sleep 1000 & echo $! > background; "$SELF" daemon away; `

// survivors returns the stragglers that still live.
func survivors(t *testing.T, dir string) []int {
	t.Helper()
	var alive []int
	for _, name := range []string{"background", "away"} {
		pid, err := strconv.Atoi(strings.TrimSpace(read(t, filepath.Join(dir, name))))
		if err != nil {
			t.Fatal(err)
		}
		if proc.Alive(pid) {
			alive = append(alive, pid)
		}
	}
	return alive
}

func linuxOnly(t *testing.T) {
	t.Helper()
	if !escapeProof {
		t.Skip("here a process that leaves its group escapes")
	}
}

func TestACheckThatForksLeavesNothingBehind(t *testing.T) {
	linuxOnly(t)
	for name, end := range map[string]string{"exits": "exit 0", "times out": "sleep 1000", "fails": "exit 1"} {
		t.Run(name, func(t *testing.T) {
			// The second command finds the stragglers of the first gone already.
			spec := specFor(t, stragglers+end, `! kill -0 $(cat background) && ! kill -0 $(cat away)`)
			spec.Timeout = time.Second
			r := finished(t, spec)
			if alive := survivors(t, spec.Dir); len(alive) > 0 {
				t.Errorf("still alive: %v", alive)
			}
			if len(r.Commands) != 2 || !r.Commands[1].Passed() {
				t.Errorf("%+v", r)
			}
		})
	}
}

func TestACheckThatForksWithoutEndLeavesNothingBehind(t *testing.T) {
	linuxOnly(t)
	// Each process lives only until it has started the next, so that its id is stale as soon as it is read. Should they
	// escape, they end with the test's directory.
	spec := specFor(t, `echo $$ > walk; f() { test -e walk && f & }; f`)
	if r := finished(t, spec); r.Status != Passed {
		t.Errorf("%+v", r)
	}
	group, err := strconv.Atoi(strings.TrimSpace(read(t, filepath.Join(spec.Dir, "walk"))))
	if err != nil {
		t.Fatal(err)
	}
	if proc.Tree(group).Alive() {
		t.Error("the group still lives")
	}
}

func TestACheckThatKillsItsParentIsAGateErrorAndLeavesNothingBehind(t *testing.T) {
	linuxOnly(t)
	for name, environ := range map[string][]string{
		"later": nil,
		// The check comes before everything that its helper could say of it.
		"before the helper says more than its lock": append(os.Environ(), mute+"=1"),
	} {
		t.Run(name, func(t *testing.T) {
			spec := specFor(t, stragglers+`kill -9 $PPID; sleep 1000`)
			spec.Environ = environ
			r := finished(t, spec)
			if r.Status != GateError || !strings.Contains(r.Err, "signal: killed") {
				t.Errorf("%+v", r)
			}
			kit.Eventually(t, "the stragglers are gone", func() bool { return len(survivors(t, spec.Dir)) == 0 })
		})
	}
}

func TestACheckThatSuspendsItsParentCanBeStopped(t *testing.T) {
	spec := specFor(t, `echo ready > gate; kill -STOP $PPID; sleep 1000`)
	wait := gate(t, filepath.Join(spec.Dir, "gate"))
	j := start(t, spec)
	wait()
	stopInTime(t, j, spec)
}

func TestStopEndsEverythingWithinASecond(t *testing.T) {
	linuxOnly(t)
	spec := specFor(t, stragglers+`echo ready > gate; sleep 1000`, "true")
	wait := gate(t, filepath.Join(spec.Dir, "gate"))
	j := start(t, spec)
	wait()
	stopInTime(t, j, spec)
	if alive := survivors(t, spec.Dir); len(alive) > 0 {
		t.Errorf("still alive: %v", alive)
	}
	if r := j.Result(); len(r.Commands) != 1 {
		t.Errorf("the next command ran: %+v", r)
	}
	j.Stop()
}

func stopInTime(t *testing.T, j *Job, spec Spec) {
	t.Helper()
	if !Running(spec.Lock) {
		t.Error("a started job does not hold its lock")
	}
	begin := time.Now()
	j.Stop()
	took := time.Since(begin)
	// Stop returns early only because all is over; on a busy machine its second may pass before.
	if took > time.Second {
		kit.Eventually(t, "the job is done", func() bool { return j.ends(0) })
	}
	if took > 2*time.Second || !j.ends(0) {
		t.Errorf("Stop took %v, done: %v", took, j.ends(0))
	}
	if r := j.Result(); r.Status != GateError || !strings.Contains(r.Err, "stopped") {
		t.Errorf("%+v", r)
	}
	if Running(spec.Lock) {
		t.Error("the lock is still held")
	}
}

func TestAKilledServerLeavesNothingBehind(t *testing.T) {
	linuxOnly(t)
	spec := specFor(t, stragglers+`echo ready > gate; sleep 1000`)
	wait := gate(t, filepath.Join(spec.Dir, "gate"))
	order := filepath.Join(spec.Dir, "spec.json")
	data, err := json.Marshal(spec)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(order, data, 0o600); err != nil {
		t.Fatal(err)
	}
	server := exec.Command(spec.Env["SELF"], "serve", order)
	server.Stderr = os.Stderr
	stdout, err := server.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(stdout).ReadString('\n'); line != "started\n" {
		t.Fatalf("server: %q, %v", line, err)
	}
	wait()
	if !Running(spec.Lock) {
		t.Error("the lock is not held")
	}
	if err := server.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = server.Wait()
	kit.Eventually(t, "the lock is free", func() bool { return !Running(spec.Lock) })
	if alive := survivors(t, spec.Dir); len(alive) > 0 {
		t.Errorf("the lock is free and still alive are %v", alive)
	}
}

func TestAJobWaitsForItsPredecessorToLetGo(t *testing.T) {
	first := specFor(t, "echo ready > gate; sleep 1000")
	wait := gate(t, filepath.Join(first.Dir, "gate"))
	old := start(t, first)
	wait()
	second := first
	second.Commands = []string{"true"}
	second.Log += ".2"
	go old.Stop()
	if r := finished(t, second); r.Status != Passed {
		t.Errorf("%+v", r)
	}
}

func TestTwoWhoAskDoNotTakeEachOtherForAHelper(t *testing.T) {
	asking := flock.New(specFor(t).Lock)
	if ok, err := asking.TryRLock(); !ok || err != nil {
		t.Fatal(ok, err)
	}
	defer asking.Close()
	if Running(asking.Path()) {
		t.Error("running")
	}
}

func TestOnlyAHelperHoldsTheLock(t *testing.T) {
	spec := specFor(t, "echo ready > gate; cat go")
	if Running(spec.Lock) {
		t.Error("running without a lock file")
	}
	if _, err := os.Stat(spec.Lock); err == nil {
		t.Error("Running created the lock file")
	}
	wait := gate(t, filepath.Join(spec.Dir, "gate"))
	if err := unix.Mkfifo(filepath.Join(spec.Dir, "go"), 0o600); err != nil {
		t.Fatal(err)
	}
	j := start(t, spec)
	for range 2 { // asking does not take the lock away
		if !Running(spec.Lock) {
			t.Error("Start returned before the lock was held")
		}
	}
	wait()
	if err := os.WriteFile(filepath.Join(spec.Dir, "go"), nil, 0); err != nil {
		t.Fatal(err)
	}
	if r := j.Result(); r.Status != Passed || Running(spec.Lock) {
		t.Errorf("%+v, running %v", r, Running(spec.Lock))
	}
}
