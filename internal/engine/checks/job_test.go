//go:build unix

package checks

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

var noDurations = cmpopts.IgnoreTypes(time.Duration(0))

func TestAllCommandsRunAndTheFailingOnesSayWhy(t *testing.T) {
	spec := specFor(t,
		"echo fine; pwd",
		"printf 'one\\ntwo\\n\\033[31mthree\\033[0m\\n'; echo four >&2; exit 3",
		"kill -TERM $$",
		"echo last > ran",
	)
	spec.TailLines = 2
	r := finished(t, spec)
	want := Result{Status: Failed, Commands: []Command{
		{Line: spec.Commands[0]},
		{Line: spec.Commands[1], ExitCode: 3, Tail: "three\nfour"},
		{Line: spec.Commands[2], ExitCode: -1, Signal: "SIGTERM"},
		{Line: spec.Commands[3]},
	}}
	if diff := cmp.Diff(want, r, noDurations); diff != "" {
		t.Errorf("result (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(want.Commands[1:3], r.Failures(), noDurations); diff != "" {
		t.Errorf("failures (-want +got):\n%s", diff)
	}
	if r.Duration <= 0 || r.Commands[0].Duration <= 0 {
		t.Error("durations are missing")
	}
	if read(t, filepath.Join(spec.Dir, "ran")) != "last\n" {
		t.Error("the last command did not run in the work tree")
	}
	log := read(t, spec.Log)
	for _, want := range []string{
		"==> [1/4] echo fine; pwd\nfine\n" + spec.Dir + "\n<== [1/4] exit status 0 after ",
		"\x1b[31mthree\x1b[0m\nfour\n<== [2/4] exit status 3 after ",
		"<== [3/4] ended by SIGTERM after ",
	} {
		if !strings.Contains(log, want) {
			t.Errorf("the log lacks %q:\n%s", want, log)
		}
	}
	if info, err := os.Stat(spec.Log); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("log: %v %v", info.Mode(), err)
	}
}

func TestPassing(t *testing.T) {
	r := finished(t, specFor(t, "true", "echo noise"))
	if r.Status != Passed || len(r.Commands) != 2 || r.Failures() != nil || r.Commands[1].Tail != "" {
		t.Errorf("%+v", r)
	}
}

func TestNoCommandsIsAGateErrorAndAnEmptyListPasses(t *testing.T) {
	spec := specFor(t)
	spec.Commands = nil
	if r := finished(t, spec); r.Status != GateError || !strings.Contains(r.Err, "add [checks] commands to ferrus.toml") {
		t.Errorf("nil: %+v", r)
	}
	spec.Commands = []string{}
	if r := finished(t, spec); r.Status != Passed {
		t.Errorf("empty: %+v", r)
	}
}

func TestATimeLimitEndsACommandAndNotTheRun(t *testing.T) {
	spec := specFor(t, "echo begun; sleep 1000 | cat", "echo next; exit 1")
	spec.Timeout = 300 * time.Millisecond
	r := finished(t, spec)
	want := []Command{
		{Line: spec.Commands[0], ExitCode: -1, Signal: "SIGKILL", TimedOut: true, Tail: "begun"},
		{Line: spec.Commands[1], ExitCode: 1, Tail: "next"},
	}
	if diff := cmp.Diff(want, r.Commands, noDurations); diff != "" || r.Status != Failed {
		t.Errorf("%s %s (-want +got):\n%s", r.Status, r.Err, diff)
	}
}

func TestACommandReadsNothingAndHasNoTerminal(t *testing.T) {
	if r := finished(t, specFor(t, "cat", "! cat </dev/tty", "test $(ps -o sid= -p $$) -eq $PPID")); r.Status != Passed {
		t.Errorf("%+v", r)
	}
}

func TestWhatCannotRunIsAGateError(t *testing.T) {
	spec := specFor(t, "no-such-command-here", "./data", "false")
	if err := os.WriteFile(filepath.Join(spec.Dir, "data"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	r := finished(t, spec)
	if r.Status != GateError || len(r.Commands) != 3 {
		t.Fatalf("%+v", r)
	}
	for i, want := range []int{127, 126, 1} {
		if r.Commands[i].ExitCode != want {
			t.Errorf("%+v, want exit status %d", r.Commands[i], want)
		}
	}
	for _, want := range []string{`"no-such-command-here": exit status 127`, `"./data": exit status 126`} {
		if !strings.Contains(r.Err, want) {
			t.Errorf("%q lacks %q", r.Err, want)
		}
	}

	for name, spoil := range map[string]func(*Spec){
		"no work tree":   func(s *Spec) { s.Dir += "/none" },
		"no log":         func(s *Spec) { s.Log = filepath.Join(s.Dir, "none", "log") },
		"log a full dir": func(s *Spec) { s.Log = filepath.Dir(s.Dir) },
		"lock a link": func(s *Spec) {
			s.Lock += ".link"
			if err := os.Symlink("elsewhere", s.Lock); err != nil {
				t.Fatal(err)
			}
		},
	} {
		spec := specFor(t, "true")
		spoil(&spec)
		if r := finished(t, spec); r.Status != GateError {
			t.Errorf("%s: %+v", name, r)
		}
		if _, err := os.Lstat(filepath.Join(spec.Dir, "elsewhere")); err == nil {
			t.Errorf("%s: a link was followed", name)
		}
	}
}

func TestAFullDiskIsAGateErrorAndDoesNotStopTheCommands(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("no /dev/full")
	}
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	log := &transcript{file: full, commands: 1, left: 100}
	s := log.begin("x")
	if n, err := s.Write([]byte("output")); n != 6 || err != nil {
		t.Errorf("Write = %d, %v", n, err)
	}
	s.end(Command{})
	if log.close() == nil {
		t.Error("the log claims to be written")
	}
}

func TestTheLogReplacesWhatStandsThere(t *testing.T) {
	spec := specFor(t, "echo new")
	victim := filepath.Join(spec.Dir, "victim")
	if err := os.WriteFile(victim, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(victim, spec.Log); err != nil {
		t.Fatal(err)
	}
	if r := finished(t, spec); r.Status != Passed || read(t, victim) != "precious" {
		t.Errorf("%+v; the victim is %q", r, read(t, victim))
	}
}

func TestMalformedSpecsAreRefused(t *testing.T) {
	for name, spoil := range map[string]func(*Spec){
		"relative dir":  func(s *Spec) { s.Dir = "." },
		"relative log":  func(s *Spec) { s.Log = "log" },
		"no lock":       func(s *Spec) { s.Lock = "" },
		"bad pattern":   func(s *Spec) { s.EnvDeny = []string{"A[", "B"} },
		"worse pattern": func(s *Spec) { s.EnvDeny = []string{"B", `A\`} },
	} {
		spec := specFor(t, "true")
		spoil(&spec)
		if _, err := Start(spec); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestCommandsDoNotSeeWhatIsDenied(t *testing.T) {
	t.Setenv("FERRUS_TEST_API_KEY", "secret")
	t.Setenv("FERRUS_TEST_TOKEN", "secret")
	t.Setenv("FERRUS_NOTIFY_URL", "secret")
	for _, name := range []string{"PGHOST", "PGHOSTADDR", "PGPORT", "PGUSER", "PGPASSWORD", "PGPASSFILE", "PGSERVICE", "PGSERVICEFILE", "PGSSLKEY"} {
		t.Setenv(name, "secret")
	}
	t.Setenv("FERRUS_TEST_KEPT", "kept")
	spec := specFor(t, "env", "cat /proc/$PPID/environ || :")
	spec.EnvDeny = []string{"*_API_KEY", "FERRUS_TEST_TOKEN"}
	spec.Env["FERRUS_TEST_TOKEN"] = "given"
	spec.Env["FERRUS_TEST_ADDED"] = "a=b c"
	spec.Env["PGHOST"] = "of the project"
	r := finished(t, spec)
	log := read(t, spec.Log)
	if r.Status != Passed || strings.Contains(log, "secret") {
		t.Errorf("%+v\n%s", r, log)
	}
	for _, want := range []string{"FERRUS_TEST_KEPT=kept", "FERRUS_TEST_TOKEN=given", "FERRUS_TEST_ADDED=a=b c", "PGHOST=of the project"} {
		if !strings.Contains(log, want+"\n") {
			t.Errorf("the environment lacks %s", want)
		}
	}
}

func TestTheMarkAndTheWorkTreeComeLastInTheEnvironment(t *testing.T) {
	o := order{Spec: Spec{Dir: "/work", Env: map[string]string{"B": "2", "A": "1", markName: "forged"}}, Mark: "m"}
	want := []string{"PWD=/old", "A=1", "B=2", markName + "=forged", "PWD=/work", markName + "=m"}
	if diff := cmp.Diff(want, commandEnv(o, []string{"PWD=/old"})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestDenyingEverythingLeavesOnlyWhatIsAdded(t *testing.T) {
	spec := specFor(t, `test -z "$HOME" -a -n "$SELF"`)
	spec.EnvDeny = []string{"*"}
	if r := finished(t, spec); r.Status != Passed {
		t.Errorf("%+v", r)
	}
}

func TestACheckThatEndsItsGroupDoesNotEndTheRun(t *testing.T) {
	r := finished(t, specFor(t, "kill -KILL 0", "true"))
	if r.Status != Failed || len(r.Commands) != 2 || r.Commands[0].Signal != "SIGKILL" {
		t.Errorf("%+v", r)
	}
}

func TestACheckCannotWriteItsOwnResult(t *testing.T) {
	const forge = `echo '{"Result":{"status":"passed"}}' > /proc/$PPID/fd/1; ` // only root may
	for end, want := range map[string]Status{"kill -9 $PPID": GateError, "exit 1": Failed} {
		if r := finished(t, specFor(t, forge+end)); r.Status != want {
			t.Errorf("%s: %+v", end, r)
		}
	}
}
