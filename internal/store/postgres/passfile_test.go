//go:build unix

package postgres

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/ferrus-go/ferrus/internal/state/refusal"
)

// TestAPasswordThatOthersCanReadIsNotUsed, wherever its file is named. A file that has none for this server does not matter.
func TestAPasswordThatOthersCanReadIsNotUsed(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	file := filepath.Join(home, ".pgpass")
	other := filepath.Join(home, "other")
	connecting := func(url string) error {
		d, err := Connect(t.Context(), url, options(Options{}))
		if err == nil {
			d.Close()
		}
		return err
	}
	const url = "postgres://me@127.0.0.1:1/db?sslmode=disable"
	for _, mode := range []os.FileMode{0o644, 0o640, 0o604} {
		for name, c := range map[string]struct{ file, env, more string }{
			"by default":      {file, "", ""},
			"by the variable": {other, other, ""},
			"by the URL":      {other, "", "&passfile=" + other},
		} {
			t.Setenv("PGPASSFILE", c.env)
			if err := os.WriteFile(c.file, []byte("127.0.0.1:1:db:me:secret\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(c.file, mode); err != nil {
				t.Fatal(err)
			}
			says(t, connecting(url+c.more), refusal.InvalidInput, c.file, "can be read by other users", "chmod 600 "+c.file)
			t.Setenv("PGPASSWORD", "another")
			says(t, connecting(url+c.more), refusal.StoreError, "check that the server runs")
			if err := os.Unsetenv("PGPASSWORD"); err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(c.file, 0o600); err != nil {
				t.Fatal(err)
			}
			says(t, connecting(url+c.more), refusal.StoreError, "check that the server runs")
			if t.Failed() {
				t.Fatal(name, mode)
			}
		}
	}
	t.Setenv("PGPASSFILE", file)
	if err := os.Chmod(file, 0o644); err != nil {
		t.Fatal(err)
	}
	says(t, connecting("postgres://me@127.0.0.1:1/another?sslmode=disable"), refusal.StoreError, "check that the server runs")
}
