package status

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"

	"github.com/ferrus-go/ferrus/internal/cli"
	"github.com/ferrus-go/ferrus/internal/platform/format"
	"github.com/ferrus-go/ferrus/internal/platform/sandbox"
	"github.com/ferrus-go/ferrus/internal/platform/sandbox/attack"
)

// A sandboxReport is what doctor --sandbox has found.
type sandboxReport struct {
	Mechanisms []foundMechanism `json:"mechanisms"`
	Attacks    []triedAttack    `json:"attacks"` // none where no mechanism holds
}

// A foundMechanism is a mechanism on this machine.
type foundMechanism struct {
	Name    sandbox.Mechanism `json:"name"`
	Holds   bool              `json:"holds"`
	Version int               `json:"version,omitempty"` // of Landlock
	Why     string            `json:"why,omitempty"`     // why it does not hold
}

// A triedAttack is an attack under each mechanism that holds.
type triedAttack struct {
	Attack  string                       `json:"attack"`
	Results map[sandbox.Mechanism]string `json:"results"` // one of the words below
	Broken  bool                         `json:"broken"`  // it went through, and the documentation says that it is stopped
}

// What came of an attack.
const (
	stopped    = "stopped"
	through    = "not stopped"
	impossible = "not possible here" // not even without a sandbox
)

var colours = map[string]string{stopped: cli.Green, through: cli.Yellow, impossible: cli.Dim}

// runSandbox tries the attacks under every mechanism that holds here, and fails if one goes through that is to be stopped.
func runSandbox(a *cli.App, ctx context.Context) error {
	self, err := os.Executable() // by its path: an attack starts it from inside
	if err != nil {
		return err
	}
	ctx, end := a.Working(ctx, "trying attacks")
	defer end()
	var report sandboxReport
	var holding []sandbox.Mechanism
	for _, m := range sandbox.Mechanisms() {
		f := foundMechanism{Name: m, Holds: true}
		if err := sandbox.Probe(ctx, m, self); err != nil {
			f.Holds, f.Why = false, err.Error()
		} else {
			holding = append(holding, m)
		}
		if m == sandbox.Landlock {
			f.Version = sandbox.LandlockVersion()
		}
		report.Mechanisms = append(report.Mechanisms, f)
	}
	if len(holding) > 0 {
		if report.Attacks, err = tryAll(ctx, holding, self); err != nil {
			return err
		}
	}
	end()
	if a.JSON {
		if err := a.PrintJSON(report); err != nil {
			return err
		}
	} else {
		showSandbox(a, report, holding)
	}
	for _, t := range report.Attacks {
		if t.Broken {
			return cli.ExitWith(cli.ExitFailure)
		}
	}
	return nil
}

// tryAll tries every attack under every mechanism, several at a time, each on a victim of its own.
func tryAll(ctx context.Context, under []sandbox.Mechanism, self string) ([]triedAttack, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	attacks := attack.All()
	all := make([]triedAttack, len(attacks))
	places := make(chan struct{}, runtime.GOMAXPROCS(0))
	var wg sync.WaitGroup
	for i, what := range attacks {
		wg.Go(func() {
			places <- struct{}{}
			defer func() { <-places }()
			tried, err := tryOne(ctx, what, under, self)
			if err != nil {
				cancel(err)
			}
			all[i] = tried
		})
	}
	wg.Wait()
	return all, context.Cause(ctx)
}

func tryOne(ctx context.Context, what attack.Attack, under []sandbox.Mechanism, self string) (triedAttack, error) {
	t := triedAttack{Attack: what.Name, Results: map[sandbox.Mechanism]string{}}
	without, err := attack.Try(ctx, what, attack.Way{Mechanism: sandbox.None}, self)
	if err != nil {
		return t, err
	}
	for _, m := range under {
		w := attack.Way{Mechanism: m}
		got, err := attack.Try(ctx, what, w, self)
		if err != nil {
			return t, err
		}
		switch {
		case got.Through:
			t.Results[m], t.Broken = through, t.Broken || what.Stopped(w)
		case !without.Through:
			t.Results[m] = impossible
		default:
			t.Results[m] = stopped
		}
	}
	return t, nil
}

func showSandbox(a *cli.App, report sandboxReport, holding []sandbox.Mechanism) {
	for _, m := range report.Mechanisms {
		switch {
		case !m.Holds:
			a.Say("%-9s %s\n", m.Name, a.Paint(cli.Yellow, format.IndentRest(strings.TrimPrefix(m.Why, string(m.Name)+" "))))
		case m.Name == sandbox.Landlock:
			a.Say("%-9s works here, version %d\n", m.Name, m.Version)
		default:
			a.Say("%-9s works here\n", m.Name)
		}
	}
	if len(holding) == 0 {
		a.Say("\nno sandbox works here: with auto, executors and checks have none; with on, ferrus refuses to start them\n")
		return
	}
	head := fmt.Sprintf("%-50s", "attack")
	for _, m := range holding {
		head += fmt.Sprintf("  %-17s", m)
	}
	a.Say("\n%s\n", strings.TrimRight(head, " "))
	broken := 0
	for _, t := range report.Attacks {
		a.Say("%-50s", t.Attack)
		for _, m := range holding {
			word := t.Results[m]
			colour := colours[word]
			if t.Broken && word == through {
				colour = cli.Red
			}
			a.Say("  %s", a.Paint(colour, fmt.Sprintf("%-17s", word)))
		}
		if t.Broken {
			broken++
			a.Say("  should be stopped")
		}
		a.Say("\n")
	}
	if broken > 0 {
		a.Say("\n%s went through that should be stopped; do not rely on the sandbox of this machine\n", format.Count(broken, "attack", "attacks"))
		return
	}
	a.Say("\nall that should be stopped is stopped\n")
}
