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
	{[]string{"lease.heartbeat_interval_secs", "lease.ttl_secs"}, renewsInTime},
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

func renewsInTime(c Config) error {
	if c.Lease.HeartbeatIntervalSecs < c.Lease.TTLSecs {
		return nil
	}
	return fmt.Errorf("lease.heartbeat_interval_secs (%d) must be less than lease.ttl_secs (%d)",
		c.Lease.HeartbeatIntervalSecs, c.Lease.TTLSecs)
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
