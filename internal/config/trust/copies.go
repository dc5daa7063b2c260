package trust

import "slices"

// CopiesDigest names a set of files that are copied into new work trees, by their names; "" for none.
func CopiesDigest(names []string) string {
	if len(names) == 0 {
		return ""
	}
	values := make([]Value, len(names))
	for i, name := range names {
		values[i].Key = name
	}
	return Digest(values)
}

// AgreedCopies returns those of the files that a person agreed to have copied into new work trees: in the newest agreement, or by exactly
// their digest in FERRUS_TRUST. A nil Project, and a record that cannot be read, agree to none.
func (p *Project) AgreedCopies(names []string) []string {
	if p == nil || len(names) == 0 {
		return nil
	}
	if p.copies != "" && p.copies == CopiesDigest(names) {
		return names
	}
	agreed := p.Copies()
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !slices.Contains(agreed, name) })
}

// Copies returns the names of the newest agreement, also of files that are not here; none of a nil Project, and of a record that cannot be read.
func (p *Project) Copies() []string {
	if p == nil {
		return nil
	}
	r, _, err := p.Record()
	if err != nil {
		return nil
	}
	return r.Copies
}

// AgreeCopies records that a person agreed to have these files copied into new work trees, and no others any more.
func (p *Project) AgreeCopies(names []string) error {
	return p.Update(func(r *Record) error {
		r.Copies = slices.Clone(names)
		return nil
	})
}
