package trust

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/test/kit"
)

// place is a project and a state folder that does not exist yet.
func place(t *testing.T) (root, state string) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	root, state = filepath.Join(dir, "project"), filepath.Join(dir, "state", "ferrus")
	if err := os.Mkdir(root, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv(EnvStateDir, state)
	t.Setenv(EnvTrust, "")
	return root, state
}

func TestMain(m *testing.M) { os.Exit(kit.Main(m.Run)) }

// TestTestsHaveFoldersOfTheirOwn: package kit, which sets the variables of this package, has their names.
func TestTestsHaveFoldersOfTheirOwn(t *testing.T) {
	for name, set := range map[string]bool{EnvTrust: false, EnvXDGState: false, EnvStateDir: true, EnvXDGConf: true} {
		if value, known := os.LookupEnv(name); !known || (value != "") != set {
			t.Errorf("%s is %q, %v", name, value, known)
		}
	}
}

func open(t *testing.T, root string) *Project {
	t.Helper()
	p, err := Open(root)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

var some = []Value{{"checks.commands", `["make test"]`, "runs"}, {"notify.command", `"beep"`, "runs"}}

func agreed(t *testing.T, p *Project, values []Value, want bool) {
	t.Helper()
	if got, err := p.Agreed(values); got != want || err != nil {
		t.Errorf("agreed: %v, %v; want %v", got, err, want)
	}
}

func TestAnAgreementLastsAndIsOfTheseValuesAlone(t *testing.T) {
	root, state := place(t)
	p := open(t, root)
	agreed(t, p, some, false)
	agreed(t, p, nil, false)
	if _, err := os.Lstat(state); err == nil {
		t.Error("a question made the state folder")
	}
	if err := p.Agree(some); err != nil {
		t.Fatal(err)
	}
	p = open(t, root)
	agreed(t, p, some, true)
	agreed(t, p, []Value{some[1], {some[0].Key, some[0].Value, "another sentence"}}, true)
	agreed(t, p, some[:1], false)
	agreed(t, p, []Value{some[0], {"notify.command", `"beep "`, "runs"}}, false)
	link := filepath.Join(filepath.Dir(root), "link")
	if err := os.Symlink(root, link); err == nil {
		agreed(t, open(t, link), some, true)
	}
	r, found, err := p.Record()
	if newest, ok := r.Newest(); !found || err != nil || !ok || newest.Digest != Digest(some) || r.Path != root || r.Seen.IsZero() {
		t.Errorf("record %+v, %v, %v", r, found, err)
	}
	if n, err := p.Revoke(); n != 1 || err != nil {
		t.Errorf("revoke: %d, %v", n, err)
	}
	agreed(t, p, some, false)
	for range 2 { // the folder comes and goes under a server
		if err := p.Agree(some); err != nil {
			t.Fatal(err)
		}
		agreed(t, p, some, true)
		if err := os.RemoveAll(state); err != nil {
			t.Fatal(err)
		}
		agreed(t, p, some, false)
	}
}

// TestFERRUS_TRUSTNeedsNoFolder: an agreement for one process tree writes nothing and reads nothing.
func TestFERRUS_TRUSTNeedsNoFolder(t *testing.T) {
	root, state := place(t)
	t.Setenv(EnvTrust, Digest(some))
	if err := os.WriteFile(filepath.Dir(state), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	p := open(t, root)
	agreed(t, p, some, true)
	if got, err := p.Agreed(some[:1]); got || err == nil {
		t.Errorf("other values: %v, %v", got, err)
	}
}

// TestWhatNobodyAgreedToIsNamed: each value counts by itself, in whichever agreement it stands.
func TestWhatNobodyAgreedToIsNamed(t *testing.T) {
	root, _ := place(t)
	p := open(t, root)
	run := func(command string) Value { return Value{"workflows.p.a.lint.run", command, "runs"} }
	never := func(values, agreed []Value, want ...Value) {
		t.Helper()
		if got, err := p.NeverAgreed(values, agreed); err != nil || !slices.Equal(got, want) {
			t.Errorf("never agreed to are %v, %v; want %v", got, err, want)
		}
	}
	never(some, nil, some...)
	for _, values := range [][]Value{{run("make")}, some} {
		if err := p.Agree(values); err != nil {
			t.Fatal(err)
		}
	}
	never([]Value{run("make"), some[1]}, nil)
	never([]Value{run("evil"), some[0]}, nil, run("evil"))
	never([]Value{run("evil")}, []Value{run("evil")})
}

func TestOnlySoManyAgreementsAreKept(t *testing.T) {
	root, _ := place(t)
	p := open(t, root)
	for i := range maxAgreed + 3 {
		if err := p.Agree([]Value{{"k", fmt.Sprint(i), ""}}); err != nil {
			t.Fatal(err)
		}
	}
	r, _, err := p.Record()
	if len(r.Agreed) != maxAgreed || r.Agreed[0].Values[0].Value != "3" || err != nil {
		t.Errorf("%d agreements, the oldest %+v, %v", len(r.Agreed), r.Agreed[0], err)
	}
}

// TestUpdatesLoseNothing: of many processes that change a record at once each change is there.
func TestUpdatesLoseNothing(t *testing.T) {
	root, _ := place(t)
	var group sync.WaitGroup
	for i := range 8 {
		p := open(t, root)
		group.Go(func() {
			for range 5 {
				err := p.Update(func(r *Record) error {
					if r.Environ == nil {
						r.Environ = map[string]string{}
					}
					r.Environ[fmt.Sprint(i)] += "x"
					r.Journal.Off++
					return nil
				})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	r, _, err := open(t, root).Record()
	if r.Journal.Off != 40 || len(r.Environ) != 8 || err != nil {
		t.Errorf("%+v, %v", r, err)
	}
	p := open(t, root)
	stop := errors.New("stop")
	if err := p.Update(func(r *Record) error { r.Journal.Off = 0; return stop }); err != stop {
		t.Error(err)
	}
	if r, _, _ := p.Record(); r.Journal.Off != 40 {
		t.Error("a change that was given up was written")
	}
}

// TestADamagedRecordAgreesToNothing, however it is damaged: every prefix, and every way of not being a record.
func TestADamagedRecordAgreesToNothing(t *testing.T) {
	root, _ := place(t)
	p := open(t, root)
	if err := p.Agree(some); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(p.Path())
	if err != nil {
		t.Fatal(err)
	}
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(p.Path(), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cases, bad := 0, 0
	defer func() { t.Logf("rig: cases=%d bad=%d", cases, bad) }()
	refused := func(name string) {
		t.Helper()
		cases++
		got, err := p.Agreed(some)
		var mine *refusal.RefusedError
		if got || !errors.As(err, &mine) || mine.Remedy == "" {
			bad++
			t.Errorf("%s: %v, %v", name, got, err)
		}
		if err := p.Agree(some); err == nil {
			bad++
			t.Errorf("%s: it was written over", name)
		}
	}
	step := 17
	if kit.Full() {
		step = 1
	}
	for n := 0; n < len(strings.TrimSpace(string(text))); n += step {
		write(string(text[:n]))
		refused(fmt.Sprint(n, " bytes"))
	}
	for name, change := range map[string][2]string{
		"newer":          {`"version": 1`, `"version": 2`},
		"no version":     {`"version": 1`, `"version": 0`},
		"other project":  {`/project"`, `/projekt"`},
		"other values":   {`\"beep\"`, `\"beep; rm\"`},
		"unknown field":  {`"journal"`, `"jornal"`},
		"other digest":   {Digest(some), strings.Repeat("0", 64)},
		"wrong type":     {`"journal": {}`, `"journal": 3`},
		"no digest":      {Digest(some), ""},
		"trailing bytes": {"\n}\n", "\n}\n}"},
	} {
		changed := strings.Replace(string(text), change[0], change[1], 1)
		if changed == string(text) {
			t.Fatalf("%s: nothing to change in %s", name, text)
		}
		write(changed)
		refused(name)
	}
	write(string(text))
	agreed(t, p, some, true)
}

// TestAFolderThatSomebodyElseDecidesIsRefused: a repository may name the state folder, in a committed .mcp.json.
func TestAFolderThatSomebodyElseDecidesIsRefused(t *testing.T) {
	root, state := place(t)
	top := filepath.Dir(root)
	mkdir := func(parts ...string) string {
		t.Helper()
		dir := filepath.Join(append([]string{top}, parts...)...)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	if err := os.WriteFile(filepath.Join(mkdir("git", ".git"), "HEAD"), []byte("ref: refs/heads/main\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	mkdir("placeholder", ".git") // of a client's sandbox: no repository
	mkdir("other", ".ferrus")
	if err := os.WriteFile(filepath.Join(mkdir("plain"), "ferrus.toml"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(mkdir("elsewhere"), filepath.Join(top, "git", "link")); err != nil {
		t.Skip(err)
	}
	if err := os.Symlink(filepath.Join(top, "git"), filepath.Join(top, "to-git")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(mkdir("git", "below"), filepath.Join(top, "to-below")); err != nil {
		t.Fatal(err)
	}
	cases, bad := 0, 0
	defer func() { t.Logf("rig: cases=%d bad=%d", cases, bad) }()
	for _, dir := range []string{
		filepath.Join(top, "to-below", "x"), filepath.Join(top, "git", "state"), filepath.Join(top, "git"), filepath.Join(top, "other", "deep", "down"),
		filepath.Join(top, "plain", "x"), filepath.Join(top, "git", "link", "x"), filepath.Join(top, "to-git", "x"), "state", "./x",
	} {
		t.Setenv(EnvStateDir, dir)
		var mine *refusal.RefusedError
		cases++
		if got, err := StateDir(); !errors.As(err, &mine) || mine.Remedy == "" {
			bad++
			t.Errorf("%s: %q, %v", dir, got, err)
		}
	}
	t.Setenv(EnvStateDir, filepath.Join(top, "placeholder", "state"))
	if _, err := StateDir(); err != nil {
		t.Error(err)
	}
	t.Setenv(EnvStateDir, filepath.Join(root, "state")) // a project without git and without anything
	p := open(t, root)
	if err := p.Agree(some); err == nil {
		t.Error("a state folder in the project was used")
	}
	t.Setenv(EnvStateDir, "")
	t.Setenv(EnvXDGState, filepath.Join(top, "git"))
	if got, err := StateDir(); err == nil {
		t.Error(got)
	}
	t.Setenv(EnvXDGState, filepath.Dir(state))
	if got, err := StateDir(); got != state || err != nil {
		t.Error(got, err)
	}
	t.Setenv(EnvXDGConf, filepath.Join(top, "git"))
	if got, err := ConfigDir(); err == nil {
		t.Error(got)
	}
}

func TestTheDigestIsOfMeaningAlone(t *testing.T) {
	if Digest(nil) != Digest([]Value{}) {
		t.Error("nil is not empty")
	}
	turned := slices.Clone(some)
	slices.Reverse(turned)
	if Digest(some) != Digest(turned) {
		t.Error("the order counts")
	}
	seen := map[string]bool{Digest(some): true, Digest(nil): true}
	for _, other := range [][]Value{
		some[:1], some[1:], {{"checks.commands", `["make test"] notify.command`, ""}},
		{{"a", `b","c`, ""}}, {{"a", "b", ""}, {"c", "", ""}}, {{`a","b`, "c", ""}},
	} {
		if d := Digest(other); seen[d] || len(d) != 64 {
			t.Errorf("%v: %s", other, d)
		}
		seen[Digest(other)] = true
	}
}

func TestVisibleShowsEveryCharacter(t *testing.T) {
	for text, want := range map[string]string{
		"make test": "make test", "caf\u00e9 \u65e5": "caf\u00e9 \u65e5", "a\x1b[2Kb": `a\x1b[2Kb`, "a\u202eb": `a\u202eb`,
		"a\ufe0fb": `a\ufe0fb`, "a\U000e0041b": `a\U000e0041b`, "a\u3164b": `a\u3164b`, "a\u00adb\u200b": `a\u00adb\u200b`,
		"a\nb\rc\td\x7f": `a\nb\rc\td\x7f`, "a\u0085b": `a\u0085b`, "a\u00a0b": `a\u00a0b`, "it's": "it's",
	} {
		if got := Visible(text); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

func TestDiffNamesWhatChanged(t *testing.T) {
	now := []Value{{"checks.commands", `["make check"]`, "runs"}, {"deliver.to", `"file"`, "writes"}}
	got, _ := json.Marshal(Diff(some, now))
	want := `[{"key":"checks.commands","was":"[\"make test\"]","now":"[\"make check\"]","does":"runs"},` +
		`{"key":"deliver.to","now":"\"file\"","does":"writes"},{"key":"notify.command","was":"\"beep\"","does":"runs"}]`
	if string(got) != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}
