package pipeline

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/ferrus-go/ferrus/internal/platform/jsonx"
)

// A Verdict is the result of checking a turn.
type Verdict struct {
	Dialogue Dialogue // with the turn, when it is good
	Empty    bool     // nothing was written: no turn
	Touched  []string // what was changed that may not be, as JSON pointers; "" is the file as a whole
	Problem  string   // why it cannot be read
}

// Good reports whether the turn counts.
func (v Verdict) Good() bool { return !v.Empty && len(v.Touched) == 0 }

func (v Verdict) String() string {
	switch {
	case v.Problem != "":
		return v.Problem
	case len(v.Touched) > 0:
		return "it changed " + list(v.Touched) + "; only content and consensus of the last entry are its own"
	case v.Empty:
		return "it left the content of the last entry empty"
	}
	return "it is good"
}

// Judge reports whether only content and consensus of the last entry changed between before, which
// ferrus wrote, and after. The layout of the file does not matter. A nil after means that the file
// is missing.
func Judge(before, after []byte) Verdict {
	b, faults := jsonx.Parse(before)
	d, err := DecodeDialogue(before)
	if faults != nil || err != nil || !d.Open() {
		return Verdict{Touched: []string{""}, Problem: "ferrus's own copy of the dialogue has no open turn"}
	}
	if after == nil {
		return Verdict{Touched: []string{""}, Problem: DialogueFile + " is gone"}
	}
	a, faults := jsonx.Parse(after)
	if faults == nil {
		faults = a.Faults
	}
	if len(faults) > 0 {
		return Verdict{Touched: []string{""}, Problem: faults.Error()}
	}
	last := fmt.Sprintf("/dialogue/%d", len(d.Dialogue)-1)
	own := []string{last + "/content", last + "/consensus"}
	v := Verdict{Touched: differ(b.Root, a.Root, "", own)}
	if len(v.Touched) > 0 {
		return v
	}
	if err := json.Unmarshal(after, &v.Dialogue); err != nil { // content is no text, or consensus no bool
		return Verdict{Touched: []string{last}, Problem: last + ": content must be a string, and consensus true or false"}
	}
	v.Empty = v.Dialogue.Open()
	return v
}

// differ returns the pointers at which two values are not the same, but for these. The order of keys is no difference.
func differ(a, b jsonx.Node, at string, but []string) []string {
	if slices.Contains(but, at) {
		if b.Token == nil { // null would be read as what was there before
			return []string{at}
		}
		return nil
	}
	if a.Token != b.Token {
		return []string{at}
	}
	var found []string
	switch {
	case a.Is('{'):
		for i, k := range a.Keys {
			here := at + "/" + jsonx.Escape(k)
			if j := slices.Index(b.Keys, k); j >= 0 {
				found = append(found, differ(a.Items[i], b.Items[j], here, but)...)
			} else {
				found = append(found, here)
			}
		}
		for _, k := range b.Keys {
			if !slices.Contains(a.Keys, k) {
				found = append(found, at+"/"+jsonx.Escape(k))
			}
		}
	case a.Is('['):
		for i := range max(len(a.Items), len(b.Items)) {
			here := fmt.Sprintf("%s/%d", at, i)
			if i < len(a.Items) && i < len(b.Items) {
				found = append(found, differ(a.Items[i], b.Items[i], here, but)...)
			} else {
				found = append(found, here)
			}
		}
	}
	return found
}
