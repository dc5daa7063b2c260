package rules

import (
	"path"
	"strings"
	"testing"
)

// definition is match as it is defined, which takes exponential time.
func definition(pattern, name []string) bool {
	switch {
	case len(pattern) == 0:
		return len(name) == 0
	case pattern[0] != "**":
		if len(name) == 0 {
			return false
		}
		ok, err := path.Match(pattern[0], name[0])
		return ok && err == nil && definition(pattern[1:], name[1:])
	case len(pattern) == 1:
		return len(name) > 0
	}
	for i := range len(name) + 1 {
		if definition(pattern[1:], name[i:]) {
			return true
		}
	}
	return false
}

// words are all sequences of at least one of the parts, up to a length.
func words(parts []string, length int) (all [][]string) {
	for last := [][]string{nil}; length > 0; length-- {
		var next [][]string
		for _, w := range last {
			for _, p := range parts {
				next = append(next, append(w[:len(w):len(w)], p))
			}
		}
		last = next
		all = append(all, last...)
	}
	return all
}

func TestAPatternMatchesAsItIsDefined(t *testing.T) {
	names := words([]string{"a", "b"}, 5)
	for _, pattern := range words([]string{"**", "a", "b", "*", "[ab"}, 5) {
		for _, name := range names {
			if got, want := match(pattern, name), definition(pattern, name); got != want {
				t.Fatalf("%s matches %s: %v", strings.Join(pattern, "/"), strings.Join(name, "/"), got)
			}
		}
	}
}

// TestManyFoldersTakeLittleTime: by its definition this pattern would take years.
func TestManyFoldersTakeLittleTime(t *testing.T) {
	pattern, name := strings.Repeat("**/a/", 50)+"b", strings.Repeat("a/", 1000)+"c"
	if matchAny([]string{pattern}, name) {
		t.Errorf("%s matches", pattern)
	}
}
