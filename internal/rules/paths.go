package rules

import (
	"path"
	"strings"
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
// of path.Match.
func match(pattern, name []string) bool {
	for len(pattern) > 0 && pattern[0] != "**" {
		if len(name) == 0 {
			return false
		}
		if ok, err := path.Match(pattern[0], name[0]); !ok || err != nil {
			return false
		}
		pattern, name = pattern[1:], name[1:]
	}
	if len(pattern) == 0 {
		return len(name) == 0
	}
	if len(pattern) == 1 {
		return len(name) > 0 // docs/** is what lies below docs, not docs itself
	}
	for i := range len(name) + 1 {
		if match(pattern[1:], name[i:]) {
			return true
		}
	}
	return false
}

// neverMatches says why no path of a work tree can match a pattern, "" if one can.
func neverMatches(pattern string) string {
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
