// Package process runs an agent's process in a slot. A slot has at most one agent.
//
// The agent runs under a shim: this program again, started as the leader of a process group. The
// shim takes the lock of the slot, starts the agent, writes its output to a log, and waits for it.
// Then it ends all processes that the agent left behind and records the result. If the shim dies,
// the agent dies too, and the reverse; the death of the process that started them changes nothing.
//
// Only the lock says whether an agent is alive; records are never trusted for that.
// internal/conductor and internal/pipeline decide whom to start and when.
package process

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/ferrus-go/ferrus/internal/platform/filelock"
	"github.com/ferrus-go/ferrus/internal/platform/proc"
	"github.com/ferrus-go/ferrus/internal/platform/rootfs"
)

// A Slot is the place of one agent process, named by its lock file.
type Slot string

// Path returns the slot of a duty in a machine's folder.
func Path(dir, branch, duty string) Slot {
	if branch == "" {
		branch = "main"
	}
	return Slot(filepath.Join(dir, "live", "agent-"+branch+"-"+duty+".lock"))
}

// machine returns the folder of the machine that the slot belongs to.
func (s Slot) machine() string { return filepath.Dir(filepath.Dir(string(s))) }

// An Occupant is the process in a slot, as recorded by its shim.
type Occupant struct {
	Shim    int       `json:"shim"` // process id, and the id of the group
	Run     string    `json:"run"`
	Mark    string    `json:"mark"` // in the environment of everything below the shim
	Started time.Time `json:"started"`
}

// Taken reports whether an agent is in the slot. The occupant is zero while the shim is still
// starting.
func (s Slot) Taken() (Occupant, bool) {
	path, err := checked(string(s))
	if err != nil { // a link or a FIFO, which is never locked
		return Occupant{}, false
	}
	if held, _ := filelock.Held(path); held {
		return s.occupant(), true
	}
	return Occupant{}, false
}

// maxOccupant bounds the record in a lock file, in bytes.
const maxOccupant = 4 << 10

// occupant returns the record in the lock file: the present agent if there is one, otherwise the
// previous one. An invalid record is ignored.
func (s Slot) occupant() Occupant {
	var o Occupant
	text, err := readFile(string(s), maxOccupant)
	if err != nil || json.Unmarshal(text, &o) != nil || o.check() != nil {
		return Occupant{}
	}
	return o
}

// Freed returns a channel that is closed when the slot is free, within a millisecond after the end
// of its shim. Waiting blocks a thread until then.
func (s Slot) Freed() <-chan struct{} {
	free := make(chan struct{})
	go func() {
		if path, err := checked(string(s)); err == nil {
			_ = filelock.Wait(path) // without a lock the slot is free
		}
		close(free)
	}()
	return free
}

// Times for the end of an agent.
const (
	politely = 3 * time.Second        // for an agent to end when it is asked to
	sweeping = 2 * time.Second        // for the shim to end processes that the agent leaves behind
	leaving  = 200 * time.Millisecond // of it, for those processes to end by themselves, as MCP servers do
	arriving = 2 * time.Second        // for a new shim to record itself
	patience = 10 * time.Millisecond
)

// End ends the agent in the slot, whose work failed, with all its processes, and returns when the
// slot is free. It asks first, and kills after a few seconds. A free slot is no error; End also
// ends what a killed shim left behind.
func (s Slot) End(ctx context.Context) error { return s.end(ctx, cut) }

// Stop is End for an agent that did not fail: a person stops it, or its task has ended.
func (s Slot) Stop(ctx context.Context) error { return s.end(ctx, stopped) }

func (s Slot) end(ctx context.Context, why os.Signal) error {
	o, taken := s.Taken()
	for until := time.Now().Add(arriving); taken && o.Shim <= 1 && time.Now().Before(until) && ctx.Err() == nil; o, taken = s.Taken() {
		time.Sleep(patience)
	}
	if !taken {
		s.clear()
		return nil
	}
	if o.Shim <= 1 {
		return fmt.Errorf("%s is locked by an unknown process: find out which process has it open", s)
	}
	ask(o.Shim, why)
	if s.freeWithin(ctx, politely+sweeping) {
		return nil
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	kill(o)
	if s.freeWithin(ctx, sweeping) {
		return nil
	}
	return fmt.Errorf("the agent of %s cannot be killed: end process group %d by hand", s, o.Shim)
}

// Stop ends an agent whose slot no longer exists, like Slot.Stop. The occupant must have been read
// from its slot a moment ago: its process id is all that is known.
func (o Occupant) Stop() {
	if o.Shim <= 1 || !proc.Alive(o.Shim) {
		return
	}
	ask(o.Shim, stopped)
	for until := time.Now().Add(politely + sweeping); proc.Alive(o.Shim); time.Sleep(patience) {
		if time.Now().After(until) {
			kill(o)
			return
		}
	}
}

func (s Slot) freeWithin(ctx context.Context, d time.Duration) bool {
	for until := time.Now().Add(d); time.Now().Before(until) && ctx.Err() == nil; time.Sleep(patience) {
		if _, taken := s.Taken(); !taken {
			return true
		}
	}
	return false
}

// clear ends the processes that a killed shim may have left behind, once.
func (s Slot) clear() {
	o := s.occupant()
	if o.Mark == "" {
		return
	}
	lock, err := s.take()
	if err != nil {
		return // somebody has come in
	}
	defer lock.Close()
	if o = s.occupant(); o.Mark != "" {
		// By the mark alone: the number of a shim that is gone may be another process's by now. A process that finds the
		// slot taken meanwhile must not read it either.
		_ = s.write(Occupant{Mark: o.Mark})
		proc.KillMarked(0, markName+"="+o.Mark)
		_ = s.write(Occupant{})
	}
}

// write replaces the content of the lock file. The file itself is never replaced: a second process
// could lock the old inode while a third locks the new one.
func (s Slot) write(o Occupant) error {
	text, err := json.Marshal(o)
	if err != nil {
		return err
	}
	r, name, err := rootfs.For(string(s))
	if err != nil {
		return err
	}
	defer r.Close()
	f, err := r.OpenFile(name, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err = f.WriteAt(append(text, '\n'), 0); err != nil {
		return err
	}
	return f.Truncate(int64(len(text) + 1))
}

// ErrTaken means that there is an agent in the slot.
var ErrTaken = errors.New("there is an agent in the slot")

// take takes the slot's lock, or returns ErrTaken.
func (s Slot) take() (*filelock.Lock, error) {
	path, err := checked(string(s))
	if err != nil {
		return nil, err
	}
	lock, err := filelock.Take(path)
	switch {
	case errors.Is(err, filelock.ErrHeld):
		return nil, ErrTaken
	case err != nil:
		return nil, err
	}
	return lock, nil
}
