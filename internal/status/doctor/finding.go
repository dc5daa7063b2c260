package doctor

import "github.com/ferrus-go/ferrus/internal/state/refusal"

// A Level is how bad a finding is.
type Level string

const (
	OK      Level = "ok"
	Note    Level = "note" // worth knowing
	Trouble Level = "trouble"
)

// A Finding is what a check has shown. One without a text is not shown: there was nothing to check.
type Finding struct {
	Check  string      `json:"check"`
	Level  Level       `json:"level"`
	Text   string      `json:"text"`
	Remedy refusal.Own `json:"mend,omitempty"`  // what helps
	Fixed  string      `json:"fixed,omitempty"` // what was done about it

	Corrupt bool `json:"-"` // the journal is damaged, or was not made here
}

// Fine, Noted and Bad return a finding of each level.
func Fine(text string) Finding { return Finding{Level: OK, Text: text} }
func Noted(text string, remedy refusal.Own) Finding {
	return Finding{Level: Note, Text: text, Remedy: remedy}
}
func Bad(text string, remedy refusal.Own) Finding {
	return Finding{Level: Trouble, Text: text, Remedy: remedy}
}
