package trust

import (
	"slices"
	"time"
)

// maxAgreed bounds how many agreements a record keeps; the oldest are dropped. There are several so that going back and
// forth between two branches of a repository asks once for each.
const maxAgreed = 32

// Agreed reports whether a person agreed to exactly these values, by the record or by FERRUS_TRUST. The error says why the
// record cannot be read; nothing is agreed to then.
func (p *Project) Agreed(values []Value) (bool, error) {
	digest := Digest(values)
	if digest == p.digest {
		return true, nil
	}
	r, _, err := p.Record()
	if err != nil {
		return false, err
	}
	return slices.ContainsFunc(r.Agreed, func(a Agreement) bool { return a.Digest == digest }), nil
}

// Known reports whether a person has agreed to anything in this project, or FERRUS_TRUST is set: then work that is under
// way goes on by what was frozen for it, whatever the project's files say now. The error is one of Agreed.
func (p *Project) Known() (bool, error) {
	if p.digest != "" {
		return true, nil
	}
	r, _, err := p.Record()
	return len(r.Agreed) > 0, err
}

// Agree records that a person agreed to the values, of which there may be none.
func (p *Project) Agree(values []Value) error {
	digest := Digest(values)
	return p.Update(func(r *Record) error {
		r.Agreed = slices.DeleteFunc(r.Agreed, func(a Agreement) bool { return a.Digest == digest })
		r.Agreed = append(r.Agreed, Agreement{Digest: digest, Values: slices.Clone(values), At: time.Now().UTC()})
		if over := len(r.Agreed) - maxAgreed; over > 0 {
			r.Agreed = slices.Delete(r.Agreed, 0, over)
		}
		return nil
	})
}

// Revoke forgets every agreement and returns how many there were.
func (p *Project) Revoke() (n int, err error) {
	err = p.Update(func(r *Record) error {
		n, r.Agreed = len(r.Agreed), nil
		return nil
	})
	return n, err
}

// Newest returns the agreement made last; false where there is none.
func (r Record) Newest() (Agreement, bool) {
	if len(r.Agreed) == 0 {
		return Agreement{}, false
	}
	return r.Agreed[len(r.Agreed)-1], true
}
