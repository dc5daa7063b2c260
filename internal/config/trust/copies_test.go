package trust

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestOnlyTheNamesAgreedToAreCopied: a new match of a pattern waits, and a digest agrees to exactly the names that it is of.
func TestOnlyTheNamesAgreedToAreCopied(t *testing.T) {
	root, _ := place(t)
	is := func(p *Project, names, want []string) {
		t.Helper()
		if diff := cmp.Diff(want, p.AgreedCopies(names)); diff != "" {
			t.Errorf("of %q: %s", names, diff)
		}
	}
	one, both := []string{".env"}, []string{".env", "my.key"}
	is(nil, both, nil)
	is(open(t, root), both, []string{})
	if err := open(t, root).AgreeCopies(one); err != nil {
		t.Fatal(err)
	}
	is(open(t, root), both, one)
	is(open(t, root), []string{"my.key"}, []string{})
	if diff := cmp.Diff(one, open(t, root).Copies()); diff != "" {
		t.Error(diff)
	}
	digest := Digest(nil) + "+" + CopiesDigest([]string{"my.key"})
	t.Setenv(EnvTrust, digest)
	is(open(t, root), []string{"my.key"}, []string{"my.key"})
	is(open(t, root), both, one)
}
