package conductor

import (
	"path/filepath"

	"github.com/ferrus-go/ferrus/internal/engine/handover"
	"github.com/ferrus-go/ferrus/internal/project/notify"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/store"
)

// news are the states of which a person is notified: the kind of the notification, its title, and
// the commands that help.
var news = map[state.State]struct {
	kind, title string
	commands    []string
}{
	state.AwaitingHuman: {"question", "a question waits for you", []string{`ferrus answer "..."`}},
	state.Complete:      {"complete", "the work was approved", []string{"ferrus diff"}},
	state.Failed:        {"failed", "the task has failed", []string{`ferrus reopen -m "..."`, "ferrus log"}},
}

// notify tells a person by the channels of [notify] that the task waits for them or has ended, once.
func (c *conductor) notify(f Facts) {
	t := f.Task
	what, ok := news[t.State]
	if !ok {
		return
	}
	place := c.e.Place()
	id := notify.TaskID(t.TaskID, what.kind, t.Top().ID, t.Since)
	own, text, commands := "", t.FailureReason, what.commands
	if t.State == state.AwaitingHuman {
		own = t.Top().By + " asks:"
		var err error
		if text, err = store.Text(c.e.Store(), f.Snapshot, state.QuestionDoc); err != nil {
			c.Log.Warn("question not read", "error", err)
		}
		if _, options := handover.SplitOptions(text); len(options) > 0 {
			commands = []string{"ferrus answer 1"}
		}
	}
	var help []string
	for _, command := range commands {
		help = append(help, refusal.CommandOn(place.Branch, command))
	}
	where := filepath.Base(place.Root)
	if place.Branch != "" {
		where += ", branch " + place.Branch
	}
	item := notify.Item{ID: id, Subject: notify.TaskSubject(place.Branch), Message: notify.Message{
		Title: "ferrus: " + what.title + " (" + where + ")",
		Text:  notify.Text(place.Root, id, []notify.Part{{Others: t.Title}, {Own: own, Others: text}}, help),
		Env: []string{"FERRUS_EVENT=" + what.kind, "FERRUS_ROOT=" + place.Root, "FERRUS_TASK=" + t.TaskID, "FERRUS_TITLE=" + t.Title,
			"FERRUS_STATE=" + string(t.State), "FERRUS_QUESTION=" + t.Top().ID, "FERRUS_BRANCH=" + place.Branch, "FERRUS_ID=" + id},
	}}
	c.tellPerson(f, item)
}

// tellPerson sends an item by the channels of [notify]. The run does not wait for services.
func (c *conductor) tellPerson(f Facts, item notify.Item) {
	failed := func(err error) { c.Log.Warn("a person was not notified", "error", err) }
	env, err := c.e.Environment(f.Snapshot)
	if err != nil {
		failed(err)
		return
	}
	place := c.e.Place()
	to, err := notify.ChannelsOf(place.Root, c.e.Project(), f.Gate.Notify.Command, env)
	if err != nil {
		c.Log.Warn("not every channel of [notify] is used", "error", err)
	}
	if err := notify.OpenOutbox(place.Root).Post(to, item, failed); err != nil {
		failed(err)
	}
}

// goesOn drops notifications that were not sent: the task needs nobody now.
func (c *conductor) goesOn() {
	place := c.e.Place()
	if err := notify.OpenOutbox(place.Root).Withdraw(notify.TaskSubject(place.Branch)); err != nil {
		c.Log.Warn("old notifications were not dropped", "error", err)
	}
}
