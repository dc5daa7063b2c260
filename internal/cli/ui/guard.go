package ui

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"time"

	"github.com/charmbracelet/x/term"

	"github.com/ferrus-go/ferrus/internal/cli"
	"github.com/ferrus-go/ferrus/internal/platform/proc"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
)

// screenFlag marks the process that draws.
const screenFlag = "screen"

// reset ends all that a screen may have switched on: drawing held back, pasting in brackets, reports of keys and of the mouse, the form and
// the absence of the cursor, colours, and the second screen.
const reset = "\x1b[?2026l\x1b[?2027l\x1b[?2004l\x1b[>4m\x1b[<1u\x1b[?1002l\x1b[?1003l\x1b[?1006l\x1b[0 q\x1b[0m\x1b[?25h\x1b[?1049l"

// guard shows the screen in a process of its own, and puts the terminal right when that has ended: also when it was killed,
// which no process can do for itself. The screen ends when the guard is killed.
func guard(a *cli.App, ctx context.Context, all bool) error {
	if !a.InTTY || !a.OutTTY {
		return check(a)
	}
	in, out := a.Terminal()
	before, err := term.GetState(in.Fd())
	if err != nil {
		return err
	}
	exe, err := proc.Executable()
	if err != nil {
		return err
	}
	args := []string{"ui", "--" + screenFlag}
	if all {
		args = append(args, "--all")
	}
	for flag, value := range map[string]string{"--root": a.Dir, "--branch": a.Branch} {
		if value != "" {
			args = append(args, flag, value)
		}
	}
	alive, held, err := os.Pipe()
	if err != nil {
		return err
	}
	defer held.Close()
	cmd := exec.Command(exe, args...)
	cmd.Args[0] = os.Args[0]
	cmd.Stdin, cmd.Stdout, cmd.Stderr = in, out, os.Stderr
	inherit(cmd, alive)
	if err := cmd.Start(); err != nil {
		return err
	}
	alive.Close()
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case err = <-ended:
	case <-ctx.Done():
		held.Close()
		select {
		case err = <-ended:
		case <-time.After(10 * time.Second):
			_ = cmd.Process.Kill()
			err = <-ended
		}
	}
	killed := cmd.ProcessState != nil && cmd.ProcessState.ExitCode() < 0
	if killed {
		_, _ = io.WriteString(out, reset)
	}
	_ = term.Restore(in.Fd(), before)
	forget(in)
	var exit *exec.ExitError
	switch {
	case killed:
		return cli.Refuse(refusal.StoreError, "the screen was killed; runs that it started go on", "ferrus ui opens it again, and ferrus status{branch} shows the task")
	case errors.As(err, &exit):
		return cli.ExitWith(exit.ExitCode())
	}
	return err
}
