package rules

import (
	"path"
	"slices"
	"strings"
	"unicode"
)

// matchAll reports whether every path matches one of the patterns. Without patterns it does; without
// paths it does not.
func matchAll(patterns, paths []string) bool {
	if len(patterns) == 0 {
		return true
	}
	for _, p := range paths {
		if !matchAny(patterns, p) {
			return false
		}
	}
	return len(paths) > 0
}

func matchAny(patterns []string, name string) bool {
	for _, p := range patterns {
		if match(strings.Split(p, "/"), strings.Split(name, "/")) {
			return true
		}
	}
	return false
}

// match matches folder by folder: ** is any number of them, also none; every other part is a pattern
// of path.Match. A ** at the end is at least one: docs/** is what lies below docs, not docs itself.
//
// Only the newest ** is tried with more folders: what an earlier one could take, the newest can take
// too. So the work is at most len(pattern) times len(name), however many ** there are.
func match(pattern, name []string) bool {
	if last := len(pattern) - 1; pattern[last] == "**" {
		pattern = append(slices.Clone(pattern[:last]), "*", "**")
	}
	p, n := 0, 0
	newest, from := -1, 0 // the newest **, and the first part of the name that it has not taken
	for n < len(name) {
		switch {
		case p < len(pattern) && pattern[p] == "**":
			newest, from = p, n
			p++
		case p < len(pattern) && matchPart(pattern[p], name[n]):
			p, n = p+1, n+1
		case newest >= 0:
			from++
			p, n = newest+1, from
		default:
			return false
		}
	}
	for p < len(pattern) && pattern[p] == "**" {
		p++
	}
	return p == len(pattern)
}

func matchPart(pattern, name string) bool {
	ok, err := path.Match(pattern, name)
	return ok && err == nil
}

// neverMatches says why a pattern is refused: no path of a work tree can match it, or a reader cannot see what it matches. It is "" for a good one.
func neverMatches(pattern string) string {
	if strings.ContainsFunc(pattern, unicode.IsControl) {
		return "has a control character; write ? in its place"
	}
	parts := strings.Split(pattern, "/")
	for i, p := range parts {
		_, err := path.Match(p, "")
		switch {
		case err != nil:
			return "is not a pattern: a bracket or a backslash is not closed"
		case p == "" && i == 0 && len(parts) > 1:
			return "begins with a slash; name files relative to the work tree"
		case p == "" && i == len(parts)-1 && i > 0:
			return "ends with a slash; write " + pattern + "** for every file below it"
		case p == "", p == ".", p == "..":
			return "can never match a file; name files relative to the work tree, as in docs/**"
		}
	}
	return ""
}
