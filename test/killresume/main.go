//go:build linux

package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/ferrus-go/ferrus/test/postgrestest"
)

func main() {
	if len(os.Args) == 3 {
		act, ok := acts[os.Args[1]]
		if t, loops := trackers[os.Args[1]]; loops {
			act, ok = func(r record) error { return turn(t, r) }, true
		}
		if ok {
			if err := act(record(os.Args[2])); err != nil {
				fmt.Fprintln(os.Stderr, "killresume:", err)
				os.Exit(1)
			}
			return
		}
	}
	os.Exit(postgrestest.Main(func() int {
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
		defer stop()
		if err := measure(ctx, os.Args[1:], os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, "killresume:", err)
			return 1
		}
		return 0
	}))
}

// options are what a measurement is made of.
type options struct {
	systems string
	seeds   int
	first   uint64
	tasks   int
	every   time.Duration
	limit   time.Duration
	silence time.Duration
	out     string
	dir     string
	answer  time.Duration
	wild    bool
	verbose bool
}

// calm are the options of a run without kills: nobody knows yet how long silence is usual.
func (o options) calm() options {
	o.silence *= 10
	return o
}

// after are the options of a run with kills after one without: it is killed at its own pace, so that slow commands or a slow computer do not
// decide what becomes of the tasks.
func (o options) after(calm result) options {
	took := time.Duration(calm.Seconds * float64(time.Second))
	o.every, o.limit, o.silence = max(o.every, took/10), max(o.limit, 20*took), max(o.silence, took)
	return o
}

// measure runs each system with each seed, without kills and with them, and writes the table.
func measure(ctx context.Context, args []string, out io.Writer) error {
	o := options{}
	var names []string
	for _, a := range adapters {
		names = append(names, a.name)
	}
	flags := flag.NewFlagSet("killresume", flag.ContinueOnError)
	flags.StringVar(&o.systems, "systems", strings.Join(names, ","), "the systems, separated by commas")
	flags.IntVar(&o.seeds, "seeds", 5, "how many seeds")
	flags.Uint64Var(&o.first, "first", 1, "the first seed")
	flags.IntVar(&o.tasks, "tasks", 8, "how many tasks each run has")
	flags.DurationVar(&o.every, "every", 400*time.Millisecond, "the mean time between two kills; it is longer where a run without kills takes more than ten times that")
	flags.DurationVar(&o.limit, "limit", 3*time.Minute, "how long a run may take; 20 times as long as without kills, if that is longer")
	flags.DurationVar(&o.silence, "silence", 15*time.Second, "after how long without an event, with nobody named, a run counts as stalled")
	flags.DurationVar(&o.answer, "answer", time.Second, "how long the person takes to answer")
	flags.BoolVar(&o.wild, "wild", false, "agents also hang, lie, crash, flood and write garbage, nobody is killed, and what is used is sampled")
	flags.StringVar(&o.out, "out", "", "add each run as a line of JSON to this file; without seeds, the table and the pictures are of what it has")
	flags.StringVar(&o.dir, "pictures", "", "write kill-survival.svg and kill-resume.svg into this folder")
	flags.BoolVar(&o.verbose, "v", false, "print each run, and keep the folders")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if o.seeds == 0 && o.out != "" {
		all, err := kept(o.out)
		if err != nil {
			return err
		}
		return show(out, o, all)
	}
	l, err := newLab(ctx)
	if err != nil {
		return err
	}
	if !o.verbose {
		defer os.RemoveAll(l.dir)
	}
	var all []result
	for _, name := range strings.Split(o.systems, ",") {
		i := slices.IndexFunc(adapters, func(a adapter) bool { return a.name == name })
		if i < 0 {
			return fmt.Errorf("there is no system %q; there are %s", name, strings.Join(names, ", "))
		}
		if err := l.install(ctx, name); err != nil {
			fmt.Fprintf(out, "%s is left out: %v\n\n", name, err)
			continue
		}
		for seed := o.first; seed < o.first+uint64(o.seeds); seed++ {
			pace := o.calm()
			for _, kills := range []bool{false, true} {
				if kills && o.wild {
					continue
				}
				r, err := l.play(ctx, adapters[i], pace, seed, kills)
				if err != nil {
					return fmt.Errorf("%s, seed %d: %w", name, seed, err)
				}
				all, pace = append(all, r), o.after(r)
				if err := errors.Join(keep(o.out, r), say(out, o.verbose, r)); err != nil {
					return err
				}
			}
		}
	}
	return show(out, o, all)
}

// show writes the table, and the pictures.
func show(out io.Writer, o options, all []result) error {
	if o.dir != "" {
		if err := pictures(o.dir, all); err != nil {
			return err
		}
	}
	text := table(all)
	for _, r := range all {
		if len(r.Samples) > 0 {
			text += fmt.Sprintf("\n%s, seed %d: went astray %v\n\n%s", r.System, r.Seed, r.Moods, wear(r))
		}
	}
	_, err := io.WriteString(out, text)
	return err
}

// kept are the runs of the raw data.
func kept(name string) (all []result, err error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	for d := json.NewDecoder(f); ; {
		var r result
		if err := d.Decode(&r); err == io.EOF {
			return all, nil
		} else if err != nil {
			return nil, fmt.Errorf("%s has a run that is no JSON, after %d: %w", name, len(all), err)
		}
		all = append(all, r)
	}
}

// keep adds a run to the raw data.
func keep(name string, r result) error {
	if name == "" {
		return nil
	}
	f, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	return errors.Join(json.NewEncoder(f).Encode(r), f.Close())
}

func say(out io.Writer, verbose bool, r result) error {
	if !verbose {
		return nil
	}
	return json.NewEncoder(out).Encode(r)
}
