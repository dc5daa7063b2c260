package trust

import (
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/ferrus-go/ferrus/internal/platform/rootfs"
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
	agreed, err := p.agreed()
	return slices.Contains(agreed, digest), err
}

// Known reports whether a person has agreed to anything in this project, or FERRUS_TRUST is set.
// Then a running task continues with what was frozen for it, whatever the project's files say now.
// The error is one of Agreed.
func (p *Project) Known() (bool, error) {
	if p.digest != "" {
		return true, nil
	}
	agreed, err := p.agreed()
	return len(agreed) > 0, err
}

// agreed returns the digests of the record's agreements. It reads the record only when its file, or what is known of it, has
// changed: every call of a tool asks.
func (p *Project) agreed() ([]string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	path := p.Path()
	info, err := os.Lstat(path)
	if err == nil && rootfs.Unchanged(p.readAt, info) {
		if problem, _ := private(path, info); problem == "" && usable(recordsFolder, filepath.Dir(path)) == nil {
			return p.digests, nil
		}
	}
	if err != nil {
		info = nil
	}
	r, _, err := p.Record()
	if err != nil {
		return nil, err
	}
	p.readAt, p.digests = info, nil
	for _, a := range r.Agreed {
		p.digests = append(p.digests, a.Digest)
	}
	return p.digests, nil
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

// NeverAgreed returns the values that stand in none of the recorded agreements, and not among those
// that the caller knows to be agreed to. The error is one of Agreed.
func (p *Project) NeverAgreed(values, agreed []Value) ([]Value, error) {
	r, _, err := p.Record()
	if err != nil {
		return nil, err
	}
	for _, a := range r.Agreed {
		agreed = slices.Concat(agreed, a.Values)
	}
	return slices.DeleteFunc(slices.Clone(values), func(v Value) bool {
		return slices.ContainsFunc(agreed, func(is Value) bool { return is.Key == v.Key && is.Value == v.Value })
	}), nil
}

// Revoke removes every agreement, also to files that are copied, and returns how many there were to values.
func (p *Project) Revoke() (n int, err error) {
	err = p.Update(func(r *Record) error {
		n, r.Agreed, r.Copies = len(r.Agreed), nil, nil
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
