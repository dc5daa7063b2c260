// Package clock reads the one clock that all processes of a machine share and nobody can set: it begins with the
// machine's start, and stands still while the machine sleeps. A date is the business of package time.
package clock
