package log

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ferrus-go/ferrus/internal/agents"
	"github.com/ferrus-go/ferrus/internal/agents/process"
	"github.com/ferrus-go/ferrus/internal/cli"
	"github.com/ferrus-go/ferrus/internal/conductor"
	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/platform/format"
	"github.com/ferrus-go/ferrus/internal/platform/rootfs"
	"github.com/ferrus-go/ferrus/internal/platform/safetext"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
)

// LogsCommand is ferrus logs.
func LogsCommand(a *cli.App) *cobra.Command {
	var follow, raw bool
	cmd := &cobra.Command{
		Use:   "logs [NAME] [-f] [--raw]",
		Short: "Show the output of an agent, a check or a server",
		Long: `Shows what an agent said, which tools it called and what failed. NAME is a run
such as executor-2, a duty (its newest run), a check such as k4, or a file in
.ferrus/logs. Without NAME it is the newest run. With --raw it prints the bytes
as they are. With -f it follows the output until the run ends.`,
		Example: `  ferrus logs
  ferrus logs executor-2
  ferrus logs k4 --raw
  ferrus logs reviewer -f`,
		Annotations: cli.Reference(`On a terminal and without --raw, escape sequences and invisible characters are
shown as marks such as <U+202E>.`, `without NAME: the runs of the task, [{run duty agent started ended exit usage
...}].`),
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return showLogs(a, cmd.Context(), strings.Join(args, ""), follow, raw)
		},
	}
	cmd.Flags().BoolVarP(&follow, "follow", "f", false, "follow the output")
	cmd.Flags().BoolVar(&raw, "raw", false, "print the bytes as they are")
	return cmd
}

func showLogs(a *cli.App, ctx context.Context, name string, follow, raw bool) error {
	e, now, err := a.OpenView(ctx)
	if err != nil {
		return err
	}
	defer e.Close()
	runs, err := process.Runs(conductor.Runs(e, now.Task.TaskID))
	if err != nil {
		return err
	}
	if a.JSON && name == "" {
		if runs == nil {
			runs = []process.Run{}
		}
		return a.PrintJSON(runs)
	}
	run, ok := ChooseRun(runs, name)
	if !ok {
		path, err := logFile(a, e, name)
		if err != nil {
			return err
		}
		return Follow(a, ctx, path, TextWriter(a, raw), func() bool { return !follow })
	}
	show := TextWriter(a, true)
	if !raw {
		who := run.Agent
		if run.Sandbox != "" {
			who += ", sandbox: " + run.Sandbox
		}
		if run.Outside != "" {
			who += ", " + format.Line(run.Outside)
		}
		a.Say("%s  %s, started %s\n", a.Paint(cli.Bold, run.Name), who, format.Clock(run.Started))
		show = EventWriter(a, agents.ReaderOf(run.Agent))
	}
	return Follow(a, ctx, run.Log, show, func() bool {
		list, err := process.Runs(conductor.Runs(e, now.Task.TaskID))
		again, ok := ChooseRun(list, run.Name)
		return !follow || err != nil || !ok || again.Over()
	})
}

// ChooseRun is the run of a name, or the newest of a duty, or of all.
func ChooseRun(runs []process.Run, name string) (process.Run, bool) {
	for _, r := range slices.Backward(runs) {
		if name == "" || r.Name == name || string(r.Duty) == name {
			return r, true
		}
	}
	return process.Run{}, false
}

// logFile finds a log that is no run's: by its name, or the newest whose name holds the word.
func logFile(a *cli.App, e *engine.Engine, name string) (string, error) {
	dir := e.Place().Path("logs")
	entries, err := rootfs.ListOwn(dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return "", err
	}
	var best string
	var at time.Time
	for _, entry := range entries {
		info, err := entry.Info()
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		words := strings.FieldsFunc(strings.TrimSuffix(entry.Name(), ".log"), func(r rune) bool { return r == '-' || r == '.' })
		if name != "" && (entry.Name() == name || slices.Contains(words, name)) && !info.ModTime().Before(at) {
			best, at = entry.Name(), info.ModTime()
		}
	}
	if best == "" {
		what := "there is no log of " + name
		if name == "" {
			what = "no agent has been started for this task"
		}
		return "", cli.Refuse(refusal.WrongState, what, refusal.Say("ferrus logs{branch} --json lists the runs, and %s has all logs", dir))
	}
	return filepath.Join(dir, best), nil
}

// poll is how often a log that is followed is looked at.
const poll = 200 * time.Millisecond

// Follow shows a log, and what is added to it, until over reports that nothing will be added or that no reader is left.
func Follow(a *cli.App, ctx context.Context, path string, show func(piece []byte, end bool) error, over func() bool) error {
	f, err := rootfs.OpenOwn(path)
	if err != nil {
		return err
	}
	defer f.Close()
	piece := make([]byte, 64<<10)
	for {
		last := over() // before the reading, so that nothing is missed
		for err = nil; err == nil; {
			var n int
			if n, err = f.Read(piece); n > 0 {
				if err := show(piece[:n], false); err != nil {
					return err
				}
			}
		}
		switch {
		case err != io.EOF:
			return err
		case last:
			return show(nil, true)
		}
		select {
		case <-ctx.Done():
			return a.Interrupted(ctx)
		case <-time.After(poll):
		}
	}
}

// TextWriter shows what was printed: to a program that asked for it as it is, else with marks for what a terminal would obey.
func TextWriter(a *cli.App, raw bool) func(piece []byte, end bool) error {
	if raw && !a.OutTTY {
		return func(piece []byte, _ bool) error {
			_, err := a.Out.Write(piece)
			return err
		}
	}
	margin := ""
	if a.OutTTY {
		margin = format.Bar
	}
	show := &cli.LineWriter{Show: func(text string) { a.Say("%s%s\n", margin, safetext.Output(text)) }}
	return func(piece []byte, end bool) error {
		_, err := show.Write(piece)
		if end {
			show.Flush()
		}
		return err
	}
}

// EventWriter shows what an agent has printed as a person would tell it.
func EventWriter(a *cli.App, in *agents.Reader) func([]byte, bool) error {
	return func(piece []byte, end bool) error {
		list := in.Feed(piece)
		if end {
			list = append(list, in.End()...)
		}
		var text bytes.Buffer
		words := *a
		words.Out = &text
		notes(&words, list)
		_, err := a.Out.Write(text.Bytes())
		return err
	}
}

// noteColour is the colour of what an agent did.
var noteColour = map[agents.NoteKind]string{agents.Call: cli.Blue, agents.Answer: cli.Dim, agents.Error: cli.Red, agents.Info: cli.Dim}

// notes prints what the output of an agent says.
func notes(a *cli.App, list []agents.Note) {
	for _, n := range list {
		first, rest, more := strings.Cut(strings.TrimSpace(n.Text), "\n")
		text := fmt.Sprintf("%-7s %s", n.Kind, first)
		if more {
			text += "\n" + format.Frame(rest, "      ")
		}
		a.Say("%s\n", a.Paint(noteColour[n.Kind], text))
	}
}
