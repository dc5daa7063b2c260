package kit

import (
	"flag"
	"testing"
)

// A test has up to three forms. Where whole packages are tested, as by go test ./..., it has its quick form. A test that is named by -run has the
// usual form, with which test/faults shows that a test notices its mutants. With -full everything is tried.

var full = flag.Bool("full", false, "try everything, for the long forms of the tests: some have none, some take minutes")

// Full reports whether a test program runs with its flag -full, for the long forms of its tests.
func Full() bool { return *full }

// Named reports whether tests are named by -run, or have their long forms by -full.
func Named() bool { return Full() || set("test.run") != "" }

// Quick reports whether a test has its smallest size: with -short, and where no test is named.
func Quick() bool { return testing.Short() || !Named() }

// Long skips a test of a promise of which others are quick forms, unless it is named or has its long form. Why names them.
func Long(t testing.TB, why string) {
	if t.Helper(); !Named() {
		t.Skip("long: it runs by -run and with -full; " + why)
	}
}

// Sampled reports whether a test tries a combination of several things, of each of which it has the index: all combinations with -full; of a test
// that is named a third, in which each of the things occurs; else one of few, a multiple of three. A test whose mutants need more has 3.
func Sampled(few int, indices ...int) bool {
	sum := 0
	for _, i := range indices {
		sum += i
	}
	if Named() {
		few = 3
	}
	return Full() || sum%few == 0
}

// Every reports whether a test tries an item of a list, of which it has the index: all items if it is named, else each n-th.
func Every(n, index int) bool { return Named() || index%n == 0 }

// set is the value of a flag, "" if the test program does not have it.
func set(name string) string {
	if f := flag.Lookup(name); f != nil {
		return f.Value.String()
	}
	return ""
}
