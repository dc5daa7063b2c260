package run

import (
	"context"
	"strconv"

	"github.com/ferrus-go/ferrus/internal/platform/notify"
)

// news sends pending notifications, unless another process is doing that. Then that process, or the
// next tick, sends the rest.
func (f *Folder) news(ctx context.Context, o Options) {
	if lock, err := f.hold(toldLock); err == nil {
		defer lock.Close()
		f.spread(ctx, o)
	}
}

// spread sends the notifications of the journal to a person by the command of [notify]. It records
// its progress afterwards: a repeated notification is better than a lost one. The caller holds the
// lock of the notifications.
func (f *Folder) spread(ctx context.Context, o Options) {
	if f.Settings.Notify.Command == "" || !f.Workflow.Notifies() {
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
	for _, l := range lines {
		if l.Rev <= upTo {
			continue
		}
		if l.Tell != "" {
			o.at("before tell")
			err := notify.Run(ctx, f.Settings.Notify.Command, f.Settings.Root, l.Tell, nil, "FERRUS_EVENT=pipeline", "FERRUS_ROOT="+f.Settings.Root,
				"FERRUS_PIPELINE="+f.Workflow.Name, "FERRUS_DELIVERY="+f.Name(), "FERRUS_STATE="+string(l.Status.State), "FERRUS_TITLE="+l.Status.Topic)
			if err != nil {
				o.Log.Warn("a person was not notified", "error", err)
			}
			o.at("after tell")
		}
		if err := f.replace(toldFile, []byte(strconv.Itoa(l.Rev)), 0o600); err != nil {
			o.Log.Warn("the notification of a person was not recorded", "error", err)
			return
		}
	}
}
