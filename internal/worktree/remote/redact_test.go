package remote

import (
	"strings"
	"testing"
)

// TestNoPartOfAPasswordIsShown, whatever characters it has that git or curl accept.
func TestNoPartOfAPasswordIsShown(t *testing.T) {
	for text, want := range map[string]string{
		"https://host/a@b.git":                                 "https://host/a@b.git",
		"https://me:secret@host/a.git":                         "https://host/a.git",
		"https://me:p@ss@host/a.git":                           "https://host/a.git",
		"https://me:p@s@s?#x@host:8443/a@b":                    "https://host:8443/a@b",
		"fatal: 'ssh://me@host/x' and 'https://a:b@c@d/' fail": "fatal: 'ssh://host/x' and 'https://d/' fail",
		"git@host:a/b.git":                                     "git@host:a/b.git",
	} {
		if got := redact(text); got != want || strings.Contains(got, "ss@") {
			t.Errorf("%s became %s, not %s", text, got, want)
		}
	}
}
