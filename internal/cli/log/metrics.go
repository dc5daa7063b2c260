package log

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ferrus-go/ferrus/internal/cli"
	"github.com/ferrus-go/ferrus/internal/platform/atomicfile"
	"github.com/ferrus-go/ferrus/internal/platform/format"
	"github.com/ferrus-go/ferrus/internal/platform/rootfs"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
)

// MetricsCommand is ferrus metrics.
func MetricsCommand(a *cli.App) *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use:   "metrics [--out FILE]",
		Short: "Print numbers of the project for Prometheus",
		Long: `Prints what waits for a person, and what tasks and agents have done, in the text
format of Prometheus. The numbers are made of the journals, so that no restart
sets them back. They contain no text, path, branch or id of a task.`,
		Example: `  ferrus metrics
  ferrus metrics --out /var/lib/node_exporter/textfile/ferrus.prom`,
		Annotations: cli.Reference(`--out replaces FILE in one step, as the textfile collector of node_exporter
needs it; call it from cron or a timer. "ferrus serve --http" has the same
numbers at /metrics, for a token of "ferrus token new --role metrics", with the
duration of its own calls. A project in a database counts the tasks that ended
on this computer.`, "[{name type help samples[{suffix labels value}]}]."),
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if cmd.Flags().Changed("out") && out == "" {
				return cli.UsageError("ferrus metrics --out ferrus.prom", "--out needs a file")
			}
			return showMetrics(a, cmd.Context(), out)
		},
	}
	cmd.Flags().StringVar(&out, "out", "", "write them to `FILE`")
	return cmd
}

func showMetrics(a *cli.App, ctx context.Context, out string) error {
	place, err := a.Place(ctx)
	if err != nil {
		return err
	}
	if e, err := a.OpenToReadAt(place); err == nil { // a project without tasks has numbers, too
		a.WarnForeignTo(a.Err, e.Foreign())
		e.Close()
	}
	ctx, end := a.Working(ctx, "reading the journals,")
	all, err := cli.Metrics(ctx, place.Root)
	if end(); err != nil {
		return err
	}
	var text strings.Builder
	if err := format.WriteMetrics(&text, all); err != nil {
		return err
	}
	switch {
	case out != "":
		if err := writeOut(out, text.String()); err != nil {
			return refusal.Because(refusal.InvalidInput, "write the metrics", err, "name a file in a folder that you can write to")
		}
		return nil
	case a.JSON:
		return a.PrintJSON(all)
	}
	a.Say("%s", text.String())
	return nil
}

// writeOut replaces a file of the person's in one step. Others may read it.
func writeOut(file, text string) error {
	dir, err := rootfs.Open(filepath.Dir(file))
	if err != nil {
		return err
	}
	defer dir.Close()
	return atomicfile.Replace(dir, filepath.Base(file), []byte(text), 0o644)
}
