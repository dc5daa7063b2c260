package run

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/ferrus-go/ferrus/internal/config/trust"
	"github.com/ferrus-go/ferrus/internal/project/notify"
)

// news sends pending notifications, unless another process is doing that. Then that process, or the
// next tick, sends the rest.
func (f *Folder) news(ctx context.Context, o Options) {
	if lock, err := f.hold(toldLock); err == nil {
		defer lock.Close()
		f.spread(ctx, o)
	}
}

// spread sends the notifications of the journal to a person by the channels of [notify]. It records
// afterwards up to which line it did: the outbox knows what it was given already. The caller holds
// the lock of the notifications.
func (f *Folder) spread(ctx context.Context, o Options) {
	if !f.Workflow.Notifies() {
		return
	}
	text, err := f.slurp(toldFile)
	if err != nil {
		return
	}
	upTo, _ := strconv.Atoi(string(text))
	lines, err := f.Lines()
	if err != nil {
		return
	}
	lines = slices.DeleteFunc(lines, func(l Line) bool { return l.Rev <= upTo || l.Tell == "" })
	if len(lines) == 0 {
		return
	}
	to := f.channels(o)
	for _, l := range lines {
		o.at("before tell")
		failed := func(err error) { o.Log.Warn("a person was not notified", "error", err) }
		if err := notify.OpenOutbox(f.Settings.Root).Post(to, f.item(l), failed); err != nil {
			failed(err)
			return
		}
		o.at("after tell")
		if err := f.replace(toldFile, []byte(strconv.Itoa(l.Rev)), 0o600); err != nil {
			o.Log.Warn("the notification of a person was not recorded", "error", err)
			return
		}
	}
}

// channels are those of the project, with the command that the run has frozen.
func (f *Folder) channels(o Options) notify.Channels {
	record, err := trust.Open(f.Settings.Root)
	if err != nil {
		o.Log.Warn("not every channel of [notify] is used", "error", err)
		return notify.Channels{Command: f.Settings.Notify.Command, Dir: f.Settings.Root}
	}
	to, err := notify.ChannelsOf(f.Settings.Root, record, f.Settings.Notify.Command, nil)
	if err != nil {
		o.Log.Warn("not every channel of [notify] is used", "error", err)
	}
	return to
}

// item is the notification of a line of the journal.
func (f *Folder) item(l Line) notify.Item {
	id := fmt.Sprint(f.Name(), " ", l.Rev)
	return notify.Item{ID: id, Subject: "pipeline " + f.Name(), Message: notify.Message{
		Title: "ferrus: pipeline " + f.Name(),
		Text:  notify.Text(f.Settings.Root, id, []notify.Part{{Own: l.Tell}}, []string{"ferrus pipeline status " + f.Name()}),
		Env: []string{"FERRUS_EVENT=pipeline", "FERRUS_ROOT=" + f.Settings.Root, "FERRUS_PIPELINE=" + f.Workflow.Name, "FERRUS_DELIVERY=" + f.Name(),
			"FERRUS_STATE=" + string(l.Status.State), "FERRUS_TITLE=" + l.Status.Topic, "FERRUS_ID=" + id},
	}}
}
