package config

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/ferrus-go/ferrus/internal/agents"
)

// agreements are the conditions between keys that are each valid on their own.
var agreements = []struct {
	keys []string
	hold func(Config) error // nil, or an error that says what is wrong and what to do
}{
	{[]string{"lease.heartbeat_interval_secs", "lease.ttl_secs"}, func(c Config) error {
		return less(c, "lease.heartbeat_interval_secs", "lease.ttl_secs")
	}},
	{[]string{"lease.heartbeat_interval_secs", "lease.max_silence_secs"}, func(c Config) error {
		return less(c, "lease.heartbeat_interval_secs", "lease.max_silence_secs")
	}},
	{[]string{"pipelines.tmp_dir"}, func(c Config) error { return spare("pipelines.tmp_dir", c.Pipelines.TmpDir) }},
	{[]string{"pipelines.archive_dir"}, func(c Config) error { return spare("pipelines.archive_dir", c.Pipelines.ArchiveDir) }},
	{[]string{"pipelines.tmp_dir", "pipelines.archive_dir"}, twoFolders},
	{[]string{"deliver.to", "deliver.command"}, somethingToRun},
	{[]string{"hq.supervisor.fallback"}, func(c Config) error { return standIns("hq.supervisor", c.HQ.Supervisor) }},
	{[]string{"hq.executor.fallback"}, func(c Config) error { return standIns("hq.executor", c.HQ.Executor) }},
}

// agree returns the first condition that is not met, and the last line that breaks it. At least one
// of its keys is in the file, because the defaults meet all conditions.
func (c Config) agree() (line int, err error) {
	for _, a := range agreements {
		if err := a.hold(c); err != nil {
			for _, k := range a.keys {
				line = max(line, c.lines[k])
			}
			return line, err
		}
	}
	return 0, nil
}

// less requires one number to be less than another. If a lease is renewed too late, a working agent
// loses it.
func less(c Config, name, than string) error {
	a, _ := find(name)
	b, _ := find(than)
	if *a.field(&c).(*int) < *b.field(&c).(*int) {
		return nil
	}
	return fmt.Errorf("%s (%d) must be less than %s (%d)", name, a.value(c), than, b.value(c))
}

// taken are the folders below the project that are in use: git's, and those of ferrus that are not
// for runs of pipelines.
var taken = []string{".git", ".ferrus/archive", ".ferrus/branches", ".ferrus/git", ".ferrus/live", ".ferrus/logs", ".ferrus/queue",
	".ferrus/runs", ".ferrus/skills", ".ferrus/worktrees"}

// spare requires a folder that is not in use for something else.
func spare(name, dir string) error {
	for _, other := range taken {
		if strings.HasPrefix(plain(dir), plain(other)) || strings.HasPrefix(plain(other), plain(dir)) {
			return fmt.Errorf("%s (%s) is in use for %s; name another folder", name, quote(dir), other)
		}
	}
	return nil
}

// twoFolders requires separate folders for active and archived runs: an archived run must not count
// as an active one.
func twoFolders(c Config) error {
	tmp, archive := plain(c.Pipelines.TmpDir), plain(c.Pipelines.ArchiveDir)
	if !strings.HasPrefix(tmp, archive) && !strings.HasPrefix(archive, tmp) {
		return nil
	}
	return fmt.Errorf("pipelines.tmp_dir (%s) and pipelines.archive_dir (%s) must be two folders, neither within the other; rename one",
		quote(c.Pipelines.TmpDir), quote(c.Pipelines.ArchiveDir))
}

func somethingToRun(c Config) error {
	if c.Deliver.To != ToCommand || strings.TrimSpace(c.Deliver.Command) != "" {
		return nil
	}
	return errors.New(`deliver.to is "command" and deliver.command is empty; name the command, or set to = "stdout"`)
}

// maxFallback is how many agents a fallback may name.
const maxFallback = 8

// standIns requires a fallback to name agents that ferrus can start, each once, and none that is the first already.
func standIns(table string, a Agent) error {
	known, _ := find(table + ".agent")
	if len(a.Fallback) > maxFallback {
		return fmt.Errorf("%s.fallback names %d agents; name at most %d", table, len(a.Fallback), maxFallback)
	}
	first := strings.TrimSuffix(a.Agent+":"+a.Model, ":")
	for i, item := range a.Fallback {
		name, model, colon := strings.Cut(item, ":")
		wrong := ""
		switch {
		case !slices.Contains(known.words, name):
			return known.meant(fmt.Errorf("%s.fallback: there is no agent %s; it is %s, or AGENT:MODEL", table, quote(name), known.allowed()), name)
		case colon && (model == "" || strings.ContainsFunc(model, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) })):
			wrong = "needs a model behind the colon"
		case item == first:
			wrong = "is the agent itself; remove it"
		case slices.Contains(a.Fallback[:i], item):
			wrong = "is there twice; remove one"
		case name == "command" && strings.TrimSpace(a.Command) == "":
			wrong = "needs " + table + ".command"
		}
		if wrong != "" {
			return fmt.Errorf("%s.fallback: %s %s", table, quote(item), wrong)
		}
	}
	return nil
}

// below reports whether dir is a folder below the project folder, not that folder itself.
func below(dir string) bool {
	return filepath.IsLocal(dir) && filepath.Clean(dir) != "."
}

// plain returns a folder in one canonical spelling, with a slash at its end. On file systems that
// ignore case, it ignores case.
func plain(dir string) string {
	return strings.ToLower(filepath.ToSlash(filepath.Clean(dir))) + "/"
}

// agentNames returns the agents that ferrus can start.
func agentNames() []string {
	var names []string
	for _, a := range agents.All() {
		names = append(names, a.Name)
	}
	return names
}
