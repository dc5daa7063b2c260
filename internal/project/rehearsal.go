package project

import (
	"encoding/json"
	"time"

	"github.com/ferrus-go/ferrus/internal/state/refusal"
)

// A Rehearsal is the result of the newest rehearsal of a project: its set-up and its checks, in a fresh work tree.
type Rehearsal struct {
	Config string    `json:"config"` // what was rehearsed, as [config.Config.Rehearsed] names it
	Passed bool      `json:"passed"`
	At     time.Time `json:"at"`
}

const (
	rehearsalName = "rehearsal.json"
	maxRehearsal  = 4 << 10 // bytes
)

// Rehearsal returns the newest rehearsal of the project; the zero value if there was none, or if its record cannot be read.
func (p Place) Rehearsal() Rehearsal {
	home, err := p.OpenHome()
	if err != nil {
		return Rehearsal{}
	}
	defer home.Close()
	text, err := home.ReadFile(rehearsalName, maxRehearsal)
	var r Rehearsal
	if err != nil || json.Unmarshal(text, &r) != nil {
		return Rehearsal{}
	}
	return r
}

// Rehearsed records a rehearsal of the project in place of the one before.
func (p Place) Rehearsed(r Rehearsal) error {
	home, err := p.OpenHome()
	if err != nil {
		return err
	}
	defer home.Close()
	text, err := json.Marshal(r)
	if err == nil {
		err = home.WriteFile(rehearsalName, append(text, '\n'), 0o600)
	}
	return refusal.Folder(err)
}
