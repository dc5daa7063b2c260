package setup

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/ferrus-go/ferrus/internal/cli"
	"github.com/ferrus-go/ferrus/internal/server"
)

// TestTheNewestVersionIsAskedFor once, at the address that is said before, and compared. What answers something else than a version is
// refused in its words, without what a terminal obeys.
func TestTheNewestVersionIsAskedFor(t *testing.T) {
	answer, status, requests := "", http.StatusOK, 0
	var said bytes.Buffer
	releases := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests++
		if !strings.Contains(said.String(), "asking http://"+r.Host+"/newest\n") {
			t.Errorf("it asks before it says so: %q", said.String())
		}
		if r.URL.RawQuery != "" || r.ContentLength > 0 || r.UserAgent() != "ferrus" || r.Method != http.MethodGet {
			t.Errorf("the request is %s %s by %s with %d bytes", r.Method, r.URL, r.UserAgent(), r.ContentLength)
		}
		w.Header().Set("Location", "/elsewhere")
		w.WriteHeader(status)
		_, _ = w.Write([]byte(answer))
	}))
	defer releases.Close()
	ask := func(args ...string) (string, error) {
		var out bytes.Buffer
		said.Reset()
		requests = 0
		a := &cli.App{Dir: t.TempDir(), Out: &out, Err: &said, JSON: len(args) > 0}
		cmd := UpgradeCheckCommand(a)
		cmd.SetArgs([]string{"--from", releases.URL + "/newest"})
		cmd.SilenceErrors, cmd.SilenceUsage = true, true
		err := cmd.ExecuteContext(t.Context())
		if requests != 1 {
			t.Errorf("%d requests", requests)
		}
		return out.String(), err
	}
	for _, c := range []struct {
		answer, out, err string
		status           int
	}{
		{`{"tag_name": "v1.2.3", "draft": false}`, "The newest version is v1.2.3. This one was built without a version.\n", "", 200},
		{`{}`, "No version is released there.\n", "", 404},
		{`{"tag_name": "v1.2.3; rm"}`, "", `names no version: "v1.2.3; rm"`, 200},
		{`{"tag_name": "\u001b[31mv1"}`, "", `names no version: "\x1b[31mv1"`, 200},
		{`no JSON`, "", "names no version", 200},
		{``, "", "answers 500", 500},
		{``, "", "answers 302 Found", 302},
	} {
		answer, status = c.answer, c.status
		out, err := ask()
		if out != c.out || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s with %d: %q, %v", c.answer, c.status, out, err)
		}
	}
	answer, status = `{"tag_name": "v1.2.3"}`, http.StatusOK
	if out, err := ask("--json"); err != nil || !strings.Contains(out, `"newest": "v1.2.3"`) {
		t.Errorf("%s, %v", out, err)
	}
	t.Setenv("FERRUS_AGENT", "executor:codex:1")
	requests = 1
	cmd := UpgradeCheckCommand(&cli.App{Dir: t.TempDir(), Out: &said, Err: &said})
	cmd.SetArgs([]string{"--from", releases.URL})
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	if err := cmd.ExecuteContext(t.Context()); err == nil || requests != 1 {
		t.Errorf("an agent may ask: %v", err)
	}
}

// TestAnAddressOfReleasesIsOne: what is no address is refused before anything is asked.
func TestAnAddressOfReleasesIsOne(t *testing.T) {
	for _, from := range []string{"", "github.com", "ftp://h/x", "http://", "::"} {
		var out bytes.Buffer
		cmd := UpgradeCheckCommand(&cli.App{Dir: t.TempDir(), Out: &out, Err: &out})
		cmd.SetArgs([]string{"--from", from})
		cmd.SilenceErrors, cmd.SilenceUsage = true, true
		if err := cmd.ExecuteContext(t.Context()); err == nil || strings.Contains(out.String(), "asking") {
			t.Errorf("%q: %v, %s", from, err, &out)
		}
	}
}

// TestTwoVersionsAreCompared as semantic versions, and both are said.
func TestTwoVersionsAreCompared(t *testing.T) {
	for _, c := range []struct{ version, newest, want string }{
		{"v1.2.3", "v1.10.0", "v1.10.0 is newer than this one, v1.2.3."},
		{"v1.2.3", "v1.2.3", "This one, v1.2.3, is the newest: v1.2.3 is released."},
		{"v1.3.0", "v1.2.3", "This one, v1.3.0, is the newest"},
		{"v1.2.3-rc.1", "v1.2.3", "v1.2.3 is newer"},
		{"v0.0.0-20261128221100-ef0923650000", "v0.1.0", "v0.1.0 is newer"},
		{"devel", "v0.1.0", "The newest version is v0.1.0. This one was built without a version."},
		{"v1.2.3", "", "No version is released there."},
	} {
		var out bytes.Buffer
		if err := showUpgrade(&cli.App{Out: &out, Err: &out}, c.version, c.newest); err != nil || !strings.HasPrefix(out.String(), c.want) {
			t.Errorf("%s and %s: %s, %v", c.version, c.newest, &out, err)
		}
	}
	if server.Version() == "" {
		t.Error("this program has no version")
	}
}

// TestAProgramIsRemovedAsItCame: the command fits the place of the program.
func TestAProgramIsRemovedAsItCame(t *testing.T) {
	for self, want := range map[string]string{
		"/home/p/go/bin/ferrus":                      "rm /home/p/go/bin/ferrus /home/p/go/bin/ferrusd",
		"/home/p/my go/ferrus":                       "rm '/home/p/my go/ferrus' '/home/p/my go/ferrusd'",
		"/usr/bin/ferrus":                            "by the package manager that installed them, such as apt remove ferrus",
		"/usr/local/bin/ferrus":                      "rm /usr/local/bin/ferrus /usr/local/bin/ferrusd",
		"/opt/homebrew/Caskroom/ferrus/1.2.3/ferrus": "brew uninstall --cask ferrus",
		"/usr/lib/node_modules/ferrus/node_modules/@ferrus-go/x/bin/ferrus": "npm uninstall -g ferrus",
	} {
		if got := removesProgram(self); got != want {
			t.Errorf("%s: %s", self, got)
		}
	}
}
