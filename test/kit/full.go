package kit

import "flag"

// Full reports whether a test program runs with its flag -full, for the long forms of its tests.
func Full() bool {
	f := flag.Lookup("full")
	return f != nil && f.Value.String() == "true"
}

// Sampled reports whether a test tries a combination of several things, of each of which it has the index: all combinations with -full, else a third
// of them, in which each of the things occurs.
func Sampled(indices ...int) bool {
	sum := 0
	for _, i := range indices {
		sum += i
	}
	return Full() || sum%3 == 0
}
