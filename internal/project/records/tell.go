package records

import (
	"path/filepath"

	"github.com/ferrus-go/ferrus/internal/project/notify"
)

// Item is the notification of the limit: a person gets it once, whichever task or pipeline of the project at root waits for midnight.
func (l Limit) Item(root string) notify.Item {
	id := l.ID()
	return notify.Item{ID: id, Subject: "need day", Message: notify.Message{
		Title: "ferrus: day (" + filepath.Base(root) + ")",
		Text:  notify.Text(root, id, []notify.Part{{Own: l.Need()}}, []string{Allow}),
		Env:   []string{"FERRUS_EVENT=day", "FERRUS_ROOT=" + root, "FERRUS_TITLE=", "FERRUS_BRANCH=", "FERRUS_ID=" + id},
	}}
}

// Why says in one sentence why no agent starts, and what lifts the limit.
func (l Limit) Why() string { return l.Text + lifted }

// lifted follows a sentence about a limit.
const lifted = " " + Allow + " lets them start"

// Notice is Need, and what lifts the limit.
func (l Limit) Notice() string { return l.Need() + lifted }

// Need says in two sentences what the limit means for the project.
func (l Limit) Need() string {
	return l.Text + " No agent starts before " + l.Until.Format("2006-01-02 15:04 MST") + "."
}
