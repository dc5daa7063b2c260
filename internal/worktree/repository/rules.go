package repository

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ferrus-go/ferrus/internal/platform/rootfs"
	"github.com/ferrus-go/ferrus/internal/platform/safetext"
	"github.com/ferrus-go/ferrus/internal/worktree/git"
)

// The private git directory. Every call about files and objects runs in it, and not in the project's: an executor can
// write the project's .git (its config, info/, a replaced .git file), and git would run what that names. The files of
// the private one are compared with what they must be before each operation, and written again if they differ.

// bytesOnly turns off every conversion of content, and what the work tree says of how a diff is shown; see asText. In
// info/attributes it has precedence over the files of the work tree: what is hashed and shown is what is on disk. Filters
// (git-lfs) stay; see rules.
const bytesOnly = "* -text !eol -ident !working-tree-encoding !crlf diff=ferrus\n"

// gitRules are what git's configuration, the person's and the repository's, says about which files count and what their
// content is. They are frozen by [Repository.Freeze].
type gitRules struct {
	frozen frozen
	text   string // of frozen, in its file
	local  string // digest of the repository's own settings as they are now, but for those that git itself writes
}

// frozen are the rules from when the task was created.
type frozen struct {
	Config     []setting `json:"config,omitempty"`     // filter.* and a few of core.*, of all scopes, the weakest first
	Exclude    string    `json:"exclude,omitempty"`    // text of info/exclude
	Attributes string    `json:"attributes,omitempty"` // text of info/attributes
	Excludes   string    `json:"excludes,omitempty"`   // text of the file that core.excludesFile names, or of git's default
	Below      string    `json:"below,omitempty"`      // the same of core.attributesFile: it yields to files of the work tree

	Sums map[string]string `json:"sums,omitempty"` // digests, to see what has changed since
}

type setting struct {
	Key   string `json:"key"` // as git config --list writes it
	Value string `json:"value"`
}

// MaxRules bounds each file of rules that is read from the repository.
const MaxRules = 4 << 20

// maxFrozen bounds the file of the frozen rules, in bytes: it has four such files, in which JSON writes some bytes as six, and the settings.
const maxFrozen = 4*6*MaxRules + 8<<20

// keptSettings are those that decide which files count and how they are read, beside filter.*. All other settings of a repository are without
// effect on calls about files.
var keptSettings = []string{"core.excludesfile", "core.attributesfile", "core.ignorecase", "core.precomposeunicode", "core.symlinks", "core.longpaths"}

func (r *Repository) repository() string { return filepath.Join(r.private, "repository") }

// Freeze records the repository's own filters and excludes as they are now. They are used, and no others of the
// repository, until the next Freeze; a Repository whose private folder has none yet freezes them when it first needs them.
// It does nothing without git.
func (r *Repository) Freeze(ctx context.Context) error {
	if !r.Git() {
		return nil
	}
	if err := r.makePrivate(); err != nil {
		return err
	}
	rules, err := r.readRules(ctx)
	if err == nil {
		err = r.readFrozen(rules)
	}
	if err == nil {
		err = r.saveFrozen(rules)
	}
	if err != nil {
		return fmt.Errorf("freeze the git rules of %s: %w", r.dir, err)
	}
	r.mu.Lock()
	r.rules = rules
	r.mu.Unlock()
	return nil
}

// Prepare makes the private folders and the private git directory, or puts right what somebody changed in it. It comes before
// each use of [Repository.Command]. There must be a repository.
func (r *Repository) Prepare(ctx context.Context) error {
	if err := r.makePrivate(); err != nil {
		return err
	}
	rules, err := r.rulesNow(ctx)
	if err != nil {
		return err
	}
	return r.layRepository(rules)
}

// rulesNow returns the rules: the person's from when this Tree first needed them, the frozen ones as they are in
// their file, which another process may have written again.
func (r *Repository) rulesNow(ctx context.Context) (*gitRules, error) {
	root, err := r.OpenPrivate()
	if err != nil {
		return nil, err
	}
	defer root.Close()
	text, err := root.ReadFile("rules.json", maxFrozen)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.rules != nil && len(text) > 0 && string(text) == r.rules.text {
		return r.rules, nil
	}
	rules := &gitRules{text: string(text)}
	if json.Unmarshal(text, &rules.frozen) != nil {
		if rules, err = r.readRules(ctx); err != nil {
			return nil, err
		}
		if err := errors.Join(r.readFrozen(rules), r.saveFrozen(rules)); err != nil {
			return nil, err
		}
	}
	r.rules = rules
	return rules, nil
}

// saveFrozen writes the frozen rules into their file.
func (r *Repository) saveFrozen(rules *gitRules) error {
	text, err := json.Marshal(rules.frozen)
	if err != nil {
		return err
	}
	rules.text = string(text)
	if err := rootfs.Fits("rules.json", text, maxFrozen); err != nil {
		return fmt.Errorf("%w: make the files of ignored files and of attributes smaller, or the configuration of git", err)
	}
	root, err := r.OpenPrivate()
	if err != nil {
		return err
	}
	defer root.Close()
	return root.WriteFile("rules.json", text, 0o600)
}

// readRules reads the settings as they are now, those of the repository included. Git reads configuration files for it
// and runs nothing.
func (r *Repository) readRules(ctx context.Context) (*gitRules, error) {
	c := git.Command{Dir: r.dir, Env: []string{"GIT_DIR=" + r.gitDir, "GIT_COMMON_DIR=" + r.common}}
	out, _, err := c.Run(ctx, "config", "-z", "--list", "--includes", "--show-scope")
	if err != nil {
		return nil, err
	}
	rules := &gitRules{}
	var local []string
	fields := git.Split(out) // scope, then "key\nvalue"
	for i := 0; i+1 < len(fields); i += 2 {
		key, value, has := strings.Cut(fields[i+1], "\n")
		if !has {
			value = "true"
		}
		if (fields[i] == "local" || fields[i] == "worktree") && !routine().MatchString(key) {
			local = append(local, key, value)
		}
		if !strings.HasPrefix(key, "filter.") && !slices.Contains(keptSettings, key) {
			continue
		}
		rules.frozen.Config = append(rules.frozen.Config, setting{key, value})
	}
	rules.local = digest(local...)
	return rules, nil
}

// withoutNewFilters are settings that turn off the filters which the repository's configuration has now and did not have
// when it was frozen. Git lays out a new work tree by that configuration.
func (r *Repository) withoutNewFilters(ctx context.Context) (off []string, err error) {
	rules, err := r.rulesNow(ctx)
	if err != nil {
		return nil, err
	}
	is, err := r.readRules(ctx)
	if err != nil {
		return nil, err
	}
	for _, s := range is.frozen.Config {
		if !strings.HasPrefix(s.Key, "filter.") || slices.Contains(rules.frozen.Config, s) {
			continue
		}
		if strings.HasSuffix(s.Key, ".required") {
			off = append(off, s.Key+"=false")
		} else {
			off = append(off, s.Key+"=")
		}
	}
	return off, nil
}

// routine are settings that git writes in the course of work, and that run nothing and hide nothing.
var routine = safetext.Lazily(`^(branch|user|gui)\.|^remote\..*\.(url|pushurl|fetch|tagopt)$|^(gc|maintenance)\.(auto|log)`)

// readFrozen reads the files that the configuration names, and takes the names out of the settings.
func (r *Repository) readFrozen(rules *gitRules) (err error) {
	f := &rules.frozen
	if f.Sums, err = r.sums(rules); err != nil {
		return err
	}
	read := func(path string) string {
		if path == "" {
			return ""
		}
		if !filepath.IsAbs(path) {
			path = filepath.Join(r.dir, path)
		}
		data, failed := rootfs.ReadRegular(path, MaxRules)
		text := string(data)
		if failed != nil && !errors.Is(failed, fs.ErrNotExist) && err == nil {
			err = failed
		}
		if text != "" && !strings.HasSuffix(text, "\n") {
			text += "\n"
		}
		return text
	}
	f.Excludes, f.Below = read(rules.path(excludesFile)), read(rules.path(attributesFile))
	f.Config = slices.DeleteFunc(f.Config, func(s setting) bool { return s.Key == excludesFile.key || s.Key == attributesFile.key })
	f.Exclude = read(filepath.Join(r.common, "info", "exclude"))
	f.Attributes = read(filepath.Join(r.common, "info", "attributes"))
	return err
}

// A named file is one that a setting names, or that git reads by default from the person's configuration folder.
type namedFile struct{ key, usual string }

var (
	excludesFile   = namedFile{"core.excludesfile", "ignore"}
	attributesFile = namedFile{"core.attributesfile", "attributes"}
)

// path is where git would read the file, "" where it reads none. The settings must still have the name.
func (r *gitRules) path(f namedFile) string {
	for _, s := range slices.Backward(r.frozen.Config) {
		if s.Key == f.key {
			return expand(s.Value)
		}
	}
	if dir := os.Getenv("XDG_CONFIG_HOME"); dir != "" {
		return filepath.Join(dir, "git", f.usual)
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return ""
	}
	return filepath.Join(home, ".config", "git", f.usual)
}

// expand is the path that git reads in a setting.
func expand(path string) string {
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		if home, err := os.UserHomeDir(); err == nil {
			return filepath.Join(home, rest)
		}
	}
	return filepath.FromSlash(path)
}

// layRepository makes the files of the private git directory what they must be.
func (r *Repository) layRepository(rules *gitRules) error {
	root, err := r.OpenPrivate()
	if err != nil {
		return err
	}
	defer root.Close()
	for _, dir := range []string{"repository/refs", "repository/info"} {
		if err := root.MkdirAll(dir, 0o700); err != nil {
			return err
		}
	}
	for name, text := range map[string]string{
		"HEAD":            "ref: refs/heads/none\n",
		"config":          rules.config(r.repository(), len(r.nothing) == 64),
		"filters":         rules.filters(),
		"attributes":      rules.frozen.Below,
		"excludes":        rules.frozen.Excludes,
		"info/attributes": rules.frozen.Attributes + bytesOnly,
		"info/exclude":    rules.frozen.Exclude,
	} {
		name = "repository/" + name
		if had, err := root.ReadFile(name, MaxRules); err == nil && string(had) == text {
			continue
		}
		if err := root.WriteFile(name, []byte(text), 0o600); err != nil {
			return err
		}
	}
	// Git would take its configuration from there.
	return root.RemoveAll("repository/commondir")
}

// config is the text of the private git directory's configuration.
func (r *gitRules) config(dir string, sha256 bool) string {
	var b bytes.Buffer
	b.WriteString("[core]\n\tbare = false\n")
	if sha256 {
		b.WriteString("\trepositoryformatversion = 1\n[extensions]\n\tobjectformat = sha256\n")
	} else {
		b.WriteString("\trepositoryformatversion = 0\n")
	}
	b.WriteString(r.settings(func(key string) bool { return !strings.HasPrefix(key, "filter.") }))
	for _, f := range []struct{ key, name string }{{"excludesfile", "excludes"}, {"attributesfile", "attributes"}} {
		fmt.Fprintf(&b, "[core]\n\t%s = %s\n", f.key, git.ConfigQuoted(filepath.ToSlash(filepath.Join(dir, f.name))))
	}
	return b.String()
}

// filters is the text of the file that [Repository.Filtering] has git read.
func (r *gitRules) filters() string {
	return r.settings(func(key string) bool { return strings.HasPrefix(key, "filter.") })
}

// settings writes the frozen settings that which picks as a configuration file.
func (r *gitRules) settings(which func(key string) bool) string {
	var b strings.Builder
	for _, s := range r.frozen.Config {
		if !which(s.Key) {
			continue
		}
		first, last := strings.IndexByte(s.Key, '.'), strings.LastIndexByte(s.Key, '.')
		section := s.Key[:first]
		if first < last {
			section += " " + git.ConfigQuoted(s.Key[first+1:last])
		}
		fmt.Fprintf(&b, "[%s]\n\t%s = %s\n", section, s.Key[last+1:], git.ConfigQuoted(s.Value))
	}
	return b.String()
}

// Filtering lets a call run the frozen filters. The private git directory names none: a call that does not ask for
// them runs none, whatever git thinks of to do for it.
func (r *Repository) Filtering(c git.Command) git.Command {
	c.Config = append(slices.Clone(c.Config), "include.path="+filepath.Join(r.repository(), "filters"))
	return c
}

// FilterCommand returns the command by which a filter makes content for a tree, "" where there is none.
func (r *Repository) FilterCommand(ctx context.Context, driver string) (command string) {
	rules, err := r.rulesNow(ctx)
	if err != nil {
		return ""
	}
	for _, s := range rules.frozen.Config { // git prefers process; of one key the last counts
		if s.Key == "filter."+driver+".process" || s.Key == "filter."+driver+".clean" && command == "" {
			command = s.Value
		}
	}
	return command
}

// Filters returns the names of the filters that do something when content goes into a tree, and a text that changes when what
// they do changes, but for what the .gitattributes of the work tree say. Without such filters both are empty.
func (r *Repository) Filters(ctx context.Context) (drivers []string, text string, err error) {
	rules, err := r.rulesNow(ctx)
	if err != nil {
		return nil, "", err
	}
	for _, s := range rules.frozen.Config {
		name, ok := strings.CutPrefix(s.Key, "filter.")
		clean, isClean := strings.CutSuffix(name, ".clean")
		process, isProcess := strings.CutSuffix(name, ".process")
		switch {
		case ok && isClean:
			drivers = append(drivers, clean)
		case ok && isProcess:
			drivers = append(drivers, process)
		}
	}
	if len(drivers) == 0 {
		return nil, "", nil
	}
	return drivers, fmt.Sprintf("%q %q %q\n", rules.config("", false), rules.filters(), rules.frozen.Attributes), nil
}
