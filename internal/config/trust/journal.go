package trust

import "slices"

// maxFirsts bounds how many first lines a record keeps; the oldest are dropped.
const maxFirsts = 256

// Begin records the hash of a first line.
func (j *Journal) Begin(h string) {
	if j.First == h {
		return
	}
	j.Firsts = slices.DeleteFunc(j.Firsts, func(was string) bool { return was == h })
	if j.First != "" {
		j.Firsts = append(j.Firsts, j.First)
	}
	if over := len(j.Firsts) - maxFirsts; over > 0 {
		j.Firsts = slices.Delete(j.Firsts, 0, over)
	}
	j.First = h
}

// Begun reports whether any first line was recorded.
func (j Journal) Begun() bool { return j.First != "" }

// Began reports whether a line of that hash was recorded as a first one.
func (j Journal) Began(h string) bool {
	return h != "" && (j.First == h || slices.Contains(j.Firsts, h))
}
