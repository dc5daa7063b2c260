package setup

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/ferrus-go/ferrus/internal/cli"
	"github.com/ferrus-go/ferrus/internal/config"
	"github.com/ferrus-go/ferrus/internal/project/agreement"
	"github.com/ferrus-go/ferrus/internal/project/notify"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
)

// NotifyCommand is ferrus notify.
func NotifyCommand(a *cli.App) *cobra.Command {
	var test bool
	cmd := &cobra.Command{
		Use:   "notify [--test]",
		Short: "List the channels that notify you, and test them",
		Long: `Lists the channels of [notify] and says which of them failed when they were used
last. With --test it sends a message over each channel and says what happened.
The exit code of --test is 1 if a channel failed, and 3 if there is none.`,
		Example: `  ferrus notify
  ferrus notify --test
  FERRUS_NOTIFY_URL=ntfy://ntfy.sh/my-topic ferrus notify --test`,
		Annotations: cli.Reference(`A channel is named by its variable, or by its service and a digest of its URL.
URLs are secrets: they are never printed. Channels in ferrus.toml are used after
you agreed to them ("ferrus trust"); those in your own
~/.config/ferrus/config.toml need no agreement.`, "one object: channels[{channel at reason}]. Without a reason the channel works."),
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return runNotify(a, cmd.Context(), test) },
	}
	cmd.Flags().BoolVar(&test, "test", false, "send a message over each channel")
	return cmd
}

func runNotify(a *cli.App, ctx context.Context, test bool) error {
	if test {
		if err := a.RefuseAgent("notify --test"); err != nil {
			return err
		}
	}
	place, err := a.Place(ctx)
	if err != nil {
		return err
	}
	to, err := cli.Channels(place.Root)
	if errors.Is(err, agreement.ErrChannels) {
		return cli.Refuse(refusal.Untrusted, err.Error(), "run ferrus trust")
	}
	if err != nil {
		return err
	}
	box := notify.OpenOutbox(place.Root)
	var list []notify.Failure
	if test {
		list, err = sendTest(ctx, place.Root, to)
	} else {
		list, err = standing(box, to)
	}
	if err != nil {
		return err
	}
	return showChannels(a, list, test)
}

// sendTest sends a message over each channel of a project.
func sendTest(ctx context.Context, root string, to notify.Channels) ([]notify.Failure, error) {
	m := notify.Message{Title: "ferrus: a test", Env: []string{"FERRUS_EVENT=test", "FERRUS_ROOT=" + root, "FERRUS_ID=test"}}
	m.Text = notify.Text(root, "test", []notify.Part{{Own: "This is a test. Nothing waits for you."}}, []string{"ferrus status"})
	return notify.OpenOutbox(root).Test(ctx, to, m)
}

// tryChannels sends a test over the channels of a ferrus.toml that init has written, and shows what happened. One that fails stops
// nothing.
func tryChannels(a *cli.App, ctx context.Context, root string) error {
	to, err := cli.Channels(root)
	if err != nil {
		return err
	}
	list, err := sendTest(ctx, root, to)
	for _, ch := range list {
		switch {
		case a.JSON:
		case ch.Reason == "":
			a.ShowRow("notify", ch.Channel+": a test was sent")
		default:
			a.ShowRow("warning", a.Paint(cli.Yellow, "notify: "+ch.String()+"; ferrus notify --test tries again"))
		}
	}
	return err
}

// standing is how each channel did when it was used last.
func standing(box *notify.Outbox, to notify.Channels) ([]notify.Failure, error) {
	failed, err := box.Failures(to)
	var list []notify.Failure
	for _, ch := range to.List() {
		is := notify.Failure{Channel: ch.Name}
		for _, f := range failed {
			if f.Channel == ch.Name {
				is = f
			}
		}
		list = append(list, is)
	}
	return list, err
}

func showChannels(a *cli.App, list []notify.Failure, test bool) error {
	failed := 0
	for _, ch := range list {
		if ch.Reason != "" {
			failed++
		}
	}
	switch {
	case a.JSON:
		if err := a.PrintJSON(map[string]any{"channels": append([]notify.Failure{}, list...)}); err != nil {
			return err
		}
	case len(list) == 0 && test: // the error says so
	case len(list) == 0:
		a.Say("nobody is notified: [notify] of ferrus.toml names no channel\n")
	default:
		for _, ch := range list {
			switch {
			case ch.Reason != "":
				a.Say("%s\n", ch)
			case test:
				a.Say("%s: sent\n", ch.Channel)
			default:
				a.Say("%s\n", ch.Channel)
			}
		}
	}
	switch {
	case test && len(list) == 0:
		own, _ := config.PersonPath()
		return cli.Refuse(refusal.WrongState, "nothing was sent: there is no channel that notifies you",
			refusal.Say("name one in ferrus.toml and run ferrus trust, or in your own %s:\n%s", own, config.Lines("notify.desktop", true)))
	case test && failed > 0:
		return cli.ExitWith(cli.ExitFailure)
	}
	return nil
}
