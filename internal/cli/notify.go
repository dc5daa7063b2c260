package cli

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ferrus-go/ferrus/internal/agreement"
	"github.com/ferrus-go/ferrus/internal/config"
	"github.com/ferrus-go/ferrus/internal/outbox"
	"github.com/ferrus-go/ferrus/internal/platform/notify"
	"github.com/ferrus-go/ferrus/internal/status"
	"github.com/ferrus-go/ferrus/internal/trust"
)

// Channels returns the channels by which the person of the project at root may be notified, as the project's files are now: without
// those that nobody has agreed to. The error says why some are left out.
func Channels(root string) (notify.Channels, error) {
	record, err := trust.Open(root)
	if err != nil {
		return notify.Channels{}, err
	}
	command := ""
	if conf, err := config.LoadFor(filepath.Join(root, config.FileName)); err == nil {
		if ok, err := record.Agreed(agreement.Executable(root, conf)); ok && err == nil {
			command = conf.Notify.Command
		}
	}
	return outbox.Channels(root, record, command, nil)
}

// toldAtWork are the needs of which a person is notified by who works on the task or the pipeline, as soon as they
// arise; or, of approved work, that it is approved. An agent that no run starts was stopped by a person.
var toldAtWork = []status.NeedKind{status.NeedAnswer, status.NeedBudget, status.NeedFailed, status.NeedPipeline, status.NeedDelivery, status.NeedMerge, status.NeedStopped}

// TellNeeds notifies the person of the project at root of what needs them now and was not told yet, and sends again what
// could not be sent. It never fails a command: ferrus doctor says which channels do not work.
func (a *App) TellNeeds(ctx context.Context, root string) {
	to, _ := Channels(root) // doctor says why some are left out
	if len(to.List()) == 0 || ctx.Err() != nil {
		return
	}
	var needs []status.Need
	v, err := status.ReadOverview(ctx, root, status.Options{Open: a.OpenToReadAt, Sizes: true})
	if err == nil {
		needs = v.Needs
	}
	box := outbox.Open(root)
	for _, n := range needs {
		if !slices.Contains(toldAtWork, n.Kind) {
			err = errors.Join(err, box.Tell(ctx, to, itemOf(root, n)))
		}
	}
	if err = errors.Join(err, box.Send(ctx, to)); err != nil {
		Warnings(a.Err).Warn("not every notification was sent", "error", err)
	}
}

// itemOf is the notification of a need.
func itemOf(root string, n status.Need) outbox.Item {
	where := filepath.Base(root)
	if n.Branch != "" {
		where += ", branch " + n.Branch
	}
	return outbox.Item{ID: n.ID, Subject: "need " + n.ID, Message: notify.Message{
		Title: "ferrus: " + string(n.Kind) + " (" + where + ")",
		Text:  outbox.Text(root, n.ID, []string{n.Title, n.Text, strings.Join(n.Options, "\n")}, []string{n.Command}),
		Env: []string{"FERRUS_EVENT=" + string(n.Kind), "FERRUS_ROOT=" + root, "FERRUS_TITLE=" + n.Title, "FERRUS_BRANCH=" + n.Branch,
			"FERRUS_ID=" + n.ID},
	}}
}
