package worktree

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/ferrus-go/ferrus/internal/git"
	"github.com/ferrus-go/ferrus/internal/rootfs"
	"github.com/ferrus-go/ferrus/internal/worktree/gitpath"
)

// The private git directory. Every call about files and objects runs in it, and not in the project's: an executor can
// write the project's .git (its config, info/, a replaced .git file), and git would run what that names. The files of
// the private one are compared with what they must be before each operation, and written again if they differ.

// bytesOnly turns off every conversion of content, and what the work tree says of how a diff is shown; see asText. In
// info/attributes it has precedence over the files of the work tree: what is hashed and shown is what is on disk. Filters
// (git-lfs) stay; see rules.
const bytesOnly = "* -text !eol -ident !working-tree-encoding !crlf diff=ferrus\n"

// rules are what git's configuration, the person's and the repository's, says about which files count and what their
// content is. They are frozen by [Tree.Freeze].
type rules struct {
	frozen frozen
	text   string // of frozen, in its file
	local  string // digest of the repository's own settings as they are now, but for those that git itself writes
}

// frozen are the rules as they were when the task was created.
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

// maxRules bounds each file of rules that is read from the repository.
const maxRules = 4 << 20

// keptSettings are those that decide which files count and how they are read, beside filter.*. All other settings of a repository are without
// effect on calls about files.
var keptSettings = []string{"core.excludesfile", "core.attributesfile", "core.ignorecase", "core.precomposeunicode", "core.symlinks", "core.longpaths"}

func (t *Tree) repository() string { return filepath.Join(t.private, "repository") }

// Freeze records the repository's own filters and excludes as they are now. They are used, and no others of the
// repository, until the next Freeze; a Tree whose private folder has none yet freezes them when it first needs them.
// It does nothing without git.
func (t *Tree) Freeze(ctx context.Context) error {
	if !t.Git() {
		return nil
	}
	if err := t.makePrivate(); err != nil {
		return err
	}
	r, err := t.readRules(ctx)
	if err == nil {
		err = t.readFrozen(r)
	}
	if err == nil {
		err = t.saveFrozen(r)
	}
	if err != nil {
		return fmt.Errorf("freeze the git rules of %s: %w", t.dir, err)
	}
	t.mu.Lock()
	t.rules = r
	t.mu.Unlock()
	return nil
}

// prepare makes the private folders and the private git directory, or puts right what somebody changed in it.
func (t *Tree) prepare(ctx context.Context) error {
	if err := t.makePrivate(); err != nil {
		return err
	}
	r, err := t.rulesNow(ctx)
	if err != nil {
		return err
	}
	return t.layRepository(r)
}

// rulesNow returns the rules: the person's as they were when this Tree first needed them, the frozen ones as they are in
// their file, which another process may have written again.
func (t *Tree) rulesNow(ctx context.Context) (*rules, error) {
	root, err := t.ours()
	if err != nil {
		return nil, err
	}
	defer root.Close()
	text, err := root.ReadFile("rules.json", maxRules)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.rules != nil && len(text) > 0 && string(text) == t.rules.text {
		return t.rules, nil
	}
	r := &rules{text: string(text)}
	if json.Unmarshal(text, &r.frozen) != nil {
		if r, err = t.readRules(ctx); err != nil {
			return nil, err
		}
		if err := errors.Join(t.readFrozen(r), t.saveFrozen(r)); err != nil {
			return nil, err
		}
	}
	t.rules = r
	return r, nil
}

// saveFrozen writes the frozen rules into their file.
func (t *Tree) saveFrozen(r *rules) error {
	text, err := json.Marshal(r.frozen)
	if err != nil {
		return err
	}
	r.text = string(text)
	root, err := t.ours()
	if err != nil {
		return err
	}
	defer root.Close()
	return root.WriteFile("rules.json", text, 0o600)
}

// readRules reads the settings as they are now, those of the repository included. Git reads configuration files for it
// and runs nothing.
func (t *Tree) readRules(ctx context.Context) (*rules, error) {
	c := git.Command{Dir: t.dir, Env: []string{"GIT_DIR=" + t.gitDir, "GIT_COMMON_DIR=" + t.common}}
	out, _, err := c.Run(ctx, "config", "-z", "--list", "--includes", "--show-scope")
	if err != nil {
		return nil, err
	}
	r := &rules{}
	var local []string
	fields := gitpath.Split(out) // scope, then "key\nvalue"
	for i := 0; i+1 < len(fields); i += 2 {
		key, value, has := strings.Cut(fields[i+1], "\n")
		if !has {
			value = "true"
		}
		if (fields[i] == "local" || fields[i] == "worktree") && !routine.MatchString(key) {
			local = append(local, key, value)
		}
		if !strings.HasPrefix(key, "filter.") && !slices.Contains(keptSettings, key) {
			continue
		}
		r.frozen.Config = append(r.frozen.Config, setting{key, value})
	}
	r.local = digest(local...)
	return r, nil
}

// withoutNewFilters are settings that turn off the filters which the repository's configuration has now and did not have
// when it was frozen. Git lays out a new work tree by that configuration.
func (t *Tree) withoutNewFilters(ctx context.Context) (off []string, err error) {
	r, err := t.rulesNow(ctx)
	if err != nil {
		return nil, err
	}
	is, err := t.readRules(ctx)
	if err != nil {
		return nil, err
	}
	for _, s := range is.frozen.Config {
		if !strings.HasPrefix(s.Key, "filter.") || slices.Contains(r.frozen.Config, s) {
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
var routine = regexp.MustCompile(`^(branch|user|gui)\.|^remote\..*\.(url|pushurl|fetch|tagopt)$|^(gc|maintenance)\.(auto|log)`)

// readFrozen reads the files that the configuration names, and takes the names out of the settings.
func (t *Tree) readFrozen(r *rules) (err error) {
	f := &r.frozen
	if f.Sums, err = t.sums(r); err != nil {
		return err
	}
	read := func(path string) string {
		if path == "" {
			return ""
		}
		if !filepath.IsAbs(path) {
			path = filepath.Join(t.dir, path)
		}
		data, failed := rootfs.ReadRegular(path, maxRules)
		text := string(data)
		if failed != nil && !errors.Is(failed, fs.ErrNotExist) && err == nil {
			err = failed
		}
		if text != "" && !strings.HasSuffix(text, "\n") {
			text += "\n"
		}
		return text
	}
	f.Excludes, f.Below = read(r.path(excludesFile)), read(r.path(attributesFile))
	f.Config = slices.DeleteFunc(f.Config, func(s setting) bool { return s.Key == excludesFile.key || s.Key == attributesFile.key })
	f.Exclude = read(filepath.Join(t.common, "info", "exclude"))
	f.Attributes = read(filepath.Join(t.common, "info", "attributes"))
	return err
}

// A named file is one that a setting names, or that git reads by default from the person's configuration folder.
type namedFile struct{ key, usual string }

var (
	excludesFile   = namedFile{"core.excludesfile", "ignore"}
	attributesFile = namedFile{"core.attributesfile", "attributes"}
)

// path is where git would read the file, "" where it reads none. The settings must still have the name.
func (r *rules) path(f namedFile) string {
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
func (t *Tree) layRepository(r *rules) error {
	root, err := t.ours()
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
		"config":          r.config(t.repository(), len(t.nothing) == 64),
		"attributes":      r.frozen.Below,
		"excludes":        r.frozen.Excludes,
		"info/attributes": r.frozen.Attributes + bytesOnly,
		"info/exclude":    r.frozen.Exclude,
	} {
		name = "repository/" + name
		if had, err := root.ReadFile(name, maxRules); err == nil && string(had) == text {
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
func (r *rules) config(dir string, sha256 bool) string {
	var b bytes.Buffer
	b.WriteString("[core]\n\tbare = false\n")
	if sha256 {
		b.WriteString("\trepositoryformatversion = 1\n[extensions]\n\tobjectformat = sha256\n")
	} else {
		b.WriteString("\trepositoryformatversion = 0\n")
	}
	for _, s := range r.frozen.Config {
		first, last := strings.IndexByte(s.Key, '.'), strings.LastIndexByte(s.Key, '.')
		section := s.Key[:first]
		if first < last {
			section += ` "` + quoteSetting.Replace(s.Key[first+1:last]) + `"`
		}
		fmt.Fprintf(&b, "[%s]\n\t%s = \"%s\"\n", section, s.Key[last+1:], quoteSetting.Replace(s.Value))
	}
	for _, f := range []struct{ key, name string }{{"excludesfile", "excludes"}, {"attributesfile", "attributes"}} {
		fmt.Fprintf(&b, "[core]\n\t%s = \"%s\"\n", f.key, quoteSetting.Replace(filepath.ToSlash(filepath.Join(dir, f.name))))
	}
	return b.String()
}

var quoteSetting = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\t", `\t`)
