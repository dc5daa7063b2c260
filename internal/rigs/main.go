// Rigs runs the tests that try to break the promises of ferrus, and then each again on ferrus with a mistake in it: a
// rig that notices no mistake is no evidence. It prints a table.
//
//	go run ./internal/rigs [-short|-full] [-run REGEXP] [-mutants=false]
//
// A rig reports by a line of its test's log: "rig: cases=N bad=N", and what else is worth saying after a semicolon.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"regexp"
	"time"
)

func main() {
	short := flag.Bool("short", false, "run the short form of every rig")
	full := flag.Bool("full", false, "run every rig as long as it is worth: an hour or two")
	mutants := flag.Bool("mutants", true, "show that each rig notices its mutants")
	only := flag.String("run", "", "only the rigs whose name matches")
	flag.Parse()
	pick, err := regexp.Compile(*only)
	if err != nil || flag.NArg() > 0 || *short && *full {
		flag.Usage()
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	form := map[bool]string{*short: "-short", *full: "-full"}[true]
	if !run(ctx, pick, form, *mutants) {
		stop()
		os.Exit(1)
	}
}

// run prints the table, a row for each rig when it is done, and reports whether all is as promised.
func run(ctx context.Context, pick *regexp.Regexp, form string, mutants bool) (good bool) {
	good = true
	fmt.Println("| rig | cases | bad | mutants | killed | time | |\n|---|---:|---:|---:|---:|---:|---|")
	for _, r := range rigs {
		if !pick.MatchString(r.Name) {
			continue
		}
		began := time.Now()
		v := r.try(ctx, form)
		var alive []string
		if mutants && v.err == nil && !v.skipped {
			alive = r.survivors(ctx)
		}
		tried := map[bool]int{true: len(r.Mutants)}[mutants && !v.skipped]
		fmt.Printf("| %s | %d | %d | %d | %d | %s | %s |\n", r.Name, v.cases, v.bad, tried, tried-len(alive),
			time.Since(began).Round(100*time.Millisecond), v.said)
		for _, m := range alive {
			fmt.Fprintf(os.Stderr, "rigs: %s does not notice: %s\n", r.Name, m)
		}
		if v.err != nil {
			fmt.Fprintf(os.Stderr, "rigs: %s: %v\n%s\n", r.Name, v.err, v.output)
		}
		good = good && v.err == nil && v.bad == 0 && len(alive) == 0
	}
	return good && ctx.Err() == nil
}
