package pipeline

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ferrus-go/ferrus/internal/pipeline"
	"github.com/ferrus-go/ferrus/internal/pipeline/run"
	"github.com/ferrus-go/ferrus/internal/platform/format"
)

// A EventJSON is something that was done about a run, for a program.
type EventJSON struct {
	Kind   string          `json:"kind"` // event
	At     time.Time       `json:"at"`
	Rev    int             `json:"rev"`
	Event  string          `json:"event"`
	Row    string          `json:"row,omitempty"`
	Roles  []string        `json:"roles,omitempty"`
	Runs   []string        `json:"runs,omitempty"` // of them, those that are commands
	Reason pipeline.Reason `json:"reason,omitempty"`
	Why    string          `json:"why,omitempty"`
	By     string          `json:"by,omitempty"`
	Tell   string          `json:"tell,omitempty"`
	Run    string          `json:"run"`
	State  pipeline.State  `json:"state"`
}

func deedOf(name string, l run.Line) EventJSON {
	return EventJSON{"event", l.At, l.Rev, l.Event, l.Row, l.Roles, l.Runs, l.Reason, l.Why, l.By, l.Tell, name, l.Status.State}
}

// quiet are events that a person need not see: others say the same.
var quiet = []string{"launch", string(pipeline.Archive), string(pipeline.Write), string(pipeline.Kill)}

// eventText is a line of a run's journal for a person, "" when it says nothing.
func eventText(l run.Line) string {
	switch {
	case l.Tell != "":
		return l.Tell
	case slices.Contains(quiet, l.Event):
		return ""
	case l.Event == "observed":
		return seen(l)
	case l.Event == string(pipeline.Finish) && l.Status.CurrentPhase > 0:
		return fmt.Sprintf("phase %d (%s) is done", l.Status.CurrentPhase, l.Status.Phases[l.Status.CurrentPhase-1].ID)
	}
	text := strings.TrimSpace(l.Event + " " + strings.Join(l.Roles, ", "))
	if why := cmp.Or(l.Why, string(l.Reason)); why != "" {
		text += ": " + why
	}
	return text
}

// seen says what a look at the files and the workers has shown.
func seen(l run.Line) string {
	var parts []string
	for _, role := range l.Roles {
		if k := l.Status.Worker(role); k != nil {
			text := role + " " + became(*k)
			if k.Reason != "" {
				text += ", " + strings.ReplaceAll(string(k.Reason), "_", " ")
			}
			parts = append(parts, text)
		}
	}
	return strings.Join(parts, "; ")
}

// became says what has become of a worker.
func became(k pipeline.WorkerStatus) string {
	switch k.Status {
	case pipeline.Completed:
		return fmt.Sprintf("wrote %s, %s", k.Output, format.Count(int(k.Bytes), "byte", "bytes"))
	case pipeline.Failed:
		return "failed"
	case pipeline.Running:
		return "is running"
	}
	return "has not started"
}
