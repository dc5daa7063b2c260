package pipeline

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/ferrus-go/ferrus/internal/config/workflow"
	"github.com/ferrus-go/ferrus/internal/platform/jsonx"
)

// DialogueFile is the dialogue of a run, on which its workers take turns.
const DialogueFile = "dialogue.json"

// A Dialogue is the content of dialogue.json. Only the file says whose turn it is.
type Dialogue struct {
	Question  string    `json:"question"`
	Inputs    []string  `json:"inputs"` // absolute paths
	Roles     []Speaker `json:"roles"`  // in their order
	Round     int       `json:"round"`
	MaxRounds int       `json:"max_rounds"` // below 0: until there is consensus
	Turn      string    `json:"turn"`       // who writes the last entry
	Dialogue  []Entry   `json:"dialogue"`
}

// A Speaker is a worker that takes turns, and its task.
type Speaker struct {
	Role string `json:"role"`
	Task string `json:"task"`
}

// An Entry is one turn. Its writer may change only Content and Consensus.
type Entry struct {
	Round     int       `json:"round"`
	Role      string    `json:"role"`
	Timestamp time.Time `json:"timestamp"`
	Content   string    `json:"content"`
	Consensus bool      `json:"consensus"`
}

// open returns the dialogue of a phase before its first turn. Inputs are names of files; the writer
// of the file makes paths of them.
func open(p workflow.Phase, question string) Dialogue {
	d := Dialogue{Question: question, Inputs: []string{}, MaxRounds: p.Rounds(), Dialogue: []Entry{}}
	seen := map[string]bool{}
	for _, k := range p.Workers {
		d.Roles = append(d.Roles, Speaker{k.Role, k.Task})
		for _, file := range k.Reads {
			if !seen[file] {
				d.Inputs = append(d.Inputs, file)
			}
			seen[file] = true
		}
	}
	return d
}

// DecodeDialogue reads a dialogue.json that ferrus wrote.
func DecodeDialogue(data []byte) (Dialogue, error) {
	var d Dialogue
	if _, faults := jsonx.Parse(data); faults != nil {
		return d, faults
	}
	if err := json.Unmarshal(data, &d); err != nil {
		return d, err
	}
	if len(d.Roles) == 0 {
		return d, fmt.Errorf("%s names nobody who takes turns", DialogueFile)
	}
	return d, nil
}

// Encode returns the content of dialogue.json.
func (d Dialogue) Encode() []byte {
	out, _ := indented(d) // nothing in it can fail
	return out
}

// Open reports whether a worker has the turn: the last entry waits for its content.
func (d Dialogue) Open() bool {
	n := len(d.Dialogue)
	return n > 0 && strings.TrimSpace(d.Dialogue[n-1].Content) == ""
}

// Agreed reports whether the last turn says that there is consensus.
func (d Dialogue) Agreed() bool {
	n := len(d.Dialogue)
	return n > 0 && !d.Open() && d.Dialogue[n-1].Consensus
}

// Over reports whether no turn is left: there is consensus, or all rounds are over.
func (d Dialogue) Over() bool {
	return !d.Open() && (d.Agreed() || d.MaxRounds > 0 && len(d.Dialogue) >= d.MaxRounds*len(d.Roles))
}

// Offer returns the dialogue with an empty entry for the worker whose turn is next.
func (d Dialogue) Offer(at time.Time) Dialogue {
	n := len(d.Dialogue)
	d.Round, d.Turn = n/len(d.Roles)+1, d.Roles[n%len(d.Roles)].Role
	d.Dialogue = append(d.Dialogue[:n:n], Entry{Round: d.Round, Role: d.Turn, Timestamp: whole(at)})
	return d
}

// Transcript returns the dialogue as Markdown.
func (d Dialogue) Transcript() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n", strings.Join(strings.Fields(d.Question), " "))
	round := 0
	for _, e := range d.Dialogue {
		if e.Round != round {
			round = e.Round
			fmt.Fprintf(&b, "\n## Round %d\n", round)
		}
		fmt.Fprintf(&b, "\n### %s\n\n%s\n", e.Role, strings.TrimSpace(e.Content))
	}
	end := fmt.Sprintf("No consensus after %s.", count(round, "round"))
	if d.Agreed() {
		end = fmt.Sprintf("Consensus in round %d, by %s.", round, d.Dialogue[len(d.Dialogue)-1].Role)
	}
	fmt.Fprintf(&b, "\n---\n\n%s\n", end)
	return b.String()
}
