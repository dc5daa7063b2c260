package run

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/ferrus-go/ferrus/internal/cli"
	"github.com/ferrus-go/ferrus/internal/conductor"
	"github.com/ferrus-go/ferrus/internal/platform/format"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
)

// endDetails is what run and resume say of their end by the clock.
const endDetails = `

With --until ferrus starts no agent from that time on: the next 07:00 of the
local time, or so long after now. Agents that work then go on, at most for
--grace; then they are ended as by "ferrus stop". A submission waits for its
review. Approved work is still merged. The exit code is 9 if something is open
that does not wait for you. With --from too, the command does nothing outside of
these times, with exit code 3; "ferrus service" uses it.`

// An ending is how a person says when a run ends before its tasks.
type ending struct {
	from, until string
	grace       time.Duration
	conductor.Until
}

func (d *ending) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&d.until, "until", "", "start no agent after this `TIME`: 07:00, or 2h for so long from now")
	cmd.Flags().DurationVar(&d.grace, "grace", 30*time.Minute, "with --until: how long agents that work then may go on")
	cmd.Flags().StringVar(&d.from, "from", "", "with --until TIME: do nothing before this `TIME` of the day")
	cmd.PreRunE = func(cmd *cobra.Command, _ []string) error {
		return d.resolve(cmd.Flags().Changed("grace"), time.Now())
	}
}

// resolve finds out when the run ends, at now. graced says that the grace was given.
func (d *ending) resolve(graced bool, now time.Time) (err error) {
	switch {
	case d.until == "" && graced:
		return cli.UsageError("add --until 07:00", "--grace is for --until")
	case d.until == "" && d.from != "":
		return cli.UsageError("add --until 07:00", "--from is for --until")
	case d.until == "":
		return nil
	case d.grace < 0:
		return cli.UsageError("use --grace 30m", "--grace %s is less than nothing", d.grace)
	}
	if d.At, err = conductor.ParseUntil(d.until, now); err != nil {
		return cli.UsageError("use --until 07:00, or --until 2h", "--until: %v", err)
	}
	d.Grace = d.grace
	if d.from == "" {
		return nil
	}
	from, err := conductor.ParseClock(d.from)
	if err != nil {
		return cli.UsageError("use --from 22:00", "--from: %v", err)
	}
	until, err := conductor.ParseClock(d.until)
	if err != nil || from == until {
		return cli.UsageError("use --from 22:00 --until 07:00", "--from %s needs another time of the day as --until", from)
	}
	if !conductor.Within(from, until, now) {
		return cli.Refuse(refusal.WrongState, fmt.Sprintf("nothing is started between %s and %s, and it is %s", until, from, now.Format("15:04")),
			"leave --from out to start now")
	}
	return nil
}

// lateWords says that a run is past its end.
func lateWords(a *cli.App, e conductor.Event) cli.Styled {
	return a.Paint(cli.Yellow, "--until has passed: nothing more is started; what runs has time until "+format.Clock(e.Until))
}
