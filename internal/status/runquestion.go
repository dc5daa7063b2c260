package status

import (
	"time"

	"github.com/ferrus-go/ferrus/internal/engine/handover"
	"github.com/ferrus-go/ferrus/internal/pipeline"
	"github.com/ferrus-go/ferrus/internal/platform/format"
)

// A RunQuestion is an open question of a worker of a run.
type RunQuestion struct {
	ID      string    `json:"id"`
	By      string    `json:"by"` // the role of the worker
	At      time.Time `json:"at"`
	Text    string    `json:"text"`
	Options []string  `json:"options,omitempty"`
	Command string    `json:"command"` // that answers it
}

// openQuestions are those of a run.
func openQuestions(name string, facts pipeline.Facts) []RunQuestion {
	var list []RunQuestion
	for _, q := range facts.Open() {
		text, options := handover.SplitOptions(q.Text)
		list = append(list, RunQuestion{q.ID, q.Role, q.At, text, options, answerCommand(name, q.ID, options)})
	}
	return list
}

// answerCommand answers a question of a run.
func answerCommand(name, id string, options []string) string {
	return "ferrus answer --run " + name + " " + id + answerWord(options)
}

// personWord is what of a person the run waits for.
func (l *RunStatus) personWord() string {
	if len(l.Questions) > 0 {
		return "your answer"
	}
	return "you"
}

// questionNeeds are the open questions of a run, as needs.
func (u RunSummary) questionNeeds() []Need {
	var list []Need
	for _, q := range u.questions {
		list = append(list, Need{ID: "run:" + u.Run + ":" + q.ID, Kind: NeedAnswer, Run: u.Run, Title: format.Line(u.Topic), Since: q.At,
			Text: firstLine(q.Text), Options: q.Options, Command: q.Command, By: format.Line(q.By)})
	}
	return list
}
