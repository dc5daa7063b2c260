package pipeline

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ferrus-go/ferrus/internal/cli"
	"github.com/ferrus-go/ferrus/internal/config"
	"github.com/ferrus-go/ferrus/internal/pipeline/run"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/project/queue"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/status"
)

// waiting returns the pipelines in the queue of the project at root, the next one first: those with one of the names in the
// queue, all for no names. The error is about a name that the queue does not have.
func waiting(root string, names []string) ([]queue.Item, error) {
	all, _ := queue.List(project.At(root, "").Dir()) // ferrus queue says what is wrong with the other files
	all = slices.DeleteFunc(all, func(it queue.Item) bool { _, _, ok := it.Pipeline(); return !ok })
	for _, name := range names {
		if !slices.ContainsFunc(all, func(it queue.Item) bool { return it.Name == name }) {
			return nil, cli.Refuse(refusal.InvalidInput, "no pipeline waits as "+name, "ferrus queue lists what waits")
		}
	}
	if len(names) > 0 {
		all = slices.DeleteFunc(all, func(it queue.Item) bool { return !slices.Contains(names, it.Name) })
	}
	return all, nil
}

func pipelineStartCommand(a *cli.App) *cobra.Command {
	var how launching
	cmd := &cobra.Command{
		Use:   "start [ITEM...]",
		Short: "Start the pipelines that wait in the queue",
		Long: `Starts the pipelines that agents have queued, or those that you name as
"ferrus queue" lists them. It waits for the result of a single one. Of several
it starts the first workers and returns; "ferrus tick" from cron continues.
[pipelines] allow names pipelines that "ferrus tick" starts by itself.`,
		Example: `  ferrus pipeline start
  ferrus pipeline start caching-in-http-clients
  ferrus pipeline start --dry-run`,
		Annotations: cli.Reference(`In the shell of an agent the command is refused. --nested allows it. The exit
codes are those of ferrus pipeline run.`,
			"that of ferrus pipeline run."),
		RunE: func(cmd *cobra.Command, names []string) error { return runQueued(a, cmd.Context(), how, names) },
	}
	cmd.Flags().BoolVar(&how.detach, "detach", false, "start the first workers and return")
	cmd.Flags().BoolVar(&how.dry, "dry-run", false, "print what would be started, and do nothing")
	cmd.Flags().BoolVar(&how.nested, "nested", false, "allow it in the shell of an agent")
	return cmd
}

// runQueued starts the pipelines that wait, one after the other.
func runQueued(a *cli.App, ctx context.Context, how launching, names []string) error {
	if err := how.refuseAgent(); err != nil {
		return err
	}
	at, conf, err := Runs(a, ctx)
	if err != nil {
		return err
	}
	place, err := a.Place(ctx)
	if err != nil {
		return err
	}
	items, err := waiting(place.Root, names)
	if err != nil {
		return err
	}
	if len(items) == 0 {
		a.Say("no pipeline waits; ferrus pipeline NAME TOPIC starts one\n")
		return nil
	}
	for _, it := range items {
		f, err := startItem(a, ctx, at, conf, it, how.dry)
		switch {
		case err != nil:
			return err
		case f == nil: // a dry run, or it was started before
		case how.detach || len(items) > 1:
			err = once(a, ctx, at, f)
		default:
			err = conductRun(a, ctx, at, f, "")
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// startItem starts a pipeline that waits and takes it out of the queue. It returns nil for a dry run, and for one that a
// process started which was killed before it could take it out.
func startItem(a *cli.App, ctx context.Context, at run.Place, conf config.Config, it queue.Item, dry bool) (*run.Folder, error) {
	name, topic, _ := it.Pipeline()
	w, path, err := findWorkflow(a, ctx, name)
	if err != nil {
		return nil, err
	}
	if topic == "" {
		return nil, cli.Refuse(refusal.InvalidInput, it.String()+" has no topic", refusal.Say("ferrus queue --remove %s removes it", it.Name))
	}
	settings := at.Settings(conf)
	if dry {
		return nil, foresee(a, at, w, settings, topic)
	}
	if err := a.TrustPipelines(ctx, conf); err != nil {
		return nil, err
	}
	if err := staffed(ctx, w, settings, path); err != nil {
		return nil, err
	}
	claim, err := queue.Take(ctx, it)
	if err != nil || claim == nil {
		return nil, err
	}
	var f *run.Folder
	if !startedBefore(at, claim) {
		f, err = at.Launch(w, topic, settings, time.Now())
	}
	if err == nil {
		err = claim.Done()
	}
	return f, errors.Join(err, claim.Close())
}

// startedBefore reports whether there is a run of the item: one of its pipeline on its topic that is not older than the start that was cut off.
func startedBefore(at run.Place, it *queue.Claim) bool {
	name, topic, _ := it.Pipeline()
	if it.Since.IsZero() {
		return false
	}
	runs, _, err := status.Runs(at, math.MaxInt32)
	return err == nil && slices.ContainsFunc(runs, func(r status.RunLine) bool {
		return strings.HasPrefix(r.Run, name+"-") && r.Topic == topic && !r.CreatedAt.Before(it.Since.Truncate(time.Second))
	})
}

// StartAllowed starts the pipelines that wait and that [pipelines] allow names. It returns why some could not be started, by
// their names in the queue.
func StartAllowed(a *cli.App, ctx context.Context) (map[string]error, error) {
	at, conf, err := Runs(a, ctx)
	if err != nil || len(conf.Pipelines.Allow) == 0 {
		return nil, err
	}
	place, err := a.Place(ctx)
	if err != nil {
		return nil, err
	}
	items, err := waiting(place.Root, nil)
	trouble := map[string]error{}
	for _, it := range items {
		if name, _, _ := it.Pipeline(); !slices.Contains(conf.Pipelines.Allow, name) {
			continue
		}
		if _, err := startItem(a, ctx, at, conf, it, false); err != nil {
			trouble[it.Name] = err
		}
		if ctx.Err() != nil {
			return trouble, ctx.Err()
		}
	}
	return trouble, err
}
