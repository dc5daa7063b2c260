// Faults runs the tests that attack the promises of ferrus (rigs). Then it runs each of them again
// on mutants: copies of ferrus with one mistake each. A rig that notices no mutant proves nothing.
// It prints a table.
//
//	go run ./test/faults [-short|-full] [-run REGEXP] [-skip REGEXP] [-mutants N]
//
// After you rename or move names in the code, these commands change the mutants likewise, and print
// those that no longer fit the code:
//
//	go run ./test/faults rename <package folder> <old> <new>
//	go run ./test/faults move <from package> <to package> [<declaration>...]
//
// This command prints the mutants that do not compile. It takes some minutes:
//
//	go run ./test/faults build
//
// A rig reports by a line in the log of its test, "rig: cases=N bad=N", with further facts after a
// semicolon. Of a test without such a line the subtests are counted, or it is one case itself.
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
	mutants := flag.Int("mutants", -1, "how many mutants each rig is shown to notice; negative: all")
	only := flag.String("run", "", "only the rigs whose name matches")
	but := flag.String("skip", "^$", "not the rigs whose name matches")
	flag.Parse()
	if flag.NArg() > 0 {
		if err := carry(os.Stdout, mutantFiles, flag.Args()); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(2)
		}
		return
	}
	pick, err := regexp.Compile(*only)
	skip, bad := regexp.Compile(*but)
	if err != nil || bad != nil || *short && *full {
		flag.Usage()
		os.Exit(2)
	}
	all, err := readTable(mutantFiles)
	if err != nil {
		fmt.Fprintln(os.Stderr, "rigs:", err)
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	form := map[bool]string{*short: "-short", *full: "-full"}[true]
	wanted := func(name string) bool { return pick.MatchString(name) && !skip.MatchString(name) }
	if !all.run(ctx, wanted, form, *mutants) {
		stop()
		os.Exit(1)
	}
}

// run prints the table, a row for each rig when it is done, and reports whether all is as promised.
func (all *Table) run(ctx context.Context, wanted func(name string) bool, form string, mutants int) (good bool) {
	good = true
	fmt.Println("| rig | cases | bad | mutants | killed | time | |\n|---|---:|---:|---:|---:|---:|---|")
	for _, r := range all.rigs {
		if !wanted(r.Name) {
			continue
		}
		began := time.Now()
		v := r.try(ctx, form)
		tried := r.mutants
		if mutants >= 0 {
			tried = tried[:min(mutants, len(tried))]
		}
		if v.err != nil || v.skipped {
			tried = nil
		}
		alive := r.survivors(ctx, tried)
		fmt.Printf("| %s | %d | %d | %d | %d | %s | %s |\n", r.Name, v.cases, v.bad, len(tried), len(tried)-len(alive),
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
