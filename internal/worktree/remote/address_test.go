package remote

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrus-go/ferrus/internal/worktree/git"
	"github.com/ferrus-go/ferrus/internal/worktree/repository"
	"github.com/ferrus-go/ferrus/internal/worktree/worktreetest"
)

// opened is a repository with settings of its own, and one of a person with theirs.
func opened(t *testing.T, theirs, persons []string) *repository.Repository {
	t.Helper()
	dir := worktreetest.Committed(t)
	file := filepath.Join(t.TempDir(), "config")
	worktreetest.RunGit(t, dir, "config", "--file", file, "person.is", "me")
	for _, setting := range theirs {
		key, value, _ := strings.Cut(setting, "=")
		worktreetest.RunGit(t, dir, "config", "--add", key, value)
	}
	for _, setting := range persons {
		key, value, _ := strings.Cut(setting, "=")
		worktreetest.RunGit(t, dir, "config", "--file", file, "--add", key, value)
	}
	t.Setenv("GIT_CONFIG_GLOBAL", file)
	r, err := repository.Open(t.Context(), dir, filepath.Join(dir, ".ferrus", "git"), "")
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestAnAddressIsThePersonsOrOfTheNetwork: what a person has configured for a name comes before what the repository says, which cannot name a path. The
// settings of the repository that are not used are named, once each, and so are variables.
func TestAnAddressIsThePersonsOrOfTheNetwork(t *testing.T) {
	for _, name := range []string{"GIT_SSH_COMMAND", "GIT_SSH", "GIT_ASKPASS"} {
		t.Setenv(name, "")
	}
	const auth = "Authorization: Basic c2VjcmV0"
	for name, c := range map[string]struct {
		theirs, persons []string
		env             []string // variables that are set
		remote          string
		want            address
		fails           string
	}{
		"an address":         {nil, nil, nil, "https://host/a", address{fetch: "https://host/a", push: "https://host/a", protocols: withPaths}, ""},
		"a path":             {nil, nil, nil, "/srv/a", address{fetch: "/srv/a", push: "/srv/a", protocols: withPaths}, ""},
		"a path from here":   {nil, nil, nil, "srv/a", address{}, "not absolute"},
		"an unknown name":    {nil, nil, nil, "origin", address{}, "git remote add origin URL"},
		"of the repository":  {[]string{"remote.origin.url=https://host/a"}, nil, nil, "origin", address{fetch: "https://host/a", push: "https://host/a", remote: "origin", protocols: networks}, ""},
		"with a second one":  {[]string{"remote.origin.url=https://host/a", "remote.origin.url=https://host/b"}, nil, nil, "origin", address{fetch: "https://host/a", push: "https://host/a", remote: "origin", protocols: networks}, ""},
		"with one for pushs": {[]string{"remote.origin.url=https://host/a", "remote.origin.pushurl=https://host/b"}, nil, nil, "origin", address{fetch: "https://host/a", push: "https://host/b", remote: "origin", protocols: networks}, ""},
		"of the person": {[]string{"remote.origin.url=https://host/a", "remote.origin.pushurl=https://host/b"}, []string{"remote.origin.url=/srv/a"}, nil, "origin",
			address{fetch: "/srv/a", push: "/srv/a", remote: "origin", protocols: withPaths}, ""},
		"of another name": {[]string{"remote.other.url=https://host/a"}, nil, nil, "origin", address{}, "no such remote"},
		"an address is no name": {[]string{"remote.https://host/a.url=https://evil"}, nil, nil, "https://host/a",
			address{fetch: "https://host/a", push: "https://host/a", protocols: withPaths}, ""},
		"settings of the repository": {[]string{"http.extraHeader=" + auth, "http.https://host/.extraHeader=" + auth, "http.extraHeader=Host: evil", "http.extraHeader=Host: more", "core.sshCommand=evil", "core.editor=vi"}, nil, nil, "https://host/a",
			address{fetch: "https://host/a", push: "https://host/a", protocols: withPaths, headers: []string{"http.extraheader", auth, "http.https://host/.extraheader", auth}, unused: []string{"core.sshcommand", "http.extraheader"}}, ""},
		"settings of the person": {nil, []string{"core.sshCommand=mine", "http.extraHeader=" + auth}, nil, "https://host/a",
			address{fetch: "https://host/a", push: "https://host/a", protocols: withPaths}, ""},
		"variables": {nil, nil, []string{"GIT_SSH", "GIT_ASKPASS"}, "https://host/a",
			address{fetch: "https://host/a", push: "https://host/a", protocols: withPaths, unused: []string{"GIT_SSH", "GIT_ASKPASS"}}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			for _, name := range c.env {
				t.Setenv(name, "evil")
			}
			got, err := findAddress(t.Context(), opened(t, c.theirs, c.persons), c.remote)
			if c.fails != "" {
				if err == nil || !strings.Contains(err.Error(), c.fails) {
					t.Errorf("%v, not %q", err, c.fails)
				}
				return
			}
			if diff := cmp.Diff(c.want, got, cmp.AllowUnexported(address{})); diff != "" || err != nil {
				t.Errorf("%v, %s", err, diff)
			}
			env := got.environ()
			if env[0] != "GIT_ALLOW_PROTOCOL="+got.protocols || len(env) != 2+len(got.headers) {
				t.Errorf("git has %q", env)
			}
			if len(got.headers) == 4 && !slices.Equal(env[1:], []string{"GIT_CONFIG_COUNT=2", "GIT_CONFIG_KEY_0=http.extraheader", "GIT_CONFIG_VALUE_0=" + auth,
				"GIT_CONFIG_KEY_1=http.https://host/.extraheader", "GIT_CONFIG_VALUE_1=" + auth}) {
				t.Errorf("git has %q", env)
			}
		})
	}
}

// TestARemoteIsOpenedForAProject in one of two namespaces, and only with git.
func TestARemoteIsOpenedForAProject(t *testing.T) {
	repo := opened(t, nil, nil)
	for _, c := range []struct {
		o    Options
		want string // the name of a ref
		says string
	}{
		{Options{Remote: "/srv/a", Project: "p"}, "refs/ferrus/p/t/7", ""},
		{Options{Remote: "/srv/a", Project: "p", Namespace: Branches}, "refs/heads/ferrus/p/t/7", ""},
		{Options{Remote: "/srv/a", Project: "p", Namespace: "refs/tags"}, "", "use refs/ferrus or refs/heads/ferrus"},
		{Options{Remote: "/srv/a", Project: "p/q"}, "", "has a slash"},
		{Options{Remote: "/srv/a", Project: ""}, "", "exchange trees by"},
		{Options{Remote: "https://me:secret@host/a b", Project: "p q"}, "", `by "https://host/a b": `},
	} {
		r, err := Open(t.Context(), repo, c.o)
		if (err == nil) != (c.says == "") || err != nil && (!strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "secret")) {
			t.Errorf("%+v: %v", c.o, err)
		}
		if err == nil && (r.name(Ref{Task: "t", Epoch: 7}) != c.want || r.timeout != usualTimeout) {
			t.Errorf("%+v: %s, %v", c.o, r.name(Ref{Task: "t", Epoch: 7}), r.timeout)
		}
	}
	plain, err := repository.Open(t.Context(), t.TempDir(), filepath.Join(t.TempDir(), "git"), "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), plain, Options{Remote: "/srv/a", Project: "p"}); !errors.Is(err, git.ErrNoGit) {
		t.Errorf("without git: %v", err)
	}
	r, err := Open(t.Context(), repo, Options{Remote: "/srv/a", Project: "p"})
	if err != nil {
		t.Fatal(err)
	}
	id := strings.Repeat("1", 40)
	for _, bad := range []Ref{{Task: "a/b", Commit: id}, {Task: "", Commit: id}, {Task: "t", Commit: "HEAD"}} {
		if err := r.check(bad); err == nil {
			t.Errorf("%+v", bad)
		}
	}
	for _, good := range []Ref{{Task: "t"}, {Task: "a@t+base", Commit: id}} {
		if err := r.check(good); err != nil {
			t.Errorf("%+v: %v", good, err)
		}
	}
	if _, err := r.Fetch(t.Context(), Ref{Task: "t"}, ""); err == nil || !strings.Contains(err.Error(), "not an object id") {
		t.Errorf("no commit is fetched: %v", err)
	}
	if _, _, err := r.Ahead(t.Context(), "HEAD"); err == nil || !strings.Contains(err.Error(), "not an object id") {
		t.Errorf("no commit is compared: %v", err)
	}
}
