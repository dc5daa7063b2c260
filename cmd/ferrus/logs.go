package main

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
	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/hq"
	"github.com/ferrus-go/ferrus/internal/slot"
)

func logsCommand(a *app) *cobra.Command {
	var follow, raw bool
	cmd := &cobra.Command{
		Use:   "logs [NAME] [-f] [--raw]",
		Short: "What an agent, a check or a server has printed",
		Long: `Shows the output of an agent in words: what it said, what it called, what went wrong. NAME is a run such as executor-2, a
duty (its newest run), a check such as k4, or a file in .ferrus/logs; without it the newest run. --raw shows the bytes
as they are; -f stays and shows what comes, until the run ends.

On a terminal, and without --raw, escape sequences and invisible characters are left out.

With --json, and no NAME: the runs of the task, [{run duty agent started ended exit usage ...}].`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.logs(cmd.Context(), strings.Join(args, ""), follow, raw)
		},
	}
	cmd.Flags().BoolVarP(&follow, "follow", "f", false, "stay, and show what comes")
	cmd.Flags().BoolVar(&raw, "raw", false, "as it was printed")
	return cmd
}

func (a *app) logs(ctx context.Context, name string, follow, raw bool) error {
	e, now, err := a.view(ctx)
	if err != nil {
		return err
	}
	defer e.Close()
	runs, err := slot.Runs(hq.Runs(e, now.Task.TaskID))
	if err != nil {
		return err
	}
	if a.json && name == "" {
		if runs == nil {
			runs = []slot.Run{}
		}
		return a.print(runs)
	}
	run, ok := chosen(runs, name)
	if !ok {
		path, err := a.logFile(e, name)
		if err != nil {
			return err
		}
		return a.follow(ctx, path, a.printed(raw), func() bool { return !follow })
	}
	show := a.printed(true)
	if !raw {
		a.say("%s  %s, started %s\n", a.paint(bold, run.Name), run.Agent, clock(run.Started))
		show = a.inWords(agents.ReaderOf(run.Agent))
	}
	return a.follow(ctx, run.Log, show, func() bool {
		list, err := slot.Runs(hq.Runs(e, now.Task.TaskID))
		again, ok := chosen(list, run.Name)
		return !follow || err != nil || !ok || again.Over()
	})
}

// chosen is the run of a name, or the newest of a duty, or of all.
func chosen(runs []slot.Run, name string) (slot.Run, bool) {
	for _, r := range slices.Backward(runs) {
		if name == "" || r.Name == name || string(r.Duty) == name {
			return r, true
		}
	}
	return slot.Run{}, false
}

// logFile finds a log that is no run's: by its name, or the newest whose name holds the word.
func (a *app) logFile(e *engine.Engine, name string) (string, error) {
	dir := e.Store().Path("logs")
	entries, err := listOwn(dir)
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
		return "", refuse(engine.WrongState, what, "ferrus logs --json lists the runs, and "+dir+" holds all logs")
	}
	return filepath.Join(dir, best), nil
}

// poll is how often a log that is followed is looked at.
const poll = 200 * time.Millisecond

// follow shows a log, and what is added to it until over says that nothing will be, or that nobody wants it.
func (a *app) follow(ctx context.Context, path string, show func(piece []byte, end bool) error, over func() bool) error {
	f, err := openOwn(path)
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
			return a.left(ctx)
		case <-time.After(poll):
		}
	}
}

// printed shows what was printed: to a program that asked for it as it is, else without what a terminal would obey.
func (a *app) printed(raw bool) func(piece []byte, end bool) error {
	if raw && !a.outTTY {
		return func(piece []byte, _ bool) error {
			_, err := a.out.Write(piece)
			return err
		}
	}
	margin := ""
	if a.outTTY {
		margin = bar
	}
	show := &lines{show: func(text string) { a.say("%s%s\n", margin, text) }}
	return func(piece []byte, end bool) error {
		_, err := show.Write(piece)
		if end {
			show.flush()
		}
		return err
	}
}

// inWords shows what an agent has printed as a person would tell it.
func (a *app) inWords(in *agents.Reader) func([]byte, bool) error {
	return func(piece []byte, end bool) error {
		list := in.Feed(piece)
		if end {
			list = append(list, in.End()...)
		}
		var text bytes.Buffer
		words := *a
		words.out = &text
		words.notes(list)
		_, err := a.out.Write(text.Bytes())
		return err
	}
}

// noteColour is the colour of what an agent did.
var noteColour = map[agents.NoteKind]string{agents.Call: blue, agents.Answer: dim, agents.Error: red, agents.Info: dim}

// notes prints what the output of an agent says.
func (a *app) notes(list []agents.Note) {
	for _, n := range list {
		first, rest, more := strings.Cut(strings.TrimSpace(n.Text), "\n")
		text := fmt.Sprintf("%-7s %s", n.Kind, first)
		if more {
			text += "\n" + framed(rest, "      ")
		}
		a.say("%s\n", a.paint(noteColour[n.Kind], text))
	}
}
