package conductor

import (
	"context"
	"fmt"
	"time"

	"github.com/ferrus-go/ferrus/internal/platform/notify"
	"github.com/ferrus-go/ferrus/internal/rootfs"
	"github.com/ferrus-go/ferrus/internal/state"
)

// notified is the file with the last notification, so that the next conductor does not repeat it.
// It is written after the command has run: a repeated notification is better than a lost one.
const notified = "notified"

// notify runs the command of [notify] when the task waits for a person or has ended.
func (c *conductor) notify(f Facts) {
	t := f.Task
	kind := map[state.State]string{state.AwaitingHuman: "question", state.Complete: "complete", state.Failed: "failed"}[t.State]
	if f.Gate.Notify.Command == "" || kind == "" {
		return
	}
	// The key does not contain the number of the newest event: others may happen while a person
	// thinks.
	key := fmt.Sprintf("%s %s %s %s\n", t.TaskID, kind, t.Top().ID, t.Since.Format(time.RFC3339Nano))
	path := c.e.Store().Path(liveDir, notified)
	if was, err := lastTold(path); err == nil && was == key {
		return
	}
	text := t.Title
	if t.State == state.AwaitingHuman {
		text, _ = c.e.Store().Text(f.Snapshot, state.QuestionDoc)
	} else if t.FailureReason != "" {
		text += "\n" + t.FailureReason
	}
	env, err := c.e.Environment(f.Snapshot)
	if err != nil {
		c.Log.Warn("a person was not notified", "error", err)
		return
	}
	err = notify.Run(context.Background(), f.Gate.Notify.Command, c.e.Place().Root, text, env, "FERRUS_EVENT="+kind, "FERRUS_ROOT="+c.e.Place().Root,
		"FERRUS_TASK="+t.TaskID, "FERRUS_TITLE="+t.Title, "FERRUS_STATE="+string(t.State), "FERRUS_QUESTION="+t.Top().ID)
	if err != nil {
		c.Log.Warn("a person was not notified", "error", err)
	}
	if err := noteTold(path, key); err != nil {
		c.Log.Warn("the notification of a person was not recorded", "error", err)
	}
}

// lastTold returns the key of the last notification.
func lastTold(path string) (string, error) {
	root, name, err := rootfs.For(path)
	if err != nil {
		return "", err
	}
	defer root.Close()
	text, err := root.ReadFile(name, maxHolder)
	return string(text), err
}

// noteTold records the key of the last notification.
func noteTold(path, key string) error {
	root, name, err := rootfs.For(path)
	if err != nil {
		return err
	}
	defer root.Close()
	return root.WriteFile(name, []byte(key), 0o600)
}
