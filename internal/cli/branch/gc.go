package branch

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/ferrus-go/ferrus/internal/cli"
	"github.com/ferrus-go/ferrus/internal/config/trust"
	"github.com/ferrus-go/ferrus/internal/platform/format"
	"github.com/ferrus-go/ferrus/internal/project/gc"
	"github.com/ferrus-go/ferrus/internal/worktree/snapshots"
)

// GcCommand is ferrus gc.
func GcCommand(a *cli.App) *cobra.Command {
	var days int
	var dry bool
	cmd := &cobra.Command{
		Use:   "gc [--older DAYS] [--dry-run]",
		Short: "Delete old archives, logs and saved files",
		Long: `Deletes archives, logs, records of runs and saved files of tasks that ended more
than DAYS days ago. It also deletes branches that were removed that long ago. It
never deletes a present task, the journal, or folders of "ferrus evidence". With
--dry-run it only lists what it would delete.`,
		Example: `  ferrus gc --dry-run
  ferrus gc --older 30`,
		Annotations: cli.Reference(`Private checkouts of checks ([checks] where = "clean") that no task needs are
deleted at any age. "ferrus log" still shows all events, and "ferrus evidence"
what they contain.

Saved files are refs under refs/ferrus in your repository. Refs of tasks that no
journal here knows stay, because they may belong to another project. The
objects stay on disk until git collects garbage (git gc). Objects that your own
commits contain stay. The reported bytes are those of files only.

Records of trusted configurations are deleted when the folder of the project has
been missing for 90 days.`, `older_days dry_run records[] bytes refs tasks[{branch task_id ended refs bytes}]
branches[{branch ended refs bytes}] checkouts[{branch task_id path bytes}]
records_error.`),
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if days < 0 {
				return cli.UsageError("ferrus gc --older 30; 0 is everything that has ended", "--older %d is not a number of days", days)
			}
			return runGC(a, cmd.Context(), days, dry)
		},
	}
	cmd.Flags().IntVar(&days, "older", 30, "delete what ended more than `DAYS` days ago")
	cmd.Flags().BoolVar(&dry, "dry-run", false, "list what would be deleted, and delete nothing")
	return cmd
}

// A clearing is what gc has removed, or would.
type clearing struct {
	OlderDays int          `json:"older_days"`
	DryRun    bool         `json:"dry_run"`
	Bytes     int64        `json:"bytes"`
	Refs      int          `json:"refs"`
	Tasks     []gc.Garbage `json:"tasks"`                   // oldest first
	Branches  []gc.Garbage `json:"branches"`                // that were removed
	Records   []string     `json:"records,omitempty"`       // paths of projects whose folder is gone
	Unread    string       `json:"records_error,omitempty"` // why not all records could be read

	Checkouts []gc.LeftCheckout `json:"checkouts"` // of gates that no task needs, whatever their age
}

func runGC(a *cli.App, ctx context.Context, days int, dry bool) error {
	if err := a.RefuseAgent("gc"); err != nil {
		return err
	}
	place, err := a.Place(ctx)
	if err != nil {
		return err
	}
	// What goes is listed at the end: nothing is printed while the live line is there.
	ctx, end := a.Working(ctx, "looking for what has ended")
	defer end()
	list, err := gc.Find(ctx, place.Root, time.Now().AddDate(0, 0, -days))
	if err != nil {
		return err
	}
	c := clearing{OlderDays: days, DryRun: dry, Tasks: []gc.Garbage{}, Branches: []gc.Garbage{}, Checkouts: []gc.LeftCheckout{}}
	for i, l := range list {
		if !dry {
			if err = gc.Sweep(ctx, place.Root, l); err != nil {
				list = list[:i]
				break
			}
		}
		c.add(l)
	}
	if err == nil {
		err = clearCheckouts(place.Root, dry, &c)
	}
	if err == nil {
		// What cannot be read there does not undo what this command has done here.
		var wrong error
		if c.Records, wrong = trust.Sweep(time.Now(), goneRecords, dry); wrong != nil {
			c.Unread = wrong.Error()
		}
	}
	end()
	if c.Unread != "" {
		cli.Fprintf(a.Err, "ferrus: %s\n", c.Unread)
	}
	if a.JSON && err == nil {
		return a.PrintJSON(c)
	}
	if !a.JSON {
		for _, l := range list {
			showGarbage(a, l)
		}
		for _, l := range c.Checkouts {
			a.Say("  %s  %-26s  %s, the checkout of a check\n", format.Pad("", len(time.DateOnly)), l.TaskID, format.Size(l.Bytes))
		}
		a.Say("%s\n", c.words())
	}
	return err
}

// clearCheckouts removes the private checkouts that no gate needs.
func clearCheckouts(root string, dry bool, c *clearing) error {
	list, err := gc.LeftCheckouts(root)
	if err != nil {
		return err
	}
	if !dry {
		if err := gc.RemoveCheckouts(list); err != nil {
			return cli.CannotDo("delete the checkouts of checks", "a check may run in one: try again when it has finished", err)
		}
	}
	for _, l := range list {
		c.Checkouts, c.Bytes = append(c.Checkouts, l), c.Bytes+l.Bytes
	}
	return nil
}

func (c *clearing) add(l gc.Garbage) {
	c.Bytes, c.Refs = c.Bytes+l.Bytes, c.Refs+l.Refs
	if l.TaskID == "" {
		c.Branches = append(c.Branches, l)
	} else {
		c.Tasks = append(c.Tasks, l)
	}
}

// showGarbage prints what went in a line.
func showGarbage(a *cli.App, l gc.Garbage) {
	name, where := l.TaskID, ""
	switch name {
	case "":
		name = "the removed branch"
	case snapshots.Unassigned:
		name = "before merges"
	}
	if l.Branch != "" {
		where = "   (" + l.Branch + ")"
	}
	day := format.Pad("", len(time.DateOnly))
	if !l.Ended.IsZero() {
		day = l.Ended.Local().Format(time.DateOnly)
	}
	a.Say("  %s  %-26s  %s, %s%s\n", day, name, format.Size(l.Bytes), format.Count(l.Refs, "saved tree", "saved trees"), where)
}

func (c *clearing) words() string {
	if len(c.Tasks)+len(c.Branches)+len(c.Checkouts) == 0 {
		return "nothing to delete: nothing is left of what ended more than " + format.Count(c.OlderDays, "day", "days") + " ago"
	}
	what := fmt.Sprintf("%s of files and %s", format.Size(c.Bytes), format.Count(c.Refs, "saved tree", "saved trees"))
	if c.DryRun {
		return "would delete " + what + "; nothing was deleted"
	}
	if c.Refs > 0 {
		what += ", which git deletes when it next collects garbage"
	}
	return "deleted " + what
}

// goneRecords is after how long gc removes the record of a project whose folder is gone.
const goneRecords = 90 * 24 * time.Hour
