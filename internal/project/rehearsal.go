package project

import (
	"encoding/json"
	"path/filepath"
	"time"

	"github.com/ferrus-go/ferrus/internal/platform/rootfs"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
)

// A Rehearsal is the result of the newest rehearsal of a project: its set-up and its checks, in a fresh work tree.
type Rehearsal struct {
	Config   string    `json:"config"` // what was rehearsed, as [config.Config.Rehearsed] names it
	Passed   bool      `json:"passed"`
	Failed   Failure   `json:"failed,omitempty"`
	Accepted bool      `json:"accepted,omitempty"` // a person allows agents all the same
	Made     []string  `json:"made,omitempty"`     // by the set-up, the first of it: files and folders, relative to the top of the repository
	At       time.Time `json:"at"`
}

// maxMade is how much of what a set-up made is recorded.
const maxMade = 16

// Absent returns what a set-up that was rehearsed with the configuration makes and the folder of the project has not: nobody has run it
// there. It is nil where a person has said that agents may start all the same.
func (p Place) Absent(config string) (names []string) {
	r := At(p.Root, "").Rehearsal()
	if r.Config != config || r.Accepted {
		return nil
	}
	for _, name := range r.Made {
		if !rootfs.Exists(filepath.Join(Top(p.Root), filepath.FromSlash(name))) {
			names = append(names, name)
		}
	}
	return names
}

// A Failure is why a rehearsal has not passed.
type Failure string

// The failures of a rehearsal.
const (
	SetUpFailed Failure = "setup"
	ChecksWrote Failure = "written" // they passed, and wrote files that they judge
	NotTried    Failure = "untried" // ferrus init wrote the commands, and nobody ran them
)

// NotPassed reports whether there was a rehearsal, or should have been one, and it has not passed.
func (r Rehearsal) NotPassed() bool { return !r.Passed && !r.At.IsZero() }

// Against says why no agent is to be started with a configuration, as [config.Config.Rehearsed] names it; "" where nothing is known
// against it. Commands that were never tried are known by their name alone: others in their place were written by a person.
func (r Rehearsal) Against(config string) string {
	switch {
	case !r.NotPassed(), r.Config == config && r.Accepted, r.Config != config && r.Failed == NotTried:
		return ""
	case r.Config != config:
		return "the rehearsal failed, and ferrus.toml has changed since"
	case r.Failed == NotTried:
		return "the checks were never tried"
	case r.Failed == SetUpFailed:
		return "the set-up failed in the rehearsal"
	case r.Failed == ChecksWrote:
		return "the checks wrote files that they judge in the rehearsal"
	}
	return "the checks failed in the rehearsal"
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
	r.Made = r.Made[:min(len(r.Made), maxMade)]
	home, err := p.OpenHome()
	if err != nil {
		return err
	}
	defer home.Close()
	text, err := json.Marshal(r)
	for len(text) >= maxRehearsal && len(r.Made) > 0 { // it could not be read back
		r.Made = r.Made[:len(r.Made)/2]
		text, err = json.Marshal(r)
	}
	if err == nil {
		err = home.WriteFile(rehearsalName, append(text, '\n'), 0o600)
	}
	return refusal.Folder(err)
}
