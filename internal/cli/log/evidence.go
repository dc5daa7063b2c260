package log

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ferrus-go/ferrus/internal/cli"
	"github.com/ferrus-go/ferrus/internal/platform/format"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/status/evidence"
)

// EvidenceCommand is ferrus evidence.
func EvidenceCommand(a *cli.App) *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use:   "evidence [TASK] [-o DIR]",
		Short: "Write a folder that documents how a task was done",
		Long: `Writes a folder to attach to a pull request: a report, the documents, the patch,
the logs of the checks, and the journal lines of the task. TASK is the id of a
task, also of an archived one; by default it is the present task. SHA256SUMS
lists the files. The same project files always give the same bytes.`,
		Example: `  ferrus evidence
  ferrus evidence -o /tmp/evidence`,
		Annotations: cli.Reference(`evidence.md has the result, the events with times and actors, the checks,
reviews, questions and consultations, and the cost. work.patch is the difference
between the start of the task and its submission. For a task that is not
finished it ends with the work tree.

By default the folder is .ferrus/evidence/TASK. A folder of the same task that
"ferrus evidence" wrote earlier is replaced. Any other folder must be empty.
Times are UTC, and no clock is read. The folder of the project is written as
".". The frozen configuration is left out of the journal lines, so these do not
match their hashes. The output of checks is not changed.`, `task_id state dir files[{name bytes sha256}],
and in_work_tree where the folder counts as a change.`),
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return runEvidence(a, cmd.Context(), strings.Join(args, ""), dir)
		},
	}
	cmd.Flags().StringVarP(&dir, "output", "o", "", "write to `DIR` (default .ferrus/evidence/TASK)")
	return cmd
}

func runEvidence(a *cli.App, ctx context.Context, task, dir string) error {
	e, now, err := a.OpenView(ctx)
	if err != nil {
		return err
	}
	defer e.Close()
	if task = cmp.Or(task, now.Task.TaskID); task == "" {
		return cli.Refuse(refusal.WrongState, "there is no task", "ferrus status --all lists the archived tasks; name one")
	}
	gathering, end := a.Working(ctx, "writing the evidence")
	defer end()
	report, err := evidence.Read(gathering, e, task)
	if err != nil {
		return err
	}
	files, err := report.Files()
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
	list, err := evidence.Write(dir, task, files)
	end()
	var unfit *evidence.FolderError
	if errors.As(err, &unfit) {
		return cli.Refuse(refusal.InvalidInput, unfit.Why, "name an empty folder, or a new one, with -o")
	}
	if err != nil {
		return err
	}
	shown, counts := dir, false // it counts as a change of the task
	if rel, err := filepath.Rel(root, dir); err == nil && filepath.IsLocal(rel) {
		shown = rel
		counts = !strings.HasPrefix(filepath.ToSlash(rel)+"/", ".ferrus/") && report.Present()
	}
	if counts {
		a.Qualify("in_work_tree", true)
		cli.Fprintf(a.Err, "%s is in the work tree: unless git ignores it, it counts as a change\n", shown)
	}
	if a.JSON {
		return a.PrintJSON(map[string]any{"task_id": task, "state": report.State(), "dir": dir, "files": list})
	}
	a.Say("%s  %s\n", a.Paint(cli.Bold, shown), format.Count(len(list), "file", "files"))
	for _, f := range list {
		a.Say("  %9d  %s\n", f.Bytes, f.Name)
	}
	return nil
}
