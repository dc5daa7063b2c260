package config

import (
	"strings"
	"testing"
)

func TestAMistakeIsRefusedWithItsLineAndTheWayOut(t *testing.T) {
	for _, test := range []struct{ name, text, want string }{
		{"misspelt key", "\n[limits]\n\nmax_chek_retries = 3", "4: unknown key limits.max_chek_retries; did you mean max_check_retries?"},
		{"misspelt dotted key", "limits.max_chek_retries = 3", "1: unknown key limits.max_chek_retries; did you mean max_check_retries?"},
		{"misspelt table", "[checks]\n[limit]\nmax_check_retries = 3", "2: unknown table limit; did you mean limits?"},
		{"misspelt inner table", "[hq.executer]\nagent = 'codex'", "1: unknown table hq.executer; did you mean executor?"},
		{"shortened key", "[lease]\nttl = 3", "2: unknown key lease.ttl; did you mean ttl_secs?"},
		{"key in the wrong table", "[checks]\nmax_same_failure = 3", "2: unknown key checks.max_same_failure; did you mean limits.max_same_failure?"},
		{"key at the top", "commands = []", "1: unknown key commands; did you mean checks.commands?"},
		{"a table of another", "[executor]\nagent = 'codex'", "1: unknown table executor; did you mean hq.executor?"},
		{"a key twice", "[checks]\ntimeout_secs = 1\ntimeout_secs = 2", "3: checks.timeout_secs is defined twice; keep one, with all of its keys"},
		{"no quotes", "[checks]\ncommands = [make test]", "2: expected value but found \"make\" instead; write a string in quotes, as in \"make test\""},
		{"unknown table", "[spec]\ndirectory = 'docs'", "1: unknown table spec; known at the top are checks, limits, server, lease, notify, hq, branches, pipelines, deliver, rules"},
		{"unknown key", "[notify]\nzzzzzz = 'x'", "2: unknown key notify.zzzzzz; known in [notify] are command, urls, desktop"},
		{"the first mistake first", "[limits]\nb = 1\na = 1", "2: unknown key limits.b; known in [limits] are"},
		{"case", "[limits]\nMax_Check_Retries = 3", "2: unknown key limits.Max_Check_Retries; did you mean max_check_retries?"},
		{"quoted dots", "'limits.max_check_retries' = 3", `1: unknown key "limits.max_check_retries"; `},

		{"word for a number", "[checks]\ntimeout_secs = '30m'", `2: checks.timeout_secs must be a whole number from 1 to 86400, not "30m"`},
		{"fraction", "[checks]\ntimeout_secs = 1.5", "2: checks.timeout_secs must be a whole number from 1 to 86400, not 1.5"},
		{"zero", "[limits]\nmax_review_cycles = 0", "2: limits.max_review_cycles must be a whole number from 1 to 1000000, not 0"},
		{"below none", "[limits]\nmax_task_minutes = -1", "2: limits.max_task_minutes must be a whole number from 0 to 1000000, not -1"},
		{"negative", "[lease]\nmax_silence_secs = -1", "2: lease.max_silence_secs must be a whole number from 1 to 86400, not -1"},
		{"too large", "[checks]\nmax_log_mb = 9223372036854775807", "2: checks.max_log_mb must be a whole number from 1 to 1000000, not 9223372036854775807"},
		{"one too many", "[limits]\nmax_same_failure = 1000001", "2: limits.max_same_failure must be a whole number from 1 to 1000000, not 1000001"},
		{"old name, wrong value", "[limits]\nwait_timeout_secs = 0", "2: limits.wait_timeout_secs must be a whole number"},
		{"old name and new", "[server]\nwait_timeout_secs = 1\n[limits]\nwait_timeout_secs = 2",
			"4: limits.wait_timeout_secs is the old name of server.wait_timeout_secs and both are set (the other in line 2); keep server.wait_timeout_secs"},
		{"text for a list", "[checks]\ncommands = 'make'", `2: checks.commands must be a list of strings, none of them blank, not "make"`},
		{"number in a list", "[checks]\ncommands = [\n'make',\n3]", "2: checks.commands must be a list of strings, none of them blank; item 2 is 3"},
		{"blank command", "[checks]\ncommands = ['make', ' ']", `2: checks.commands must be a list of strings, none of them blank; item 2 is " "`},
		{"list for a table", "[checks]\nenv = []", "2: checks.env must be a table of strings, not a list"},
		{"number in the environment", "[checks]\n[checks.env]\nA = 'x'\nB = 1", "4: checks.env.B must be a string, not 1"},
		{"table in the environment", "[checks.env.A]\nB = 'x'", "1: checks.env.A must be a string, not a table"},
		{"no name for a variable", "[checks.env]\n'A=B' = 'x'", `2: checks.env: "A=B" cannot be the name of an environment variable`},
		{"variable without a name", "\nchecks.env.'' = 'x'", `2: checks.env: "" cannot be the name of an environment variable`},
		{"NUL", `notify.command = "a\u0000b"`, `1: notify.command must be a string`},
		{"no agent", "[hq.executor]\nagent = ''", `2: hq.executor.agent must be one of "claude-code", "codex", `},
		{"upstream's flat agent", "[hq]\nexecutor = 'codex'", `2: hq.executor must be a table, [hq.executor] with keys agent, model, args, command, fallback, continue, sandbox, read, write, not "codex"`},
		{"value for a table", "checks = 3", "1: checks must be a table, [checks] with keys commands, "},
		{"list of tables", "[[checks]]\ncommands = []", "1: checks must be a table, [checks] with keys commands, "},
		{"date", "[checks]\ntimeout_secs = 1979-05-27", "2: checks.timeout_secs must be a whole number from 1 to 86400, not a date or time"},

		{"heartbeat too slow", "[lease]\nttl_secs = 20\nheartbeat_interval_secs = 20", "3: lease.heartbeat_interval_secs (20) must be less than lease.ttl_secs (20)"},
		{"ttl too short", "\n[lease]\nttl_secs = 20", "3: lease.heartbeat_interval_secs (30) must be less than lease.ttl_secs (20)"},
		{"no such way", "[deliver]\n\nto = 'fil'", `3: deliver.to must be one of "stdout", "file", "command", not "fil"; did you mean file?`},
		{"no way at all", "[deliver]\nto = ''", `2: deliver.to must be one of "stdout", "file", "command", not ""`},
		{"a number of a way", "[deliver]\nto = 1", `2: deliver.to must be one of "stdout", "file", "command", not 1`},
		{"nothing to run", "[deliver]\nto = 'command'\n", `2: deliver.to is "command" and deliver.command is empty; name the command, or set to = "stdout"`},
		{"blank to run", "[deliver]\nto = 'command'\ncommand = ' '\n", `3: deliver.to is "command" and deliver.command is empty`},
		{"no file", "[deliver]\nfile = ' '", `2: deliver.file must be a string that is not blank, not " "`},
		{"no time", "[deliver]\ntimeout_secs = 0", `2: deliver.timeout_secs must be a whole number from 1 to`},

		{"no folder", "[pipelines]\ntmp_dir = ''", `2: pipelines.tmp_dir must be a folder below the project, not ""`},
		{"the root", "[pipelines]\narchive_dir = '.'", `2: pipelines.archive_dir must be a folder below the project, not "."`},
		{"the root by a detour", "[pipelines]\ntmp_dir = 'a/..'", `2: pipelines.tmp_dir must be a folder below the project, not "a/.."`},
		{"above the root", "[pipelines]\ntmp_dir = 'a/../../b'", `2: pipelines.tmp_dir must be a folder below the project, not "a/../../b"`},
		{"elsewhere", "[pipelines]\ntmp_dir = '/tmp'", `2: pipelines.tmp_dir must be a folder below the project, not "/tmp"`},
		{"one folder", "[pipelines]\narchive_dir = 'runs'\ntmp_dir = 'a/../Runs/'",
			`3: pipelines.tmp_dir ("a/../Runs/") and pipelines.archive_dir ("runs") must be two folders, neither within the other; rename one`},
		{"archive within", "[pipelines]\narchive_dir = '.ferrus/pipeline-tmp/old'", `2: pipelines.tmp_dir (".ferrus/pipeline-tmp") and`},
		{"archive around", "\n[pipelines]\ntmp_dir = '.ferrus/memory/pipelines/now'", `3: pipelines.tmp_dir (".ferrus/memory/pipelines/now") and`},
		{"not UTF-8", "# a\n# \xff\n", "2: not UTF-8"},
		{"syntax", "[checks]\ncommands = [\n", "2: "},
		{"cut off in an escape", "\n\n\"\\", "3: "},
		{"bad escape", "\ufeff\n[checks]\ncommands = [\"\\\n", "3: invalid escape in string '\\\ufffd'"},
		{"long values", "a = '''\n\n'''\n", "1: unknown key a; "},
		{"value after a long one", "[checks]\ncommands = [\n'a',\n'b',\n]\nenv.A = '''\n\n'''\nzzz = [[\n]]", "9: unknown key checks.zzz; "},
		{"byte order mark", "\ufeff\nz=1", "2: unknown key z; "},
		{"twice", "[limits]\nmax_same_failure = 1\nmax_same_failure = 2", "3: "},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := Parse(FileName, []byte(test.text))
			if err == nil {
				t.Fatal("accepted")
			}
			if !strings.HasPrefix(err.Error(), FileName+":"+test.want) {
				t.Errorf("got  %s\nwant ferrus.toml:%s", err, test.want)
			}
			t.Log(err)
		})
	}
}

func TestAHugeFileIsRefusedUnread(t *testing.T) {
	_, err := Parse(FileName, make([]byte, maxFile+1))
	if err == nil || err.Error() != "ferrus.toml: larger than 64 KiB" {
		t.Errorf("got %v", err)
	}
}

// TestFoldersOfOneBeginningAreTwo: only whole names make one folder part of another.
func TestFoldersOfOneBeginningAreTwo(t *testing.T) {
	c, err := Parse(FileName, []byte("[pipelines]\ntmp_dir = 'runs'\narchive_dir = 'runs-old'\n"))
	if err != nil || c.Pipelines.TmpDir != "runs" || c.Pipelines.ArchiveDir != "runs-old" {
		t.Errorf("%+v, %v", c.Pipelines, err)
	}
}
