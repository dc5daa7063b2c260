package log

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ferrus-go/ferrus/internal/cli"
	"github.com/ferrus-go/ferrus/internal/platform/format"
	"github.com/ferrus-go/ferrus/internal/server"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/status"
)

// TraceCommand is ferrus trace.
func TraceCommand(a *cli.App) *cobra.Command {
	var to string
	cmd := &cobra.Command{
		Use:   "trace [TASK-ID] [--otlp URL]",
		Short: "Show where the time of a task went, or send it as a trace",
		Long: `Shows a task, the runs of its agents and their checks as a tree, with the time
of each. Without TASK-ID it is the present task. With --otlp it is sent to a
collector of OpenTelemetry. A trace contains no text, path or branch.`,
		Example: `  ferrus trace
  ferrus trace t-20261128-055305-4eff5691
  ferrus trace --otlp http://127.0.0.1:4318`,
		Annotations: cli.Reference(`URL is the address of a collector that takes OTLP over HTTP; without a path,
/v1/traces is added. OTEL_EXPORTER_OTLP_HEADERS, such as
"authorization=Bearer%20SECRET", is sent with it. Redirects are not followed.
Nothing is sent without --otlp. Only a person may use it.

The ids follow from that of the task: sent again it is the same trace. Agents
find theirs in TRACEPARENT, so that what they trace themselves hangs below.`, `an ExportTraceServiceRequest of OTLP. With --otlp: trace spans sent.`),
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			id := strings.Join(args, "")
			switch {
			case len(args) > 0 && !state.ValidTaskID(id):
				return cli.UsageError("ferrus history lists tasks", "%q is not the id of a task", id)
			case cmd.Flags().Changed("otlp"):
				address, err := collector(to)
				if err != nil {
					return cli.UsageError("ferrus trace --otlp http://127.0.0.1:4318", "--otlp: %v", err)
				}
				if err := a.RefuseAgent("trace --otlp"); err != nil {
					return err
				}
				return sendTrace(a, cmd.Context(), id, address)
			}
			return showTrace(a, cmd.Context(), id)
		},
	}
	cmd.Flags().StringVar(&to, "otlp", "", "send it to the collector at `URL`")
	return cmd
}

// collector is the address to which traces are sent.
func collector(text string) (string, error) {
	u, err := cli.Address(text)
	if err != nil {
		return "", err
	}
	if strings.Trim(u.Path, "/") == "" {
		u.Path = "/v1/traces"
	}
	return u.String(), nil
}

// readTrace reads the trace of a task, of the present one where id is "".
func readTrace(a *cli.App, ctx context.Context, id string) (status.Trace, error) {
	e, err := a.OpenToRead(ctx)
	if err != nil {
		return status.Trace{}, err
	}
	defer e.Close()
	if id == "" {
		snap, err := e.View()
		if err != nil {
			return status.Trace{}, err
		}
		if id = snap.Task.TaskID; id == "" {
			return status.Trace{}, cli.Refuse(refusal.WrongState, "there is no task", "name one that is over: ferrus history lists them")
		}
	}
	ctx, end := a.Working(ctx, "reading the journals,")
	defer end()
	t, err := status.ReadTrace(ctx, e.Place().Root, id, a.OpenToReadAt)
	if errors.Is(err, fs.ErrNotExist) {
		return t, cli.Refuse(refusal.InvalidInput, "there is no task "+id+" in this project", "ferrus history lists those that are over, ferrus branches the others")
	}
	return t, err
}

func showTrace(a *cli.App, ctx context.Context, id string) error {
	t, err := readTrace(a, ctx, id)
	if err != nil {
		return err
	}
	if a.JSON {
		return a.PrintJSON(t.OTLP(server.Version()))
	}
	rows := t.Rows()
	widths := widthsOf(rows)
	for _, row := range rows {
		text := ""
		for i, cell := range row {
			text += format.Pad(cell, widths[i]) + "  "
		}
		a.Say("%s\n", strings.TrimRight(text, " "))
	}
	return nil
}

// traceLimit is how long a collector may take.
const traceLimit = 30 * time.Second

// sendTrace sends a trace to the address of a collector.
func sendTrace(a *cli.App, ctx context.Context, id, address string) error {
	t, err := readTrace(a, ctx, id)
	if err != nil {
		return err
	}
	text, err := json.Marshal(t.OTLP(server.Version()))
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, traceLimit)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(text))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	for pair := range strings.SplitSeq(os.Getenv("OTEL_EXPORTER_OTLP_HEADERS"), ",") {
		name, value, ok := strings.Cut(pair, "=")
		if plain, err := url.PathUnescape(strings.TrimSpace(value)); ok && err == nil {
			req.Header.Set(strings.TrimSpace(name), plain)
		}
	}
	const remedy = "see that a collector takes OTLP over HTTP at that address, and send it again: nothing is lost"
	resp, err := cli.HTTPClient().Do(req)
	if err != nil {
		return refusal.Because(refusal.StoreError, "send the trace", err, remedy)
	}
	defer resp.Body.Close()
	if resp.StatusCode/100 != 2 {
		said, _ := io.ReadAll(io.LimitReader(resp.Body, 512)) // its words are an extra
		return cli.Refuse(refusal.StoreError, "the collector answers "+resp.Status+": "+format.Line(strings.TrimSpace(string(said))), remedy)
	}
	if a.JSON {
		return a.PrintJSON(map[string]any{"trace": t.ID, "spans": len(t.Spans), "sent": true})
	}
	a.Say("sent %s: trace %s\n", format.Count(len(t.Spans), "span", "spans"), t.ID)
	return nil
}
