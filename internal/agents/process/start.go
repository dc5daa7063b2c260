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
	"github.com/ferrus-go/ferrus/internal/platform/proc"
)

// An Order is what a shim is started with.
type Order struct {
	Slot   Slot
	Runs   string // path of the list in which the run is written down
	Logs   string // folder of the run's log
	Tag    string // what else the log's name says, such as the task
	Run    Run    // Duty, Agent, Model and At; the shim fills in the rest
	Number int    // the least number that the run's name may have; 0 and 1 are the same
	Hold   string // what the program's Holder is told; "" lets the agent start at once
	Launch agents.Launch
}

// sealed is an order on its way to the shim. It travels by a pipe, because arguments are open to every process of the
// machine and the environment of an agent holds keys.
type sealed struct {
	Order
	Mark string
}

// message is what the shim answers: the run, or why there is none.
type message struct {
	Run   *Run   `json:",omitempty"`
	Taken bool   `json:",omitempty"`
	Error string `json:",omitempty"`
}

// Start starts the agent of an order and returns as soon as it runs, or as soon as its shim does when it is held. The error is ErrTaken when there is an agent in the
// slot; any other says why the agent could not be started, and that is written down too. The agent outlives its
// starter.
func Start(o Order) (Run, error) {
	if !shimCalled {
		return Run{}, errors.New("start an agent: this program does not call slot.Shim first in main")
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
	// An error here is a shim that has died already; its answer says more.
	_ = json.NewEncoder(stdin).Encode(sealed{o, rand.Text()})
	_ = stdin.Close()
	var m message
	err = json.NewDecoder(stdout).Decode(&m)
	go func() {
		_, _ = io.Copy(io.Discard, stdout)
		_ = cmd.Wait() // lest it stays a zombie; how it ended is written down
	}()
	switch {
	case err != nil:
		return Run{}, fmt.Errorf("the shim ended without a word: %v", err)
	case m.Taken:
		return Run{}, ErrTaken
	case m.Error != "":
		return Run{}, errors.New(m.Error)
	}
	return *m.Run, nil
}
