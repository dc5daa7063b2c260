package safetext

import (
	"regexp"
	"sync"
)

// A Form is what a name may be: an expression, and how many bytes the name has. The length is not part of the expression,
// because a counted repetition is compiled into as many instructions, and by each process.
type Form struct {
	expr     func() *regexp.Regexp
	min, max int
}

// NewForm returns the form of the names that match expr, which is a valid expression, and have min to max bytes. The expression
// is compiled when a name is first held to it.
func NewForm(expr string, min, max int) Form {
	return Form{Lazily(expr), min, max}
}

// Lazily returns an expression, which is valid, that is compiled when it is first used: most processes use few of theirs.
func Lazily(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}

// MatchString reports whether a name has the form.
func (f Form) MatchString(name string) bool {
	return f.min <= len(name) && len(name) <= f.max && f.expr().MatchString(name)
}
