//go:build unix

package tools

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/project/queue"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/store"
)

// TestAQueuedTaskWaitsForAPerson: it is in the queue, and the machine is as it was.
func TestAQueuedTaskWaitsForAPerson(t *testing.T) {
	t.Parallel()
	c := newCast(t, newWorld)
	for _, scene := range []func(*cast){func(*cast) {}, working} {
		scene(c)
		before := c.disk()
		r := c.supervisor.do("queue_task", nil)
		if r.Queued != "another-thing" || r.Queue != 1 || !strings.Contains(r.Message, "1 task waits. A person starts them: "+project.At(c.dir, "").RunAll("N")) {
			t.Errorf("%+v", r)
		}
		if it, err := queue.Find(filepath.Join(c.dir, ".ferrus"), "another-thing"); it.Text != samples["queue_task"]["text"] {
			t.Errorf("%q, %v", it.Text, err)
		}
		if again := c.supervisor.do("queue_task", nil); !again.Repeated || again.Queued != r.Queued || again.Queue != 1 || again.Message != r.Message {
			t.Errorf("the same again: %+v", again)
		}
		if c.disk() != before {
			t.Error("the machine has changed")
		}
	}
	for _, want := range []string{"fix", "fix-2"} {
		if r := c.supervisor.do("queue_task", map[string]any{"text": "Do " + want, "name": "fix"}); r.Queued != want || r.Repeated {
			t.Errorf("%+v", r)
		}
	}
	if r := c.supervisor.do("queue_task", map[string]any{"text": "Do fix", "name": "repair"}); r.Queued != "repair" || r.Queue != 4 || !strings.Contains(r.Message, "4 tasks wait") {
		t.Errorf("%+v", r)
	}
}

// TestWhatCannotBeQueuedIsRefused.
func TestWhatCannotBeQueuedIsRefused(t *testing.T) {
	t.Parallel()
	c := newCast(t, newWorld)
	for _, bad := range []struct {
		code       refusal.Code
		text, name string
	}{{refusal.InvalidInput, "t", "../etc"}, {refusal.InvalidInput, "t", "a b"}, {refusal.InvalidInput, " ", ""}, {refusal.TooLarge, strings.Repeat("x", store.MaxDoc+1), ""}} {
		if r := c.supervisor.refused(bad.code, "queue_task", map[string]any{"text": bad.text, "name": bad.name}); r.Next != "queue_task" {
			t.Errorf("next is %s", r.Next)
		}
	}
	if _, err := os.Lstat(filepath.Join(c.dir, ".ferrus", "queue")); err == nil {
		t.Error("there is a queue")
	}
}
