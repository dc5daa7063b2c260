package process

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"

	"github.com/ferrus-go/ferrus/internal/agents/confine"
	"github.com/ferrus-go/ferrus/internal/platform/sandbox"
)

// enter writes the files of the launch and makes the sandbox of the agent, if it is to have one: then the command starts in it.
func (o sealed) enter(cmd *exec.Cmd) (*confine.Inside, error) {
	if o.Inside == nil {
		return nil, o.writeFiles(o.Launch.Files)
	}
	order := *o.Inside
	order.ServerEnv = append(order.ServerEnv, markName+"="+o.Mark)
	inside, err := order.Enter(context.Background())
	if err != nil {
		return nil, fmt.Errorf("make the sandbox of the agent: %w", err)
	}
	if err := o.writeFiles(o.Launch.Files); err != nil {
		_, _ = inside.Leave()
		return nil, err
	}
	args := append([]string{cmd.Path}, cmd.Args[1:]...)
	cmd.Path, cmd.Args = inside.Prefix[0], append(inside.Prefix, args...)
	return inside, nil
}

// leader is the process of the agent itself, which a signal must reach, of the process that was started.
func (o sealed) leader(p *os.Process) *os.Process {
	if o.Inside == nil {
		return p
	}
	if agent, err := os.FindProcess(sandbox.Leader(o.Inside.Mechanism, p.Pid)); err == nil {
		return agent
	}
	return p
}

// A drain copies the output of an agent into its log.
type drain struct {
	to, from *os.File      // nil without a pipe
	done     chan struct{} // closed when all was copied
}

// output sends the output of a command to a log: directly, so that nothing is lost if the shim dies, or by a pipe, so that a command in
// a sandbox cannot change what it has written.
func output(cmd *exec.Cmd, log *os.File, piped bool) (*drain, error) {
	d := &drain{done: make(chan struct{})}
	if !piped {
		close(d.done)
		cmd.Stdout, cmd.Stderr = log, log
		return d, nil
	}
	var err error
	if d.from, d.to, err = os.Pipe(); err != nil {
		close(d.done)
		return d, err
	}
	cmd.Stdout, cmd.Stderr = d.to, d.to
	go func() {
		defer close(d.done)
		_, _ = io.Copy(log, d.from)
		_, _ = io.Copy(io.Discard, d.from) // a full disk is no reason for an agent to end
	}()
	return d, nil
}

// began is to be called when the command was started, or could not be.
func (d *drain) began() {
	if d.to != nil {
		d.to.Close()
	}
}

// wait waits until all was copied that a command has written whose processes have ended.
func (d *drain) wait() {
	select {
	case <-d.done:
	case <-time.After(sweeping):
	}
	if d.from != nil {
		d.from.Close()
	}
}
