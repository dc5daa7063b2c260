package proc

import (
	"slices"
	"strings"
	"testing"
)

// TestWhatDecidesWhatAProgramIs: each variable by which a server could have other programs run is frozen, and what
// belongs to a session is not.
func TestWhatDecidesWhatAProgramIs(t *testing.T) {
	for _, name := range strings.Fields(`PATH LD_PRELOAD LD_LIBRARY_PATH LD_AUDIT DYLD_INSERT_LIBRARIES GIT_DIR GIT_EXEC_PATH GIT_CONFIG_COUNT
		GIT_SSH_COMMAND GOFLAGS GOPROXY GOENV GOTOOLCHAIN GOROOT GODEBUG CGO_CFLAGS CC NODE_OPTIONS NODE_PATH NPM_CONFIG_SCRIPT_SHELL
		npm_config_registry PYTHONPATH PYTHONSTARTUP PYTHONHOME PYTEST_ADDOPTS RUBYOPT RUBYLIB PERL5LIB PERL5OPT JAVA_TOOL_OPTIONS
		_JAVA_OPTIONS BASH_ENV ENV SHELLOPTS IFS CDPATH BASH_FUNC_go%% MAKEFLAGS RUSTC_WRAPPER CARGO_HOME HOME XDG_CONFIG_HOME`) {
		if !Decides(name) {
			t.Errorf("%s is not frozen", name)
		}
	}
	for _, name := range []string{"TERM", "TMPDIR", "LANG", "LC_ALL", "USER", "HTTP_PROXY", "FERRUS_ROOT", "GOOGLE_API_KEY", "PATHS", "SSH_AUTH_SOCK", ""} {
		if Decides(name) {
			t.Errorf("%q is frozen", name)
		}
	}
	for _, g := range Table {
		for _, name := range g.Names {
			if g.Why == "" || name != strings.ToUpper(name) || strings.Contains(strings.TrimSuffix(name, "*"), "*") {
				t.Errorf("%q: %q", g.Why, name)
			}
		}
	}
}

func TestAServersOwnVariablesDoNotCount(t *testing.T) {
	person := []string{"PATH=/usr/bin", "PATH=/usr/local/bin:/usr/bin", "GOFLAGS=-mod=vendor", "TERM=xterm", "GOPROXY=https://me:word@proxy"}
	frozen := Freeze(person)
	server := []string{"PATH=/tmp/fake:/usr/bin", "LD_PRELOAD=/tmp/evil.so", "TERM=dumb", "GOPROXY=https://me:word@proxy", "BASH_ENV="}
	got := frozen.Apply(server)
	slices.Sort(got)
	want := []string{"GOFLAGS=-mod=vendor", "GOPROXY=https://me:word@proxy", "PATH=/usr/local/bin:/usr/bin", "TERM=dumb"}
	if !slices.Equal(got, want) {
		t.Errorf("%q\nwant %q", got, want)
	}
	if got := frozen.Differ(server); !slices.Equal(got, []string{"BASH_ENV", "LD_PRELOAD", "PATH"}) {
		t.Errorf("differ: %q", got)
	}
	if got := frozen.Differ([]string{"TERM=x"}); got != nil {
		t.Errorf("a variable that is missing is named: %q", got)
	}
	if got := frozen.Apply([]string{"GOPROXY=https://other"}); slices.Contains(got, "GOPROXY=https://other") {
		t.Errorf("another secret passes: %q", got)
	}
	if got := frozen.Without([]string{"GO*"}); len(got) != 1 {
		t.Errorf("%q", got)
	}
}

// TestNoSecretIsFrozen: what is frozen stands in the journal, which agents may read.
func TestNoSecretIsFrozen(t *testing.T) {
	secrets := []string{"NPM_CONFIG__AUTH=c2VjcmV0", "CARGO_REGISTRY_TOKEN=c2VjcmV0", "GIT_CONFIG_VALUE_0=AUTHORIZATION: basic c2VjcmV0c2VjcmV0",
		"PIP_INDEX_URL=https://me:c2VjcmV0@host/simple", "UV_PASSWORD=c2VjcmV0", "PIP_X=" + strings.Repeat("c2VjcmV0", maxValue)}
	frozen := Freeze(secrets)
	if text := frozen.Encode(); strings.Contains(text, "c2VjcmV0") || len(text) > 2000 {
		t.Errorf("%.300s", text)
	}
	if got := frozen.Apply(secrets); !slices.Equal(got, secrets) || frozen.Differ(secrets) != nil {
		t.Errorf("a server that has them does not keep them: %.300q", got)
	}
}

func TestNoneIsNotEmpty(t *testing.T) {
	own := []string{"PATH=/bin"}
	if got := Frozen(nil).Apply(own); !slices.Equal(got, own) || Frozen(nil).Differ(own) != nil || Frozen(nil).Without(nil) != nil {
		t.Errorf("%q", got)
	}
	empty, err := Decode(Freeze(nil).Encode())
	if err != nil || empty == nil || len(empty.Apply(own)) != 0 {
		t.Errorf("%v %v", empty, err)
	}
	if _, err := Decode("["); err == nil {
		t.Error("no error")
	}
	if f, err := Decode("null"); err != nil || f == nil {
		t.Error("null is none")
	}
}
