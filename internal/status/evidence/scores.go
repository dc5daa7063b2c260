package evidence

import (
	"fmt"
	"strconv"

	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/status"
)

// A score is what [branches] score gave to the work once.
type score struct {
	event status.Event
	state.Score
}

// scoresOf are the scores of a task, oldest first.
func scoresOf(events []status.Event) []score {
	var list []score
	for _, p := range events {
		if p.Event == state.Scored {
			list = append(list, score{p, p.State.Score})
		}
	}
	return list
}

// file is the name of what the command printed, in the evidence.
func (s score) file() string { return "scores/" + strconv.FormatUint(s.event.Seq, 10) + ".log" }

// scoreTable lists the scores, "" when there are none.
func (d *Report) scoreTable() string {
	if len(d.scores) == 0 {
		return ""
	}
	text := "\n## The scores\n\nThe code that is judged can print the number.\n\n| entry | time | score | tree | log |\n|---|---|---|---|---|\n"
	for _, s := range d.scores {
		log := ""
		if _, ok := d.printed[s.file()]; ok {
			log = s.file()
		}
		text += fmt.Sprintf("| %d | %s | %s | %s | %s |\n", s.event.Seq, stamp(s.event.At), strconv.FormatFloat(s.Value, 'g', -1, 64), s.Tree, log)
	}
	return text
}
