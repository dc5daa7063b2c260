package repository

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/ferrus-go/ferrus/internal/platform/rootfs"
	"github.com/ferrus-go/ferrus/internal/worktree/filestat"
)

// Drift names what has changed of git's settings since they were frozen.
func (r *Repository) Drift(ctx context.Context) ([]string, error) {
	rules, err := r.rulesNow(ctx)
	if err != nil {
		return nil, err
	}
	is, err := r.readRules(ctx)
	if err != nil {
		return nil, err
	}
	var lines []string
	now, err := r.sums(is)
	for _, name := range ruleNames {
		if was, ok := rules.frozen.Sums[name]; ok && was != now[name] {
			lines = append(lines, name+" changed since the task was created; the task keeps the filters and excludes of then")
		}
	}
	return lines, err
}

// ConfigChanged reports whether the repository's configuration is another one than when its settings were frozen, but for settings that
// git writes in the course of work and that run nothing.
func (r *Repository) ConfigChanged(ctx context.Context) (bool, error) {
	rules, err := r.rulesNow(ctx)
	if err != nil {
		return false, err
	}
	is, err := r.readRules(ctx)
	return err == nil && rules.frozen.Sums[ofConfig] != is.local, err
}

const (
	ofConfig     = "the repository's git configuration"
	ofExclude    = "info/exclude"
	ofAttributes = "info/attributes"
	ofExcludes   = "the file of core.excludesFile"
	ofBelow      = "the file of core.attributesFile"
)

var ruleNames = []string{ofConfig, ofExclude, ofAttributes, ofExcludes, ofBelow}

// sums are digests of what decides which files count and what they hold, beside the files of the work tree.
func (r *Repository) sums(rules *gitRules) (map[string]string, error) {
	sums := map[string]string{ofConfig: rules.local}
	for name, path := range map[string]string{ofExclude: filepath.Join(r.common, "info", "exclude"),
		ofAttributes: filepath.Join(r.common, "info", "attributes"), ofExcludes: rules.path(excludesFile), ofBelow: rules.path(attributesFile)} {
		if !filepath.IsAbs(path) {
			path = filepath.Join(r.dir, path)
		}
		text, err := rootfs.ReadRegular(path, MaxRules)
		if err != nil && !errors.Is(err, fs.ErrNotExist) && !filestat.Gone(err) {
			return nil, err
		}
		sums[name] = digest(string(text))
	}
	return sums, nil
}

func digest(parts ...string) string {
	return fmt.Sprintf("%x", sha256.Sum256([]byte(strings.Join(parts, "\x00"))))
}
