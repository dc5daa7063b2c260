package project_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrus-go/ferrus/internal/config"
	"github.com/ferrus-go/ferrus/internal/config/trust"
	"github.com/ferrus-go/ferrus/internal/project"
)

// TestMembersAreTheProjectsThatAPersonHasAgreedTo: one joins with its agreement, also to no values, and leaves when that is revoked or by the
// person's own file. One whose folder is gone stays, and a record that cannot be read says so.
func TestMembersAreTheProjectsThatAPersonHasAgreedTo(t *testing.T) {
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	conf := filepath.Join(base, "conf")
	t.Setenv(trust.EnvStateDir, filepath.Join(base, "state"))
	t.Setenv(trust.EnvXDGConf, conf)
	records := map[string]*trust.Project{}
	for _, name := range []string{"x/shop", "y/shop", "stranger", "ledger"} {
		root := filepath.Join(base, name)
		if err := os.MkdirAll(root, 0o755); err != nil {
			t.Fatal(err)
		}
		if records[name], err = trust.Open(root); err != nil {
			t.Fatal(err)
		}
	}
	is := func(want ...string) {
		t.Helper()
		list, err := project.Members()
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		ids := map[string]bool{}
		for _, m := range list {
			if ids[m.ID] = true; m.Err != nil {
				m.Name = "damaged"
			}
			got = append(got, filepath.ToSlash(m.Name))
		}
		if diff := cmp.Diff(want, got); diff != "" || len(ids) != len(list) {
			t.Errorf("%s%v", diff, ids)
		}
	}
	own := func(text string) {
		t.Helper()
		path := filepath.Join(conf, "ferrus", config.PersonFile)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	agree := func(name string) {
		t.Helper()
		if err := records[name].Agree(nil); err != nil {
			t.Fatal(err)
		}
	}
	is()
	agree("x/shop")
	agree("ledger")
	if err := records["stranger"].Update(func(*trust.Record) error { return nil }); err != nil {
		t.Fatal(err)
	}
	is("ledger", "shop")
	agree("y/shop")
	is("ledger", "x/shop", "y/shop")
	if _, err := records["x/shop"].Revoke(); err != nil {
		t.Fatal(err)
	}
	is("ledger", "shop")
	if err := os.RemoveAll(filepath.Join(base, "ledger")); err != nil {
		t.Fatal(err)
	}
	is("ledger", "shop")
	own(fmt.Sprintf("[project.%q.web]\nall = false\n", filepath.Join(base, "ledger")))
	is("shop")
	own(fmt.Sprintf("[web]\nall = false\n[project.%q.web]\nall = true\n", filepath.Join(base, "ledger")))
	is("ledger")
	own("[web]\nall = false\n")
	is()
	own("[project.shop.web]\nall = false\n")
	if _, err := project.Members(); err == nil {
		t.Error("a name for a path")
	}
	own("")
	if err := os.WriteFile(records["y/shop"].Path(), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	is("damaged", "ledger")
	text, err := os.ReadFile(records["ledger"].Path())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(records["y/shop"].Path(), text, 0o600); err != nil { // one project's agreement in the place of another's
		t.Fatal(err)
	}
	is("damaged", "ledger")
}
