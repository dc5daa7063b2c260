package config

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
)

// agreements are what must hold between keys, each of which may be what it is.
var agreements = []struct {
	keys []string
	hold func(Config) error // nil, or what is wrong and what to do
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
}

// agree returns the first agreement that does not hold, and the last line that
// breaks it: one of its keys is in the file, for the defaults are in order.
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

// less holds that one number is less than another: a lease that is renewed too
// late is lost by an agent that does its work.
func less(c Config, name, than string) error {
	a, _ := find(name)
	b, _ := find(than)
	if *a.field(&c).(*int) < *b.field(&c).(*int) {
		return nil
	}
	return fmt.Errorf("%s (%d) must be less than %s (%d)", name, a.value(c), than, b.value(c))
}

// taken are the folders below the project that are in use: git's, and those of
// ferrus that are not for runs of pipelines.
var taken = []string{".git", ".ferrus/archive", ".ferrus/branches", ".ferrus/git", ".ferrus/live", ".ferrus/logs", ".ferrus/queue",
	".ferrus/runs", ".ferrus/skills", ".ferrus/worktrees"}

// spare holds that a folder is not in use for something else.
func spare(name, dir string) error {
	for _, other := range taken {
		if strings.HasPrefix(plain(dir), plain(other)) || strings.HasPrefix(plain(other), plain(dir)) {
			return fmt.Errorf("%s (%s) is in use for %s; name another folder", name, quote(dir), other)
		}
	}
	return nil
}

// twoFolders: a run that is archived must not stay among those that go on, nor
// be taken for one of them.
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

// below reports whether dir is a folder below the project's, and not that itself.
func below(dir string) bool {
	return filepath.IsLocal(dir) && filepath.Clean(dir) != "."
}

// plain is a folder in the one way of writing it, with a slash at its end. Where
// the file system minds no case, two that differ in nothing else are one.
func plain(dir string) string {
	return strings.ToLower(filepath.ToSlash(filepath.Clean(dir))) + "/"
}
