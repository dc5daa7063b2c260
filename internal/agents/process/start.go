package process

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"

	"github.com/ferrus-go/ferrus/internal/agents"
	"github.com/ferrus-go/ferrus/internal/agents/confine"
	"github.com/ferrus-go/ferrus/internal/platform/proc"
)

// An Order is what a shim is started with.
type Order struct {
	Slot   Slot
	Runs   string // path of the list that records the run
	Logs   string // folder of the run's log
	Tag    string // an addition to the log's name, such as the task
	Run    Run    // Duty, Agent, Model and At; the shim fills in the rest
	Number int    // the least number that the run's name may have: ErrTaken when the list has it, or a later one. 0: the next one
	Hold   string // argument of the program's Holder; "" starts the agent at once
	Launch agents.Launch
	Inside *confine.Order // the sandbox of the agent; nil for none
	Output *Output        // of a command; nil for an agent, which writes its output itself

	// Session is what other computers know the shim by: it holds the lock of that session of package live as long as the agent may live.
	// "" for none.
	Session string
	Fence   Fence
}

// sealed is an order on its way to the shim. It is sent over a pipe, because arguments are open to
// every process of the machine and the environment of an agent contains keys.
type sealed struct {
	Order
	Mark string
}

// message is the answer of the shim: the run, or why there is none.
type message struct {
	Run   *Run   `json:",omitempty"`
	Taken bool   `json:",omitempty"`
	Error string `json:",omitempty"`
}

// Start starts the agent of an order. It returns as soon as the agent runs or, with Hold, as soon
// as its shim runs. The error is ErrTaken when there is an agent in the slot, or
// was since the order was given: a process that was killed may have started one. Any other error says
// why the agent could not be started, which is recorded, too. The agent outlives the process that
// starts it.
func Start(o Order) (Run, error) {
	if !shimCalled {
		return Run{}, errors.New("start an agent: this program does not call process.Shim first in main")
	}
	o.Slot.clear()
	self, err := proc.Executable()
	if err != nil {
		return Run{}, fmt.Errorf("start the shim: %v", err)
	}
	cmd := exec.Command(self, shimArg, string(o.Run.Duty), string(o.Slot))
	cmd.Dir = "/" // the shim must not keep a work tree busy
	cmd.Env = os.Environ()
	cmd.SysProcAttr = proc.Leader()
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return Run{}, fmt.Errorf("start the shim: %v", err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return Run{}, fmt.Errorf("start the shim: %v", err)
	}
	if err := cmd.Start(); err != nil {
		return Run{}, fmt.Errorf("start the shim: %v", err)
	}
	// An error means that the shim is already dead; its answer says more.
	_ = json.NewEncoder(stdin).Encode(sealed{o, rand.Text()})
	_ = stdin.Close()
	var m message
	err = json.NewDecoder(stdout).Decode(&m)
	go func() {
		_, _ = io.Copy(io.Discard, stdout)
		_ = cmd.Wait() // avoids a zombie; the record says how it ended
	}()
	switch {
	case err != nil:
		return Run{}, fmt.Errorf("the shim ended without an answer: %v", err)
	case m.Taken:
		return Run{}, ErrTaken
	case m.Error != "":
		return Run{}, errors.New(m.Error)
	}
	return *m.Run, nil
}
