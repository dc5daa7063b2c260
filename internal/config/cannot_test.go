package config

import (
	"strings"
	"testing"
)

// cannot are, for every key, values of the right type that cannot work, with a part of what is said of them. A key without any
// takes whatever a person writes: its row says why.
var cannot = map[string]map[string]string{
	"checks.commands":                {`[""]`: "item 1"},
	"checks.timeout_secs":            {"-1": "1 to 86400", "0": "1 to 86400", "86401": "1 to 86400"},
	"checks.ignore":                  {`["["]`: "not a pattern", `["a\\"]`: "not a pattern"},
	"checks.where":                   {`"cleen"`: "did you mean clean?", `""`: "one of"},
	"checks.env":                     {"{ 'A=B' = 'x' }": "cannot be the name"},
	"hq.executor.sandbox":            {`"bwarp"`: "did you mean bwrap?", `""`: "one of"},
	"hq.executor.read":               {`[" "]`: "item 1"},
	"hq.executor.write":              {`[" "]`: "item 1"},
	"checks.sandbox":                 {`"bwarp"`: "did you mean bwrap?", `""`: "one of"},
	"checks.network":                 {`"on"`: "true or false"},
	"checks.read":                    {`[" "]`: "item 1"},
	"checks.env_deny":                {`["*_KEY", "["]`: "item 2"},
	"checks.max_log_mb":              {"-1": "1 to", "0": "1 to", "1000001": "1 to"},
	"limits.max_check_retries":       {"-1": "1 to", "0": "1 to", "1000001": "1 to"},
	"limits.max_review_cycles":       {"-1": "1 to", "0": "1 to", "1000001": "1 to"},
	"limits.max_feedback_lines":      {"-1": "1 to", "0": "1 to", "1000001": "1 to"},
	"limits.max_executor_dispatches": {"-1": "1 to", "0": "1 to", "1000001": "1 to"},
	"limits.max_same_failure":        {"-1": "1 to", "0": "1 to", "1000001": "1 to"},
	"limits.max_progress_notes":      {"-1": "1 to", "0": "1 to", "1000001": "1 to"},
	"limits.max_messages":            {"-1": "1 to", "0": "1 to", "1000001": "1 to"},
	"limits.max_delegates":           {"-1": "0 to 32", "33": "0 to 32"},
	"limits.max_task_minutes":        {"-1": "0 to", "1000001": "0 to"},
	"limits.max_task_tokens":         {"-1": "0 to", "1000000001": "0 to"},
	"limits.max_task_dollars":        {"-1": "0 to", "1000001": "0 to"},
	"limits.max_day_minutes":         {"-1": "0 to", "1000001": "0 to"},
	"limits.max_day_tokens":          {"-1": "0 to", "1000000001": "0 to"},
	"limits.max_day_dollars":         {"-1": "0 to", "1000001": "0 to"},
	"limits.day_zone":                {`"Europe/Berlni"`: "no time zone", `"../etc/passwd"`: "no time zone"},
	"server.wait_timeout_secs":       {"-1": "1 to 3600", "0": "1 to 3600", "3601": "1 to 3600"},
	"lease.ttl_secs":                 {"-1": "1 to 86400", "0": "1 to 86400", "86401": "1 to 86400", "30": "must be less than lease.ttl_secs"},
	"lease.heartbeat_interval_secs":  {"-1": "1 to 86400", "0": "1 to 86400", "86401": "1 to 86400", "90": "less than lease.ttl_secs"},
	"lease.max_silence_secs":         {"-1": "1 to 86400", "0": "1 to 86400", "86401": "1 to 86400", "30": "less than lease.max_silence_secs"},
	"notify.command":                 {`"a\u0000"`: "a string"},
	"notify.urls":                    {`["ntfy.sh/x"]`: "item 1 is not a URL", `["ntfy://h/x", 3]`: "item 2 is not a URL", `"ntfy://h/x"`: "not a string", `["$HOME"]`: "must begin with FERRUS_NOTIFY", `["$FERRUS_NOTIFY_URL/x"]`: "item 1", `["generic://evil/?x=$FERRUS_NOTIFY_URL\u0000"]`: "item 1"},
	"notify.desktop":                 {`"true"`: "true or false", "1": "true or false"},
	"hq.supervisor.agent":            {`"claud"`: "did you mean claude-code?", `"/nope/agent"`: "one of", `""`: "one of"},
	"hq.supervisor.model":            {`"a\u0000"`: "a string"}, // only the agent knows its models
	"hq.supervisor.args":             {`[" "]`: "item 1"},
	"hq.supervisor.command":          {`"a\u0000"`: "a string"},
	"hq.executor.agent":              {`"codecs"`: "did you mean codex?", `"Codex"`: "did you mean codex?", `" "`: "one of"},
	"hq.executor.model":              {`"a\u0000"`: "a string"},
	"hq.executor.args":               {`[" "]`: "item 1"},
	"hq.executor.command":            {`"a\u0000"`: "a string"},
	"hq.supervisor.fallback":         {`["codecs"]`: "did you mean codex?", `["claude-code"]`: "is the agent itself", `["codex", "gemini", "codex"]`: "is there twice", `["codex:"]`: "behind the colon"},
	"hq.supervisor.same_model":       {`"on"`: "true or false"},
	"hq.executor.fallback":           {`["command"]`: "needs hq.executor.command", `[" "]`: "item 1", `["gemini:a b"]`: "behind the colon", `["a:1", "a:2", "a:3", "a:4", "a:5", "a:6", "a:7", "a:8", "a:9"]`: "at most 8"},
	"hq.executor.continue":           {`"naitve"`: "did you mean native?", `""`: "one of"},
	"branches.setup":                 {`"a\u0000"`: "a string"},
	"branches.score":                 {`"a\u0000"`: "a string"},
	"branches.on_approve":            {`"merg"`: "did you mean merge?"},
	"pipelines.tmp_dir":              {`"/tmp"`: "below", `""`: "below", `".git/runs"`: "in use for .git", `".ferrus/live"`: "in use", `".ferrus"`: "in use"},
	"pipelines.archive_dir":          {`"../x"`: "below", `".ferrus/logs/old"`: "in use for .ferrus/logs", `".GIT"`: "in use"},
	"pipelines.allow":                {`[" "]`: "item 1"},
	"deliver.to":                     {`"fil"`: "did you mean file?", `"command"`: "deliver.command is empty"},
	"deliver.file":                   {`"results/{rum}.md"`: "unknown placeholder {rum}", `" "`: "not blank"},
	"deliver.command":                {`"a\u0000"`: "a string"},
	"deliver.timeout_secs":           {"-1": "1 to 86400", "0": "1 to 86400", "86401": "1 to 86400"},
}

// TestNoKeyTakesWhatCannotWork: a value that would fail at night is refused when the file is read, with its line.
func TestNoKeyTakesWhatCannotWork(t *testing.T) {
	for _, k := range keys {
		values := cannot[k.name]
		if len(values) == 0 {
			t.Errorf("%s has no row", k.name)
		}
		for value, want := range values {
			if _, err := Parse(FileName, []byte("\n"+k.name+" = "+value+"\n")); err == nil || !strings.HasPrefix(err.Error(), FileName+":2: ") ||
				!strings.Contains(err.Error(), want) {
				t.Errorf("%s = %s: %v, without %q", k.name, value, err, want)
			}
		}
		if _, err := Parse(FileName, []byte(k.name+" = "+literal(k.canSay())+"\n")); err != nil {
			t.Errorf("its default: %v", err)
		}
	}
	if len(cannot) != len(keys) {
		t.Errorf("%d rows for %d keys", len(cannot), len(keys))
	}
}

// canSay is the default of a key, or where there is none the sample.
func (k key) canSay() any {
	if k.sample != nil {
		return k.sample
	}
	return k.def
}
