package cli

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ferrus-go/ferrus/internal/config"
	"github.com/ferrus-go/ferrus/internal/config/trust"
	"github.com/ferrus-go/ferrus/internal/project/agreement"
	"github.com/ferrus-go/ferrus/internal/project/notify"
	"github.com/ferrus-go/ferrus/internal/status"
)

// Channels returns the channels by which the person of the project at root may be notified, as the project's files are now: without
// those that nobody has agreed to. The error says why some are left out.
func Channels(root string) (notify.Channels, error) {
	record, err := trust.Open(root)
	if err != nil {
		return notify.Channels{}, err
	}
	command, refused := "", error(nil)
	if conf, err := config.LoadFor(filepath.Join(root, config.FileName)); err == nil {
		command, refused = agreement.NotifyCommand(record, root, conf)
	}
	to, err := notify.ChannelsOf(root, record, command, nil)
	return to, cmp.Or(err, refused)
}

// untold are the needs of which nobody is notified here: a tick of a pipeline does that, the conductor has told that work is
// approved, and an agent that no run starts was stopped by a person.
var untold = []status.NeedKind{status.NeedPipeline, status.NeedDelivery, status.NeedMerge, status.NeedStopped}

// atWork are the needs of which the conductor of a task notifies as soon as they arise, as this event. A task without one, whose
// agents a person has started, has nobody else who does.
var atWork = map[status.NeedKind]string{status.NeedAnswer: "question", status.NeedBudget: "question", status.NeedFailed: "failed"}

// Notifies sends again, beside the work of a command on the project at root, what could not be sent before. Call the function that it
// returns at the end of the command: it notifies the person of everything that needs them and was not sent yet. Neither fails a command:
// ferrus doctor says which channels do not work. Main waits for what is under way.
func (a *App) Notifies(ctx context.Context, root string) (end func()) {
	to, _ := Channels(root) // doctor says why some are left out
	if len(to.List()) > 0 {
		notify.OpenOutbox(root).SendBeside(to, unsent)
	}
	return func() { a.tellNeeds(ctx, root) }
}

func unsent(err error) { Warnings(os.Stderr).Warn("not every notification was sent", "error", err) }

func (a *App) tellNeeds(ctx context.Context, root string) {
	to, _ := Channels(root)
	if len(to.List()) == 0 || ctx.Err() != nil {
		return
	}
	var needs []status.Need
	v, err := status.ReadOverview(ctx, root, status.Options{Open: a.OpenToReadAt, Sizes: true})
	if err == nil && v.Foreign == nil { // state that was not made here sends nothing
		needs = v.Needs
	}
	box := notify.OpenOutbox(root)
	for _, n := range needs {
		if !slices.Contains(untold, n.Kind) {
			err = errors.Join(err, box.Post(to, itemOf(root, n), unsent))
		}
	}
	box.SendBeside(to, unsent) // what is due again, too
	if err != nil {
		unsent(err)
	}
}

// itemOf is the notification of a need.
func itemOf(root string, n status.Need) notify.Item {
	where := filepath.Base(root)
	if n.Branch != "" {
		where += ", branch " + n.Branch
	}
	item := notify.Item{ID: n.ID, Subject: "need " + n.ID}
	event := string(n.Kind)
	if as, ok := atWork[n.Kind]; ok {
		task, question, _ := strings.Cut(n.ID, ":")
		if event = as; as != "question" {
			question = ""
		}
		item.ID, item.Subject = notify.TaskID(task, event, question, n.Since), notify.TaskSubject(n.Branch)
	}
	text := notify.Part{Own: n.Text, Others: strings.Join(n.Options, "\n")}
	if n.By != "" { // what is asked are words of others
		text = notify.Part{Own: n.By + " asks:", Others: strings.Join(append([]string{n.Text}, n.Options...), "\n")}
	}
	item.Message = notify.Message{
		Title: "ferrus: " + event + " (" + where + ")",
		Text:  notify.Text(root, item.ID, []notify.Part{{Others: n.Title}, text}, []string{n.Command}),
		Env: []string{"FERRUS_EVENT=" + event, "FERRUS_ROOT=" + root, "FERRUS_TITLE=" + n.Title, "FERRUS_BRANCH=" + n.Branch,
			"FERRUS_ID=" + item.ID},
	}
	return item
}
