// Command scripted is a complete agent for ferrus without a model: it runs a
// command for each thing that ferrus asks for. It shows what any agent must do.
//
// In ferrus.toml:
//
//	[hq.executor]
//	agent = "command"
//	command = "scripted sh work.sh"
//
// The command runs in the folder of the work. What it reads and what its result
// means depends on the duty:
//
//	duty        stdin                             exit code 0             another exit code
//	executor    the task, the review, the checks  the work is submitted   you are asked
//	reviewer    the patch                         approved                rejected, with its output
//	consultant  the question                      its output is sent      scripted fails
//	worker      the whole prompt                  its output is written   scripted fails
package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// duties are the things that ferrus starts an agent for (FERRUS_DUTY).
var duties = map[string]func(context.Context, *server, []string) error{
	"executor":   execute,
	"reviewer":   review,
	"consultant": consult,
	"worker":     work,
}

func main() {
	if err := run(context.Background(), os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "scripted:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, command []string) error {
	if len(command) == 0 {
		return fmt.Errorf("usage: scripted COMMAND [ARG...]")
	}
	duty, ok := duties[os.Getenv("FERRUS_DUTY")]
	if !ok {
		return fmt.Errorf("no such duty: %q; ferrus sets FERRUS_DUTY", os.Getenv("FERRUS_DUTY"))
	}
	s, err := connect(ctx)
	if err != nil {
		return err
	}
	defer s.close()
	return duty(ctx, s, command)
}

// execute claims the task, has the command do it, and submits the work.
func execute(ctx context.Context, s *server, command []string) error {
	task, err := s.call(ctx, "wait_for_task", nil)
	if err != nil || task.Status != "claimed" {
		return err
	}
	input := strings.Join([]string{task.Task, task.Review, task.failures()}, "\n\n")
	said, err := output(ctx, command, input)
	if err != nil {
		_, err = s.call(ctx, "ask_human", map[string]any{
			"question": fmt.Sprintf("%q failed: %v\n\n%s\n\nWhat shall I do?", command, err, said),
		})
		return err
	}
	done, err := s.call(ctx, "submit", map[string]any{
		"summary":      cmp.Or(strings.TrimSpace(said), "The command has done the task."),
		"verification": "The checks of the project.",
	})
	if err == nil && done.Status != "submitted" {
		return fmt.Errorf("not submitted (%s): %s", done.Status, done.Message)
	}
	return err
}

// review shows the patch of the submission to the command; without git there is
// none, and the command reads what the executor wrote about its work.
func review(ctx context.Context, s *server, command []string) error {
	submission, err := s.call(ctx, "review_pending", nil)
	if err != nil {
		return err
	}
	work := submission.Submission
	if submission.Patch != "" {
		patch, err := os.ReadFile(submission.Patch)
		if err != nil {
			return err
		}
		work = string(patch)
	}
	said, err := output(ctx, command, work)
	if err != nil {
		_, err = s.call(ctx, "reject", map[string]any{"notes": cmp.Or(strings.TrimSpace(said), err.Error())})
		return err
	}
	_, err = s.call(ctx, "approve", nil)
	return err
}

// consult answers the question of an executor.
func consult(ctx context.Context, s *server, command []string) error {
	asked, err := s.call(ctx, "wait_for_review", nil)
	if err != nil || asked.Status != "consultation" {
		return err
	}
	said, err := output(ctx, command, asked.Consultation)
	if err != nil {
		return err
	}
	_, err = s.call(ctx, "respond_consult", map[string]any{"response": said})
	return err
}

// work writes the output of a worker of a pipeline.
func work(ctx context.Context, s *server, command []string) error {
	said, err := output(ctx, command, os.Getenv("FERRUS_PROMPT"))
	if err != nil {
		return err
	}
	_, err = s.call(ctx, "write_output", map[string]any{"content": said})
	return err
}

// output runs the command in the folder of the work, with text on stdin.
func output(ctx context.Context, command []string, text string) (string, error) {
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Dir = os.Getenv("FERRUS_WORK")
	cmd.Stdin = strings.NewReader(text)
	said, err := cmd.CombinedOutput()
	fmt.Printf("%s\n", said) // ferrus logs shows it
	return string(said), err
}
