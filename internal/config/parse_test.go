package config

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

var sameValues = cmpopts.IgnoreUnexported(Config{})

func TestAMissingFileIsTheDefaults(t *testing.T) {
	got, err := Load(filepath.Join(t.TempDir(), FileName))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(Default(), got, sameValues); diff != "" {
		t.Error(diff)
	}
}

func TestAFileThatCannotBeReadIsNamed(t *testing.T) {
	dir := t.TempDir()
	if _, err := Load(dir); err == nil || !strings.Contains(err.Error(), dir) {
		t.Errorf("Load(a folder) = %v, want an error that names it", err)
	}
}

func TestEveryKeyIsReadFromTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), FileName)
	text := `
checks = { commands = ["make"], timeout_secs = 1, ignore = ["*.md"], where = "clean", sandbox = "on", network = true, read = ["/srv"], env = { A = "1", "b.c" = "" }, env_deny = [], max_log_mb = 2 }
limits.max_check_retries = 3
limits.max_review_cycles = 4
limits.max_feedback_lines = 5
limits.max_executor_dispatches = 6
limits.max_same_failure = 7
limits.max_progress_notes = 77
limits.max_messages = 78
limits.max_task_minutes = 0
limits.max_task_tokens = 1000000000
limits.max_task_dollars = 12
limits.max_delegates = 5
limits.max_day_minutes = 13
limits.max_day_tokens = 14
limits.max_day_dollars = 15
limits.day_zone = "Asia/Tokyo"
[server]
wait_timeout_secs = 8
[lease]
ttl_secs = 10
heartbeat_interval_secs = 9
max_silence_secs = 11
[notify]
command = "say hello"
urls = ["ntfy://ntfy.sh/x", "$FERRUS_NOTIFY_URL"]
desktop = true
[hq.supervisor]
agent = "gemini"
model = "m"
args = ["--yolo"]
command = ""
fallback = ["codex"]
same_model = true
[hq.executor]
continue = "native"
sandbox = "landlock"
read = ["/opt/x"]
write = ["/srv/y"]
agent = "goose"
model = "n"
args = []
command = "play {prompt}"
fallback = ["command", "goose:o"]
[branches]
setup = "npm ci"
on_approve = "merge"
score = "make bench"
[pipelines]
tmp_dir = "pipeline-tmp"
archive_dir = "memory/pipelines"
allow = ["research"]
[deliver]
to = "command"
file = "/srv/{pipeline}/{run}.md"
command = "send"
timeout_secs = 13
`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	want := Config{
		Checks: Checks{
			Commands: []string{"make"}, TimeoutSecs: 1, Ignore: []string{"*.md"}, Where: InClean,
			Sandbox: AnySandbox, Network: true, Read: []string{"/srv"},
			Env: map[string]string{"A": "1", "b.c": ""}, EnvDeny: []string{}, MaxLogMB: 2,
		},
		Limits: Limits{3, 4, 5, 6, 7, 77, 78, 0, 1_000_000_000, 12, 5},
		Day:    Day{13, 14, 15, "Asia/Tokyo"},
		Server: Server{8},
		Lease:  Lease{10, 9, 11},
		Notify: Notify{"say hello"},
		HQ: HQ{Agent{"gemini", "m", []string{"--yolo"}, "", []string{"codex"}}, Agent{"goose", "n", []string{}, "play {prompt}", []string{"command", "goose:o"}},
			Native, Sandbox{"landlock", []string{"/opt/x"}, []string{"/srv/y"}}, true},

		Channels: Channels{[]string{"ntfy://ntfy.sh/x", "$FERRUS_NOTIFY_URL"}, true},

		Branches:  Branches{Setup: "npm ci", OnApprove: Merge, Score: "make bench"},
		Pipelines: Pipelines{"pipeline-tmp", "memory/pipelines", []string{"research"}},
		Deliver:   Deliver{ToCommand, "/srv/{pipeline}/{run}.md", "send", 13},
	}
	if diff := cmp.Diff(want, got, sameValues); diff != "" {
		t.Error(diff)
	}
	for _, row := range got.Explain() {
		if !row.Set() {
			t.Errorf("%s was set in the test's file and not read", row.Key)
		}
	}
}

func TestNoCommandsAndAnEmptyListAreTwoThings(t *testing.T) {
	none, err := Parse(FileName, []byte("[checks]\n"))
	if err != nil || none.Checks.Commands != nil {
		t.Errorf("no commands: %#v, %v; want nil", none.Checks.Commands, err)
	}
	empty, err := Parse(FileName, []byte("[checks]\ncommands = []\n"))
	if err != nil || empty.Checks.Commands == nil || len(empty.Checks.Commands) > 0 {
		t.Errorf("commands = []: %#v, %v; want empty, not nil", empty.Checks.Commands, err)
	}
}

func TestUpstreamsWaitTimeoutIsRead(t *testing.T) {
	c, err := Parse(FileName, []byte("[limits]\nwait_timeout_secs = 60\n"))
	if err != nil || c.Server.WaitTimeout() != time.Minute {
		t.Errorf("WaitTimeout = %v, %v; want 1m", c.Server.WaitTimeout(), err)
	}
}

func TestDurationsAreInSeconds(t *testing.T) {
	c := Default()
	for what, d := range map[string][2]time.Duration{
		"checks timeout": {c.Checks.Timeout(), 30 * time.Minute},
		"wait timeout":   {c.Server.WaitTimeout(), 45 * time.Second},
		"ttl":            {c.Lease.TTL(), 90 * time.Second},
		"heartbeat":      {c.Lease.Heartbeat(), 30 * time.Second},
		"max silence":    {c.Lease.MaxSilence(), 30 * time.Minute},
		"delivery":       {c.Deliver.Timeout(), time.Minute},
	} {
		if d[0] != d[1] {
			t.Errorf("%s = %v, want %v", what, d[0], d[1])
		}
	}
}

func TestTheDefaultsCannotBeChangedThroughACopy(t *testing.T) {
	c := Default()
	c.Checks.EnvDeny[0] = "changed"
	c.Checks.Env["X"] = "changed"
	if d := Default(); d.Checks.EnvDeny[0] == "changed" || len(d.Checks.Env) > 0 {
		t.Error("two calls of Default share their values")
	}
}

var fileAndLine = regexp.MustCompile(`^ferrus\.toml:[1-9][0-9]*: .`)

// Coverage differs from run to run with the order of maps: fuzz with
// -fuzzminimizetime=20x, or minimizing takes all the time.
func FuzzParse(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte("\r"))
	f.Add(Example())
	f.Add(Render(Start{Checks: []string{"a && b"}}))
	f.Add([]byte("limits.max_same_failure = 3\nchecks.env.\"a b\" = 'c'\n[[hq]]\n"))
	f.Add([]byte("checks.timeout_secs = \"x\"\nlimits.x = 1\n"))
	f.Add([]byte("a = 1979-05-27T07:32:00Z\n\"\".\"\" = {}\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := Parse(FileName, data)
		if err != nil {
			if !fileAndLine.MatchString(err.Error()) && len(data) <= maxFile {
				t.Fatalf("no file and line in %q", err)
			}
			return
		}
		g := c.Gate()
		back, err := DecodeGate(g.Encode())
		if err != nil {
			t.Fatal(err)
		}
		if diff := g.Diff(back); diff != nil {
			t.Fatalf("the gate changed on its way through the pin: %v", diff)
		}
		for _, row := range c.Explain() {
			if row.Line < 0 || row.Line > strings.Count(string(data), "\n")+1 {
				t.Fatalf("%s is said to stand in line %d", row.Key, row.Line)
			}
		}
	})
}
