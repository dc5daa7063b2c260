package run

import (
	"context"

	"github.com/ferrus-go/ferrus/internal/pipeline"
	"github.com/ferrus-go/ferrus/internal/project/notify"
	"github.com/ferrus-go/ferrus/internal/project/records"
)

// decide is [pipeline.Decide], but that no agent is started while a limit of the day is used up: then the run waits for midnight.
func (f *Folder) decide(facts pipeline.Facts) (pipeline.Action, error) {
	a := pipeline.Decide(facts)
	if !a.Agents(f.Workflow) {
		return a, nil
	}
	day, err := records.UsedUp(context.Background(), f.Settings.Root, facts.Now)
	if err == nil && day.Text != "" {
		a = pipeline.Action{Do: pipeline.Wait, Row: pipeline.DayRow, Phase: a.Phase, Roles: a.Roles, Why: day.Why(), Until: day.Until}
	}
	return a, err
}

// tellDay notifies the person, once for the project and the day, if an action waits for the end of a limit.
func (f *Folder) tellDay(o Options, a pipeline.Action) {
	if a.Row != pipeline.DayRow {
		return
	}
	day, err := records.UsedUp(context.Background(), f.Settings.Root, o.Now())
	if err == nil && day.Text != "" {
		failed := func(err error) { o.Log.Warn("a person was not notified", "error", err) }
		err = notify.OpenOutbox(f.Settings.Root).Post(f.channels(o), day.Item(f.Settings.Root), failed)
	}
	if err != nil {
		o.Log.Warn("a person was not notified", "error", err)
	}
}
