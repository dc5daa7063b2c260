// Bench measures what ferrus costs and prints one table. Each figure stands beside its limit, which
// is the cost of the same work in the system below, measured in turns with it, and beside other
// tools (peers).
//
//	go run ./test/bench [-short] [-json] [-run REGEXP] [-beside DIR] [-peers DIR|none] [-all-peers]
//
// Go benchmarks measure what happens inside one package; this program runs them and reads their
// results. The program itself measures what needs whole programs: starts, many processes at a time,
// complete tasks.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"syscall"
	"time"
)

func main() {
	var o options
	flag.BoolVar(&o.short, "short", false, "measure less, in about a minute, and no peers unless -peers is given")
	flag.BoolVar(&o.json, "json", false, "print JSON")
	flag.StringVar(&o.peers, "peers", cached(), "`DIR` where peers are, or are installed with npm; none measures none")
	flag.BoolVar(&o.all, "all-peers", false, "measure also peers whose installation is large")
	flag.StringVar(&o.beside, "beside", "", "`DIR` with the programs ferrus and ferrusd of another build, measured in turns with this one by the part large")
	only := flag.String("run", "", "measure only the parts whose name matches `REGEXP`: "+names())
	flag.Parse()
	var err error
	if o.only, err = regexp.Compile(*only); err != nil || flag.NArg() > 0 {
		flag.Usage()
		os.Exit(2)
	}
	flag.Visit(func(f *flag.Flag) { o.invited = o.invited || f.Name == "peers" })
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err = bench(ctx, o)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

type options struct {
	short, json, all bool
	peers            string
	beside           string // "" for none
	invited          bool   // peers were given
	only             *regexp.Regexp
}

// cached is where peers are stored from run to run.
func cached() string {
	dir, err := os.UserCacheDir()
	if err != nil {
		return "none"
	}
	return filepath.Join(dir, "ferrus", "peers")
}

// bench measures and prints. Run it from the root of the module.
func bench(ctx context.Context, o options) error {
	l, err := newLab(ctx, o)
	if err != nil {
		return err
	}
	defer os.RemoveAll(l.dir)
	began, used := time.Now(), newMeter()
	r := report{Machine: look(l.dir)}
	for _, p := range parts {
		if !o.only.MatchString(p.name) {
			continue
		}
		at := time.Now()
		if err := p.run(l); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		fmt.Fprintf(os.Stderr, "bench: %s took %s\n", p.name, time.Since(at).Round(100*time.Millisecond))
	}
	if percent, ok := used.others(); ok {
		r.Machine.Others, r.Busy = fmt.Sprintf("%.0f", percent), percent > calm
	}
	l.samples.quantiles(l.results)
	r.Rows = rows(l.results, l.peers)
	if text := firstLimits(r.Rows); text != "" {
		l.note("%s", text)
	}
	r.Took, r.Peers, r.Notes = time.Since(began).Round(time.Second).String(), l.peers, l.notes
	if o.json {
		return r.json(os.Stdout)
	}
	return r.markdown(os.Stdout)
}
