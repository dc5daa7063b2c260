package checks

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/ferrus-go/ferrus/internal/platform/proc"
)

const (
	killWait  = 2 * time.Second        // for a killed shell to exit; a dead network disk may delay it
	drainWait = 250 * time.Millisecond // for output still in the pipe when an escaped process keeps it open
)

// run is the helper's work: all commands of o, one after the other, until ctx ends.
func run(ctx context.Context, o order, report func(message)) (result Result) {
	begin := time.Now()
	defer func() { result.Duration = time.Since(begin) }()
	if err := proc.Contain(); err != nil {
		return gateError(fmt.Sprintf("track the processes of the checks: %v: run ferrus where that is allowed", err))
	}
	lock, err := hold(ctx, o.Spec.Lock)
	if ctx.Err() != nil {
		return gateError(stoppedErr)
	}
	if err != nil {
		return gateError(err.Error())
	}
	defer lock.Close()
	report(message{Locked: true})
	log, err := create(o.Spec.Log, o.Spec.MaxLog, len(o.Spec.Commands))
	if err != nil {
		return gateError(logErr(err))
	}

	var wrong []string
	env := commandEnv(o, os.Environ())
	for _, line := range o.Spec.Commands {
		out := log.begin(line)
		c, err := command(ctx, o.Spec, line, env, out)
		out.end(c)
		if !c.Passed() || o.Spec.TailAll {
			c.Tail = lastLines(&out.last, o.Spec.TailLines)
		}
		result.Commands = append(result.Commands, c)
		if ctx.Err() != nil {
			wrong = append(wrong, stoppedErr)
			break
		}
		if err != nil {
			wrong = append(wrong, fmt.Sprintf("check %q: %v", line, err))
		}
	}
	if err := log.close(); err != nil {
		wrong = append(wrong, logErr(err))
	}
	share(result.Commands, maxFeedback)
	result.Err = strings.Join(wrong, "\n")
	switch {
	case len(wrong) > 0:
		result.Status = GateError
	case len(result.Failures()) > 0:
		result.Status = Failed
	default:
		result.Status = Passed
	}
	return result
}

func logErr(err error) string {
	return fmt.Sprintf("the log of the checks could not be written: %v: free disk space or make the folder writable", err)
}

// command runs one command until it exits, reaches its time limit or ctx ends, and ends all its
// processes. The error says why the command proves nothing.
func command(ctx context.Context, spec Spec, line string, env []string, out io.Writer) (Command, error) {
	begin := time.Now()
	c := Command{Line: line, ExitCode: -1}
	r, w, err := os.Pipe()
	if err != nil {
		return c, err
	}
	cmd := shell(line)
	if len(spec.Prefix) > 0 {
		cmd.Path, cmd.Args = spec.Prefix[0], slices.Concat(spec.Prefix, cmd.Args)
	}
	cmd.Dir, cmd.Env = spec.Dir, env
	cmd.Stdout, cmd.Stderr = w, w // a file, so that Wait does not wait for processes that inherit it
	err = cmd.Start()
	w.Close()
	if err != nil {
		r.Close()
		return c, fmt.Errorf("the shell could not start: %v: correct [checks] commands in ferrus.toml", err)
	}
	tree := proc.Of(cmd.Process)
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		defer r.Close()
		_, _ = io.Copy(out, r) // out takes everything; r ends with its last writer
	}()

	var limit <-chan time.Time
	if spec.Timeout > 0 {
		limit = time.After(spec.Timeout)
	}
	exited := make(chan struct{})
	go func() {
		_ = cmd.Wait() // ProcessState has the result
		close(exited)
	}()
	select {
	case <-exited:
	case <-ctx.Done():
	case <-limit:
		c.TimedOut = true
	}
	gone := finish(tree, exited)
	c.Duration = time.Since(begin)
	select {
	case <-drained:
	case <-time.After(drainWait):
	}
	if gone != nil {
		return c, gone
	}
	c.ExitCode, c.Signal = proc.Status(cmd.ProcessState)
	return c, verdict(c)
}

// finish kills the remaining processes of a command and returns when they have ended, or an error
// when they could not be killed in time.
func finish(t proc.Tree, exited <-chan struct{}) error {
	select {
	case <-exited:
		return t.Sweep()
	default:
	}
	t.Kill()
	select {
	case <-exited:
		return t.Sweep()
	case <-time.After(killWait):
		return fmt.Errorf("could not be killed: end process %v by hand, then run check again", t)
	}
}

// verdict returns an error for the exit statuses by which a shell says that it could not run the
// command.
func verdict(c Command) error {
	switch c.ExitCode {
	case notFound:
		return fmt.Errorf("exit status %d, command not found: install it or correct [checks] commands in ferrus.toml", notFound)
	case notExecutable:
		return fmt.Errorf("exit status %d, not executable: chmod +x it or correct [checks] commands in ferrus.toml", notExecutable)
	}
	return nil
}
