package run

import (
	"context"
	"strconv"

	"github.com/ferrus-go/ferrus/internal/platform/notify"
)

// news tells what there is to tell, unless somebody else is just doing that: he, or the next tick, tells the rest.
func (f *Folder) news(ctx context.Context, o Options) {
	if lock, err := f.hold(toldLock); err == nil {
		defer lock.Close()
		f.spread(ctx, o)
	}
}

// spread tells a person by the command of [notify] what the journal has to tell. It is written down only then up to where:
// what is told twice is better than what is never told. The caller holds the lock of it.
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
			o.Log.Warn("not written down that a person was notified", "error", err)
			return
		}
	}
}
