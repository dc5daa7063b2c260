//go:build unix

package e2e

import (
	"context"
	"fmt"
	"io"
	"os/exec"
	"strconv"
	"testing"

	"github.com/ferrus-go/ferrus/internal/server/mcpclient"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/test/kit"
	"github.com/ferrus-go/ferrus/test/sharedtest"
)

// A zone is how many seconds the monotonic clocks of a process are ahead of ours: it runs in a time namespace.
type zone int

// wrap starts a program in the zone.
func (z zone) wrap(cmd *exec.Cmd) *exec.Cmd {
	if z == 0 {
		return cmd
	}
	by := strconv.Itoa(int(z))
	there := exec.Command("unshare", append([]string{"-T", "--monotonic", by, "--boottime", by, "--"}, cmd.Args...)...)
	there.Env = cmd.Env
	return there
}

// zones are one that is ahead and one that is behind, by an hour or, on a machine that has not run for so long, by half
// its time.
func zones(t testing.TB) map[string]zone {
	t.Helper()
	out, err := zone(3600).wrap(exec.Command("cat", "/proc/uptime")).CombinedOutput()
	var there float64
	if err == nil {
		_, err = fmt.Sscan(string(out), &there)
	}
	if err != nil {
		t.Skipf("no process can be given another clock here, which takes Linux, root and unshare(1): %v %s", err, out)
	}
	behind := min(3600, (int(there)-3600)/2)
	if behind < 30 {
		t.Skipf("the machine runs for %d s only: nothing can be far behind", 2*behind)
	}
	return map[string]zone{"ahead": 3600, "behind": zone(-behind)}
}

// startIn starts an executor in a zone: that of another process where there is one to join.
func (w *world) startIn(z zone, name string, join *client) *client {
	w.t.Helper()
	cmd := program(w.t, "serve", "--role", "executor", "--agent-name", name, "--root", w.dir, "--wait", "4")
	if join == nil {
		cmd = z.wrap(cmd)
	} else {
		env := cmd.Env
		cmd = exec.Command("nsenter", append([]string{"-T", "-t", strconv.Itoa(join.Process().Pid), "--"}, cmd.Args...)...)
		cmd.Env = env
	}
	cmd.Stderr = io.Discard
	c, err := mcpclient.Start(context.Background(), name, cmd)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(c.Kill)
	return &client{c, w.t}
}

// A meeting is of a holder and a claimant, each by its own clock or both by one.
type meeting struct {
	name             string
	holder, claimant zone
	together         bool   // both by the holder's clock
	how              string // the holder lives, hangs or dies
}

func meetings(t testing.TB) (list []meeting) {
	for name, z := range zones(t) {
		for _, how := range []string{"lives", "hangs", "dies"} {
			list = append(list, meeting{"the holder is " + name, z, 0, false, how})
			if !kit.Quick() {
				list = append(list, meeting{"both are " + name, z, z, true, how})
			}
			if kit.Full() {
				list = append(list, meeting{"the claimant is " + name, 0, z, false, how})
			}
		}
	}
	return list
}

// TestAHolderByAnotherClock: a deadline that was written by another clock says nothing here. Its holder keeps the work
// as long as its process lives, however it hangs, and a person can release it.
func TestAHolderByAnotherClock(t *testing.T) {
	sharedtest.InFiles(t, "in a database all go by its clock")
	t.Parallel()
	bad := 0
	list := meetings(t)
	var ends []func() bool
	for _, m := range list { // they all wait at the same time
		ends = append(ends, m.begin(t))
	}
	for i, end := range ends {
		if !end() {
			bad++
			t.Errorf("%s, and the holder %s", list[i].name, list[i].how)
		}
	}
	t.Logf("rig: cases=%d bad=%d; by clocks that differ by as much as an hour", len(list), bad)
}

// begin has the holder in its situation and the claimant waiting, for longer than a lease runs. The end reports whether
// the claimant got what was due to it.
func (m meeting) begin(t *testing.T) (end func() bool) {
	w := newWorld(t, "[checks]\ncommands = []\n"+short)
	a := w.startIn(m.holder, "codex", nil)
	first := w.claimed(a)
	join := a
	if !m.together {
		join = nil
	}
	b := w.startIn(m.claimant, "qwen", join)
	status, why := "timeout", ""
	switch m.how {
	case "hangs":
		resume := a.stop()
		t.Cleanup(resume)
		if m.together {
			status, why = "claimed", "its lease ran out"
		}
	case "dies":
		a.Kill()
		status, why = "claimed", "its process has ended"
	}
	waited := b.later("wait_for_task", nil)
	return func() bool {
		res := <-waited
		if note := w.told(state.Claim); res.Status != status || note != why {
			t.Logf("%s because %q, not %s because %q", res.Status, note, status, why)
			return false
		}
		switch {
		case status == "claimed":
			return res.Epoch == first.Epoch+1
		case m.how == "lives":
			return a.call("progress", args{"note": "Still here."}).Code == ""
		}
		if _, err := w.human().Release(t.Context(), "it hangs"); err != nil {
			t.Fatal(err)
		}
		res = b.call("wait_for_task", nil)
		return res.Status == "claimed" && res.Epoch > first.Epoch
	}
}

// told is the note of the newest event of a kind.
func (w *world) told(ev state.Event) (note string) {
	for _, l := range w.history() {
		if l.Event == ev {
			note = l.Note
		}
	}
	return note
}
