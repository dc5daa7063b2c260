package config

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ferrus-go/ferrus/internal/platform/rootfs/rootfstest"
)

// TestNoEntryIsReadAsAConfiguration lays links, FIFOs and huge files in place of what is read of a project.
func TestNoEntryIsReadAsAConfiguration(t *testing.T) {
	setup := func(t *testing.T, dir string) {
		if err := os.WriteFile(filepath.Join(dir, FileName), []byte("[checks]\ncommands = [\"rm -rf x\"]\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	rootfstest.Attack(t, []string{FileName}, setup, func(t *testing.T, c rootfstest.Case) error {
		conf, err := Load(filepath.Join(c.Dir, FileName))
		if c.Path == FileName && c.Entry != "empty file" && (err == nil || !strings.Contains(err.Error(), filepath.Join(c.Dir, FileName))) {
			t.Errorf("a %s is read as %v, and the error is %v", c.Entry, conf.Checks.Commands, err)
		}
		return err
	})
}

// TestALinkToAConfigurationIsRefused with what to do about it, within the project too.
func TestALinkToAConfigurationIsRefused(t *testing.T) {
	dir := t.TempDir()
	if err := errors.Join(os.WriteFile(filepath.Join(dir, "shared.toml"), nil, 0o600), os.Symlink("shared.toml", filepath.Join(dir, FileName))); err != nil {
		t.Skip(err)
	}
	if _, err := Load(filepath.Join(dir, FileName)); err == nil || !strings.Contains(err.Error(), "put a copy of the file in its place") {
		t.Error(err)
	}
	// Where the project lies is a person's business.
	link := filepath.Join(t.TempDir(), "project")
	if err := errors.Join(os.Remove(filepath.Join(dir, FileName)), os.WriteFile(filepath.Join(dir, FileName), []byte("[limits]\nmax_same_failure = 3\n"), 0o600),
		os.Symlink(dir, link)); err != nil {
		t.Fatal(err)
	}
	if conf, err := Load(filepath.Join(link, FileName)); err != nil || conf.Limits.MaxSameFailure != 3 {
		t.Errorf("%d, %v", conf.Limits.MaxSameFailure, err)
	}
}
