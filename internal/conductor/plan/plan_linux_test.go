package plan_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ferrus-go/ferrus/internal/conductor/plan"
	"github.com/ferrus-go/ferrus/internal/config"
	"github.com/ferrus-go/ferrus/internal/engine/enginetest"
	"github.com/ferrus-go/ferrus/internal/platform/sandbox"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
)

func TestMain(m *testing.M) {
	sandbox.Stage()
	another()
	os.Exit(enginetest.Main(m.Run))
}

// gate is one under which an executor has a sandbox.
func gate(t *testing.T) config.Gate {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := sandbox.Probe(t.Context(), sandbox.Landlock, self); err != nil {
		t.Skip(err)
	}
	c := config.Default()
	c.Checks.Sandbox, c.HQ.Sandbox.Mode = config.AnySandbox, "landlock"
	return c.Gate()
}

// TestASandboxThatCannotBeIsRefused with what to do, before anything starts.
func TestASandboxThatCannotBeIsRefused(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	m := enginetest.Repository(t, "")
	tools := filepath.Join(home, "tools")
	t.Setenv("PATH", os.Getenv("PATH")+":"+tools)
	for _, dir := range []string{".ssh", ".pgpass", ".cache/x", ".config/x", "tools", "project/.git"} {
		if err := os.MkdirAll(filepath.Join(home, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	m.Write("file", "")
	m.Write(".git/ferrus/x/journal.jsonl", "")
	link := filepath.Join(m.Side, "link")
	if err := os.Symlink(m.Dir, link); err != nil {
		t.Fatal(err)
	}
	at := func(name string) string { return filepath.Join(m.Dir, name) }
	state := os.Getenv("FERRUS_STATE_DIR")
	type change func(*config.Gate)
	write := func(path string) change { return func(g *config.Gate) { g.HQ.Sandbox.Write = []string{path} } }
	read := func(path string) change { return func(g *config.Gate) { g.HQ.Sandbox.Read = []string{path} } }
	for name, c := range map[string]struct {
		change change
		want   string // "" for nothing
	}{
		"as it is":                 {func(*config.Gate) {}, ""},
		"off":                      {func(g *config.Gate) { g.HQ.Sandbox = config.Sandbox{}; g.Checks.Sandbox = "" }, ""},
		"the strongest":            {func(g *config.Gate) { g.HQ.Sandbox.Mode = config.AnySandbox }, ""},
		"checks outside":           {func(g *config.Gate) { g.Checks.Sandbox = config.NoSandbox }, "the checks run what the executor wrote"},
		"a folder of caches":       {write(filepath.Join(home, ".cache")), ""},
		"the root":                 {write("/"), "give away"},
		"the home folder":          {write(home), "give away " + home},
		"a folder above it":        {write(filepath.Dir(home)), "give away " + home},
		"the project":              {write(m.Dir), "give away " + m.Dir},
		"the project by a link":    {write(link), "give away " + m.Dir},
		"a path with ..":           {write(at(".ferrus/../.ferrus")), "give away"},
		".ferrus":                  {write(at(".ferrus")), "give away"},
		"a folder of .ferrus":      {write(at(".ferrus/logs")), "give away"},
		".git":                     {write(at(".git")), "give away"},
		"its hooks":                {write(at(".git/objects")), "give away"},
		"a login":                  {write(filepath.Join(home, ".ssh")), "give away"},
		"the settings of programs": {write(filepath.Join(home, ".config/x")), "give away"},
		"a folder on the PATH":     {write(tools), "give away"},
		"ferrus's own records":     {write(state), "give away"},
		"a folder of the system":   {write("/usr/lib"), "give away"},
		"the devices":              {write("/dev"), "give away"},
		"a file":                   {write(at("file")), "no folder"},
		"a relative path":          {write("x"), "absolute"},
		"a folder in another": {func(g *config.Gate) {
			g.HQ.Sandbox.Write, g.HQ.Sandbox.Read = []string{filepath.Join(home, ".cache")}, []string{filepath.Join(home, ".cache/x")}
		}, "is writable"},
		"what is missing":                  {write(at("missing")), "no such path"},
		"reading .git":                     {read(at(".git")), "give away"},
		"reading the journal in .git":      {read(at(".git/ferrus")), "give away"},
		"reading .ferrus":                  {read(at(".ferrus")), "give away"},
		"reading the project":              {read(m.Dir), "give away"},
		"reading a key":                    {read(filepath.Join(home, ".ssh")), "give away"},
		"reading passwords of databases":   {read(filepath.Join(home, ".pgpass")), "give away"},
		"reading the home folder":          {read(home), "give away"},
		"reading the root":                 {read("/"), "give away"},
		"reading a file of the project":    {read(at("file")), ""},
		"reading what is missing":          {read(at("missing")), "no such path"},
		"reading the records of ferrus":    {read(state), "give away"},
		"reading a tool chain of the home": {read(tools), ""},
	} {
		t.Run(name, func(t *testing.T) {
			if path := state; strings.Contains(name, "records") {
				if err := os.MkdirAll(path, 0o700); err != nil {
					t.Fatal(err)
				}
			}
			g := gate(t)
			c.change(&g)
			err := plan.Check(t.Context(), g, project.Place{Root: m.Dir, Branch: "alt"}, false)
			if c.want == "" && err != nil || c.want != "" && (refusal.CodeOf(err) != refusal.InvalidInput || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("%v, and not %q", err, c.want)
			}
		})
	}
	t.Run("the project's own work tree", func(t *testing.T) {
		place := project.Place{Root: m.Dir}
		if err := plan.Check(t.Context(), gate(t), place, false); refusal.CodeOf(err) != refusal.InvalidInput || !strings.Contains(err.Error(), "own work tree") {
			t.Error(err)
		}
		if err := plan.Check(t.Context(), gate(t), place, true); err != nil {
			t.Errorf("of a task that gets a branch: %v", err)
		}
	})
	t.Run("a path in the project's own work tree", func(t *testing.T) {
		g := gate(t)
		self, err := os.Executable()
		if err == nil {
			err = sandbox.Probe(t.Context(), sandbox.Bwrap, self)
		}
		if err != nil {
			t.Skip(err)
		}
		g.HQ.Sandbox.Mode, g.HQ.Sandbox.Read = "bwrap", []string{at("file")}
		if err := plan.Check(t.Context(), g, project.Place{Root: m.Dir, Work: m.Dir}, false); refusal.CodeOf(err) != refusal.InvalidInput || !strings.Contains(err.Error(), "lies in the work tree") {
			t.Error(err)
		}
	})
	t.Run("a partial clone", func(t *testing.T) {
		m.Git("config", "remote.origin.promisor", "true")
		defer m.Git("config", "--unset", "remote.origin.promisor")
		if err := plan.Check(t.Context(), gate(t), project.Place{Root: m.Dir, Branch: "alt"}, false); refusal.CodeOf(err) != refusal.InvalidInput || !strings.Contains(err.Error(), "partial clone") {
			t.Error(err)
		}
	})
	t.Run("a folder without git", func(t *testing.T) {
		p := enginetest.Plain(t, "")
		if err := plan.Check(t.Context(), gate(t), project.Place{Root: p.Dir, Branch: "alt"}, false); refusal.CodeOf(err) != refusal.InvalidInput || !strings.Contains(err.Error(), "git") {
			t.Error(err)
		}
	})
}

// TestTheEnvironmentLeadsNowhereOutside: what names sockets, records and folders elsewhere is gone, and keys stay.
func TestTheEnvironmentLeadsNowhereOutside(t *testing.T) {
	m := enginetest.Repository(t, "")
	work := filepath.Join(m.Dir, ".ferrus/worktrees/alt")
	for _, dir := range []string{work, filepath.Join(m.Dir, ".ferrus/branches/alt")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	given := []string{"PATH=/usr/bin:/bin", "HOME=/home/me", "TMPDIR=/tmp/x", "SSH_AUTH_SOCK=/run/s", "DBUS_SESSION_BUS_ADDRESS=unix:x", "CODEX_HOME=/home/me/.codex",
		"CLAUDE_CONFIG_DIR=/home/me/.claude", "XDG_CONFIG_HOME=/home/me/.config", "FERRUS_STATE_DIR=/home/me/s", "GOCACHE=/home/me/c", "CARGO_HOME=/home/me/cargo", "CARGO_TARGET_DIR=/home/me/t", "GIT_CONFIG_GLOBAL=/x", "OPENAI_API_KEY=sesame", "LANG=C",
		"PGPASSFILE=/home/me/.pgpass", "PGSERVICEFILE=/home/me/.pg_service.conf"}
	m.Write("Cargo.toml", "[workspace]\n")
	p, err := plan.Of(t.Context(), plan.Executor{Gate: gate(t), Place: project.Place{Root: m.Dir, Branch: "alt"}, Work: work, Ferrus: self, Environ: given})
	if err != nil {
		t.Fatal(err)
	}
	order, env := p.Order, p.Environ
	for _, entry := range env {
		if strings.Contains(entry, "/home/me") || strings.Contains(entry, "/run/") || strings.Contains(entry, "unix:") || entry == "TMPDIR=/tmp/x" {
			t.Errorf("it has %s", entry)
		}
	}
	for _, want := range []string{"PATH=/usr/bin:/bin", "OPENAI_API_KEY=sesame", "LANG=C", "HOME=" + order.Folder.Home(), "TMPDIR=" + order.Folder.Temp()} {
		if !slices.Contains(env, want) {
			t.Errorf("%s is missing in %q", want, env)
		}
	}
	if !slices.Contains(order.Deny, filepath.Join(m.Dir, ".ferrus", "journal.jsonl")) || !slices.Contains(order.Read, self) ||
		!slices.Contains(order.Read, filepath.Join(m.Dir, "Cargo.toml")) {
		t.Errorf("%+v", order)
	}
}

// TestTheSandboxIsFrozen: an executor that edits ferrus.toml does not leave it.
func TestTheSandboxIsFrozen(t *testing.T) {
	frozen := gate(t)
	for key, change := range map[string]func(*config.Gate){
		"hq.executor.sandbox": func(g *config.Gate) { g.HQ.Sandbox.Mode = config.NoSandbox },
		"hq.executor.read":    func(g *config.Gate) { g.HQ.Sandbox.Read = []string{"/"} },
		"hq.executor.write":   func(g *config.Gate) { g.HQ.Sandbox.Write = []string{"/"} },
	} {
		now := frozen
		change(&now)
		if changes := frozen.Diff(now); len(changes) != 1 || changes[0].Key != key {
			t.Errorf("%s: %v", key, changes)
		}
	}
}
