package pipeline

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ferrus-go/ferrus/internal/cli"
	"github.com/ferrus-go/ferrus/internal/config/workflow"
	"github.com/ferrus-go/ferrus/internal/pipeline"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
)

func pipelinePromptCommand(a *cli.App) *cobra.Command {
	var wait bool
	cmd := &cobra.Command{
		Use:   "prompt [NAME|RUN] ROLE [--bash-wait]",
		Short: "Show the instructions of a worker",
		Long: `Prints the instructions of a worker. For a run they are those that it got or
will get. For a pipeline they have placeholders for the folder and the topic.
With --bash-wait a shell loop that waits for the inputs comes first. It is for
agents that ferrus does not start.`,
		Example: `  ferrus pipeline prompt research researcher-a
  ferrus pipeline prompt research-180141 writer --bash-wait`,
		Annotations: cli.Reference("", "role prompt bash_wait."),
		Args:        cobra.RangeArgs(1, 2),
		RunE:        func(cmd *cobra.Command, args []string) error { return showPrompt(a, cmd.Context(), args, wait) },
	}
	cmd.Flags().BoolVar(&wait, "bash-wait", false, "print a loop that waits for the inputs first")
	return cmd
}

// bashWait tells an agent that waits by itself how to do it.
const bashWait = "First run this in a shell. Continue when it prints INPUT_READY. If it prints TIMEOUT, stop and report it.\n\n"

func showPrompt(a *cli.App, ctx context.Context, args []string, wait bool) error {
	role := args[len(args)-1]
	b, err := briefingOf(a, ctx, strings.Join(args[:len(args)-1], ""), role)
	if err != nil {
		return err
	}
	loop := ""
	if wait {
		var paths []string
		for _, file := range b.workflow.Waits(role) {
			paths = append(paths, b.path(file))
		}
		loop = pipeline.BashWait(paths)
	}
	switch {
	case a.JSON:
		return a.PrintJSON(map[string]string{"of": b.of, "role": role, "prompt": b.prompt, "bash_wait": loop})
	case wait:
		a.Say("%s%s\n%s", bashWait, loop, b.prompt)
	default:
		a.Say("%s", b.prompt)
	}
	return nil
}

// A briefing is the instructions of a worker with their parts.
type briefing struct {
	of       string // the run, or the pipeline
	workflow workflow.Workflow
	topic    string
	path     func(file string) string
	prompt   string
}

// briefingOf returns the instructions of a worker of a run or of a pipeline.
func briefingOf(a *cli.App, ctx context.Context, of, role string) (briefing, error) {
	at, _, err := Runs(a, ctx)
	if err != nil {
		return briefing{}, err
	}
	var b briefing
	f, err := openRun(a, at, of)
	switch {
	case err == nil:
		s, err := f.Status()
		if err != nil {
			return b, err
		}
		b = briefing{of: f.Name(), workflow: f.Workflow, topic: s.Topic, path: func(file string) string { return f.Path(file) }}
		if b.prompt, err = f.Prompt(role); err != nil {
			return b, err
		}
	case of == "":
		return b, err
	default:
		w, _, err := findWorkflow(a, ctx, of)
		if err != nil {
			return b, err
		}
		b = briefing{of: of, workflow: w, topic: "TOPIC", path: func(file string) string { return filepath.Join(at.Tmp, of+"-HHMMSS", file) }}
	}
	_, phase := b.workflow.Worker(role)
	switch {
	case phase < 0:
		return b, cli.Refuse(refusal.InvalidInput, b.of+" has no worker "+role, refusal.Say("it has %s", strings.Join(roles(b.workflow), ", ")))
	case b.prompt != "":
	case b.workflow.Phases[phase].How() == workflow.Talking:
		b.prompt = pipeline.TurnPrompt(role, b.path(pipeline.DialogueFile))
	default:
		b.prompt = pipeline.Prompt(b.workflow, role, b.topic, b.path)
	}
	return b, nil
}
