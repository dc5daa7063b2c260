// Package evidence has ferrus evidence: it writes a folder that shows how a task came about, without the agents.
package evidence

import (
	"cmp"
	"context"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ferrus-go/ferrus/internal/cli"
	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/format"
)

// Command is ferrus evidence.
func Command(a *cli.App) *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use:   "evidence [TASK] [-o DIR]",
		Short: "Gather what a task has come to into a folder, to attach to a pull request",
		Long: `Writes a folder that says how the work of a task came about: evidence.md (what it has come to, who did what and when, the
checks, reviews, questions and consultations, and what it has cost), the documents, work.patch (from the tree that the task
began with to the one that was submitted, or to the work tree while it is at work), the logs of its checks, and its lines of
the journal. SHA256SUMS lists them. TASK is an id, also of an archived task; left out it is the present one.

The folder is .ferrus/evidence/TASK, or DIR. One that ferrus evidence has made of the same task is made anew, any other
must be empty. The same files of the project give the same bytes: no clock is read, and times are UTC. The project's folder
reads ".", the pinned gate is left out of the journal's lines, and so they do not match their hashes; what a check printed
is in its log as it is otherwise.

With --json: task_id state dir files[{name bytes sha256}].`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return runEvidence(a, cmd.Context(), strings.Join(args, ""), dir)
		},
	}
	cmd.Flags().StringVarP(&dir, "output", "o", "", "`DIR` to write; default: .ferrus/evidence/TASK")
	return cmd
}

func runEvidence(a *cli.App, ctx context.Context, task, dir string) error {
	e, now, err := a.OpenView(ctx)
	if err != nil {
		return err
	}
	defer e.Close()
	if task = cmp.Or(task, now.Task.TaskID); task == "" {
		return cli.Refuse(engine.WrongState, "there is no task to show evidence of", "ferrus status --all lists those that are archived; name one")
	}
	d, err := dossierOf(ctx, e, task)
	if err != nil {
		return err
	}
	files, err := d.files()
	if err != nil {
		return err
	}
	root := e.Place().Root
	if dir == "" {
		dir = filepath.Join(root, ".ferrus", "evidence", task)
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return err
	}
	list, err := writeEvidence(dir, task, files)
	if err != nil {
		return err
	}
	if a.JSON {
		return a.PrintJSON(map[string]any{"task_id": task, "state": d.last.Task.State, "dir": dir, "files": list})
	}
	shown := dir
	if rel, err := filepath.Rel(root, dir); err == nil && filepath.IsLocal(rel) {
		shown = rel
		if !strings.HasPrefix(filepath.ToSlash(rel)+"/", ".ferrus/") && d.present {
			cli.Fprintf(a.Err, "%s lies in the work tree: unless git ignores it, it counts as a change of the work\n", rel)
		}
	}
	a.Say("%s  %s\n", a.Paint(cli.Bold, shown), format.Count(len(list), "file", "files"))
	for _, f := range list {
		a.Say("  %9d  %s\n", f.Bytes, f.Name)
	}
	return nil
}
