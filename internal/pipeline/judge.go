package pipeline

import (
	"encoding/json"
	"fmt"
	"slices"
)

// A Verdict is what is thought of a turn.
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

// Judge says whether between before, which ferrus wrote, and after nothing was changed but content and consensus of the
// last entry. How the file is laid out does not matter. A nil after is a file that is gone.
func Judge(before, after []byte) Verdict {
	b, faults := parse(before)
	d, err := DecodeDialogue(before)
	if faults != nil || err != nil || !d.Open() {
		return Verdict{Touched: []string{""}, Problem: "ferrus's own copy of the dialogue has no open turn"}
	}
	if after == nil {
		return Verdict{Touched: []string{""}, Problem: DialogueFile + " is gone"}
	}
	a, faults := parse(after)
	if faults == nil {
		faults = a.faults
	}
	if len(faults) > 0 {
		return Verdict{Touched: []string{""}, Problem: faults.Error()}
	}
	last := fmt.Sprintf("/dialogue/%d", len(d.Dialogue)-1)
	own := []string{last + "/content", last + "/consensus"}
	v := Verdict{Touched: differ(b.root, a.root, "", own)}
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
func differ(a, b node, at string, but []string) []string {
	if slices.Contains(but, at) {
		if b.token == nil { // null would be read as what was there before
			return []string{at}
		}
		return nil
	}
	if a.token != b.token {
		return []string{at}
	}
	var found []string
	switch {
	case a.is('{'):
		for i, k := range a.keys {
			here := at + "/" + escape(k)
			if j := slices.Index(b.keys, k); j >= 0 {
				found = append(found, differ(a.items[i], b.items[j], here, but)...)
			} else {
				found = append(found, here)
			}
		}
		for _, k := range b.keys {
			if !slices.Contains(a.keys, k) {
				found = append(found, at+"/"+escape(k))
			}
		}
	case a.is('['):
		for i := range max(len(a.items), len(b.items)) {
			here := fmt.Sprintf("%s/%d", at, i)
			if i < len(a.items) && i < len(b.items) {
				found = append(found, differ(a.items[i], b.items[i], here, but)...)
			} else {
				found = append(found, here)
			}
		}
	}
	return found
}
