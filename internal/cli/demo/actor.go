package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/ferrus-go/ferrus/internal/server/mcpclient"
	"github.com/ferrus-go/ferrus/internal/tools"
)

// actorCommand is the agent of the night: ferrus starts it with the command line of its server.
func actorCommand() *cobra.Command {
	return &cobra.Command{
		Use:                "agent SERVER...",
		Short:              "Play an agent of the night",
		Long:               "Plays an agent of \"ferrus demo --night\". ferrus starts it.",
		Example:            "  ferrus demo agent ferrus serve --role executor",
		Hidden:             true,
		DisableFlagParsing: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return errors.New("name the command line of a server")
			}
			return act(cmd.Context(), cmd.OutOrStdout(), args)
		},
	}
}

// An actor is an agent that follows a play instead of a model.
type actor struct {
	*mcpclient.Client
	ctx context.Context
	out io.Writer
}

// act plays what FERRUS_DUTY names.
func act(ctx context.Context, out io.Writer, server []string) error {
	duties := map[string]func(*actor) error{"executor": (*actor).execute, "reviewer": (*actor).review, "consultant": (*actor).consult}
	duty, ok := duties[os.Getenv("FERRUS_DUTY")]
	if !ok {
		return fmt.Errorf("there is no play for the duty %q", os.Getenv("FERRUS_DUTY"))
	}
	cmd := exec.Command(server[0], server[1:]...)
	cmd.Stderr = os.Stderr
	client, err := mcpclient.Start(ctx, "scripted", cmd)
	if err != nil {
		return err
	}
	a := &actor{client, ctx, out}
	return errors.Join(duty(a), client.Close())
}

func (a *actor) say(format string, args ...any) { fmt.Fprintf(a.out, format+"\n", args...) }

// tool calls a tool until it has ended. A refusal is an error.
func (a *actor) tool(name string, args map[string]any) (tools.Result, error) {
	for {
		r, err := a.Call(a.ctx, name, args)
		if err == nil && r.Status == "running" {
			continue
		}
		if err == nil && r.Code != "" {
			err = fmt.Errorf("%s: %s: %s", name, r.Code, r.Message)
		}
		return r, err
	}
}

// execute claims the task and does it as its play says.
func (a *actor) execute() error {
	r, err := a.tool("wait_for_task", nil)
	if err != nil || r.Status != "claimed" {
		return err
	}
	p := playOf(r.Title)
	a.say("I read the task: %s", r.Title)
	if p.question != "" && len(r.Decisions) == 0 {
		a.say("I need a decision before I write anything.")
		_, err := a.tool("ask_human", map[string]any{"question": p.question, "options": p.options})
		return err
	}
	drafts := p.drafts
	if r.Review != "" {
		a.say("The review says: %s", r.Review)
	}
	if r.Review != "" || len(r.Decisions) > 0 && p.question == "" { // a hint of the person helps, too
		drafts = p.revised
	}
	for i, d := range drafts {
		if err := a.edit(r.Worktree, d); err != nil {
			return err
		}
		if i == 0 {
			if _, err := a.tool("progress", map[string]any{"note": p.note()}); err != nil {
				return err
			}
			if len(r.Progress) == 0 { // one that goes on does not begin anew
				a.labour(p.steps)
			}
		}
		r, err := a.tool("check", nil)
		if err != nil {
			return err
		}
		if r.Status == "passed" {
			a.say("The checks pass.")
			_, err := a.tool("submit", map[string]any{"summary": p.summary(), "verification": "sh check.sh passes"})
			return err
		}
		if len(r.Failures) > 0 {
			a.say("The checks fail: %s", r.Failures[0].Tail)
		}
		if r.State == "Failed" || r.State == "AwaitingHuman" {
			return nil
		}
	}
	return nil
}

// labour takes a second for each step, and says so.
func (a *actor) labour(steps int) {
	for i := range steps {
		a.say("I am at step %d of %d.", i+1, steps)
		select {
		case <-a.ctx.Done():
			return
		case <-time.After(time.Second):
		}
	}
}

// edit writes the files of a draft.
func (a *actor) edit(dir string, d draft) error {
	for name, text := range d {
		a.say("I write %s.", name)
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// review rejects the first submission where the play says so, and approves every other one.
func (a *actor) review() error {
	r, err := a.tool("wait_for_review", nil)
	if err != nil || r.SubmissionID == "" {
		return err
	}
	a.say("I read submission %s of %q.", r.SubmissionID, r.Title)
	if p := playOf(r.Title); p.objection != "" && r.Review == "" {
		a.say("I reject it.")
		_, err = a.tool("reject", map[string]any{"notes": p.objection})
		return err
	}
	a.say("I approve it.")
	_, err = a.tool("approve", map[string]any{"note": "It does what the task says."})
	return err
}

// consult answers what an executor asks.
func (a *actor) consult() error {
	r, err := a.tool("wait_for_review", nil)
	if err != nil || r.ConsultationID == "" {
		return err
	}
	_, err = a.tool("respond_consult", map[string]any{"response": "Take the simplest way that the checks accept."})
	return err
}

// settle is how long the night waits between two looks.
const settle = 20 * time.Millisecond
