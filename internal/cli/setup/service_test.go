//go:build unix

package setup

import (
	"encoding/xml"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ferrus-go/ferrus/internal/cli"
	"github.com/ferrus-go/ferrus/internal/conductor"
	"github.com/ferrus-go/ferrus/test/golden"
)

// both are a service of steps and one of nights, of a project with an awkward name.
func both(t *testing.T) map[string]service {
	t.Helper()
	t.Setenv("PATH", "/usr/local/bin:relative:/usr/bin")
	for _, name := range inherited[1:] {
		t.Setenv(name, "")
	}
	t.Setenv("CODEX_HOME", "/home/anna/50% off")
	t.Setenv("ANTHROPIC_API_KEY", "secret")
	list := map[string]service{}
	for name, how := range map[string]serving{"step": {every: 5 * time.Minute, parallel: 3}, "night": {at: "22:30", until: "07:00", parallel: 2}} {
		s, err := how.service(`/home/anna/My "site" & $more <100%>`, "/home/anna", "/opt/ferrus/bin/ferrus")
		if err != nil {
			t.Fatal(err)
		}
		list[name] = s
	}
	return list
}

// TestWhatTheSystemsAreGiven holds their files. No variable with a key is in them.
func TestWhatTheSystemsAreGiven(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", "")
	for name, s := range both(t) {
		for _, sys := range systems {
			for _, f := range sys.files(s) {
				if strings.Contains(f.Text, "secret") {
					t.Errorf("%s has a key:\n%s", f.Path, f.Text)
				}
				golden.Check(t, filepath.Join("testdata", "service-"+name+"."+sys.name+filepath.Ext(f.Path)), "# "+f.Path+"\n"+f.Text)
			}
		}
	}
}

// awkward are names of folders that mean something to a shell, to cron, or in a unit or a property list.
var awkward = []string{"plain", "two words", "100%", "%h %%", `"quoted"`, "it's", "$HOME ${x} $$", "a&b<c>", "`id`", "#;|*?[x]{y}~", "-x", "ümläut", "two\nlines", "tab\tbed", `back\slash\n`, `\"%\'`}

// TestAwkwardNamesArrive: what is written for a program whose path and arguments are awkward is read back as the system does: by a shell after
// what cron does to a line, by a reader of XML, and by systemd.
func TestAwkwardNamesArrive(t *testing.T) {
	analyze, _ := exec.LookPath("systemd-analyze")
	var units []string
	for _, name := range awkward {
		dir := t.TempDir()
		program := filepath.Join(dir, name)
		script := "#!/bin/sh\nfor w in \"$@\" \"$CODEX_HOME\"; do printf '%s\\0' \"$w\"; done\n"
		if err := os.WriteFile(program, []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
		s := service{Name: serviceName(name), Root: "/" + name, Home: "/home/" + name, Every: 5, Args: []string{program, "-C", "/" + name, name}, Env: []string{"CODEX_HOME=" + name}}
		want := append(slices.Clone(s.Args[1:]), name)

		var plist struct {
			Args []string `xml:"dict>array>string"`
			Env  []string `xml:"dict>dict>string"`
		}
		if err := xml.Unmarshal([]byte(s.plist()), &plist); err != nil || !slices.Equal(plist.Args, s.Args) || !slices.Equal(plist.Env, []string{name}) {
			t.Errorf("launchd has %q for %q: %v", plist, s.Args, err)
		}

		err := s.unfit(systems[2])
		if bad := strings.ContainsAny(name, "\n\\"); bad != (err != nil) {
			t.Errorf("%q in a crontab: %v", name, err)
		}
		if err == nil {
			_, command, _ := strings.Cut(s.cron(), " * * * * ")
			command, _, _ = strings.Cut(command, " 2>&1")
			if plain := strings.ReplaceAll(command, `\%`, ""); strings.Contains(plain, "%") {
				t.Errorf("cron ends the command of %q at a percent: %s", name, command)
			}
			out, err := exec.Command("/bin/sh", "-c", strings.ReplaceAll(command, `\%`, "%")).Output()
			if got := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00"); err != nil || !slices.Equal(got, want) {
				t.Errorf("cron calls %q for %q: %v", got, want, err)
			}
		}

		if bad := strings.ContainsAny(name, "\"'\\\n\t"); bad != (s.unfit(systems[0]) != nil) {
			t.Errorf("%q as a program of systemd: %v", name, s.unfit(systems[0]))
		} else if bad {
			s.Args[0] = "/bin/sh"
		}
		for _, f := range []struct{ ext, text string }{{".service", s.unit()}, {".timer", s.timer()}} {
			units = append(units, filepath.Join(dir, s.Name+f.ext))
			if err := os.WriteFile(units[len(units)-1], []byte(f.text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	if analyze != "" {
		cmd := exec.Command(analyze, append([]string{"verify", "--user", "--man=no"}, units...)...)
		cmd.Env = append(os.Environ(), "XDG_RUNTIME_DIR="+t.TempDir())
		if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
			t.Errorf("systemd: %v\n%s", err, out)
		}
	}
	// What systemd does not tell: the words of a command but the first.
	for word, want := range map[string]string{
		"/a b":  `"/a b"`,
		"100%":  `"100%%"`,
		`a"b`:   `"a\"b"`,
		`a\b`:   `"a\\b"`,
		"a\nb":  `"a\nb"`,
		"$HOME": `"$$HOME"`,
		"it's":  `"it's"`,
	} {
		s := service{Args: []string{"/f", word}}
		if unit := s.unit(); !strings.Contains(unit, "\nExecStart=\"/f\" "+want+"\n") {
			t.Errorf("%q is in\n%s", word, unit)
		}
	}
	if err := (service{Args: []string{"/a\x1bb"}}).unfit(system{}); err == nil {
		t.Error("a control character")
	}
	if err := (service{Args: []string{"/a\xff"}}).unfit(system{}); err == nil {
		t.Error("no UTF-8")
	}
}

// TestANightHasItsHours: a run that a restart has ended goes on within the hour.
func TestANightHasItsHours(t *testing.T) {
	for times, want := range map[[2]string]string{
		{"22:00", "07:00"}: "22,23,0,1,2,3,4,5,6",
		{"22:30", "07:00"}: "22,23,0,1,2,3,4,5,6",
		{"22:30", "07:31"}: "22,23,0,1,2,3,4,5,6,7",
		{"09:00", "09:10"}: "9",
		{"23:59", "00:00"}: "23",
	} {
		at, err := conductor.ParseClock(times[0])
		until, wrong := conductor.ParseClock(times[1])
		if got := commas(hours(at, until)); got != want || errors.Join(err, wrong) != nil {
			t.Errorf("%v: %s", times, got)
		}
	}
}

// TestWhatAServiceCannotBe: each line is refused with what to write.
func TestWhatAServiceCannotBe(t *testing.T) {
	for want, how := range map[string]serving{
		"--parallel 0 is not a number of tasks":                    {every: 5 * time.Minute},
		"--every 7m0s is none of the minutes that divide an hour":  {every: 7 * time.Minute, parallel: 1},
		"--every 1m30s is none of the minutes that divide an hour": {every: 90 * time.Second, parallel: 1},
		"--every 0s is none of the minutes that divide an hour":    {parallel: 1},
		"--at and --until belong together, without --every":        {at: "22:00", parallel: 1},
		"--at 22:00 --until 9h are not two times of the day":       {at: "22:00", until: "9h", parallel: 1},
		"--at 07:00 --until 7:00 are not two times of the day":     {at: "07:00", until: "7:00", parallel: 1},
		"--at and --until belong together, without --every ":       {at: "22:00", until: "07:00", every: time.Minute, parallel: 1},
	} {
		_, err := how.service("/p", "/home", "/ferrus")
		if err == nil || cli.Explain(err).Message != strings.TrimSpace(want) {
			t.Errorf("%q: %v", want, err)
		}
	}
}
