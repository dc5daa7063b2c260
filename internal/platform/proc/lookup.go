package proc

import (
	"path"
	"slices"
	"strings"
)

// Lookup returns the value of a variable in an environment of NAME=value, empty if it is not set. Of equal names the last counts.
func Lookup(env []string, name string) string {
	for _, entry := range slices.Backward(env) {
		if n, value, ok := strings.Cut(entry, "="); ok && fold(n) == fold(name) {
			return value
		}
	}
	return ""
}

// Without returns the variables of an environment whose names match none of the patterns, never nil: for an exec.Cmd that would be
// everything.
func Without(env, patterns []string) []string {
	return slices.DeleteFunc(append([]string{}, env...), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return Matches(patterns, name)
	})
}

// Matches reports whether the name of a variable matches one of the patterns, which are those of [path.Match].
func Matches(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		ok, _ := path.Match(fold(pattern), fold(name)) // a pattern without a meaning matches nothing
		return ok
	})
}
