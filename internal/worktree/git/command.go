// Package git runs git for ferrus: the program on PATH, with an environment and a configuration in which a repository
// can make it start nothing and hide nothing, and with errors that say what to do. What is asked of git is up to the
// caller; internal/worktree asks everything about work trees.
package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/ferrus-go/ferrus/internal/platform/proc"
	"github.com/ferrus-go/ferrus/internal/platform/rootfs"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
)

// ErrNoGit says that there is no git, or no repository or work tree at the place asked about.
var ErrNoGit error = &refusal.Kind{Code: refusal.StoreError, Text: "no git work tree: install git and run git init, then try again",
	Remedy: "run git init, then try again"}

// settings override every configuration, so that git answers from the files alone, starts nothing of the repository's
// on the side, and writes no format that would hide damage.
var settings = []string{
	"advice.addEmbeddedRepo=false",
	"core.autocrlf=false",
	"core.checkStat=default",
	"core.fsmonitor=false",
	"core.ignoreStat=false", // would make git believe every file it has once hashed
	"core.quotePath=false",
	"core.safecrlf=false",
	"core.sparseCheckout=false", // hidden files are our own affair, see hidden
	"core.splitIndex=false",
	"core.trustctime=true",
	"core.untrackedCache=false",
	"gc.auto=0",
	"index.skipHash=false", // a torn private index must be noticed
	"index.sparse=false",
	"maintenance.auto=false",
	"safe.bareRepository=explicit", // a bare repository among the files is no repository
}

// inherited are the only GIT_ variables that reach our git. A git hook's environment names the repository, index and
// object store of another command; others name programs.
var inherited = []string{
	"GIT_CEILING_DIRECTORIES", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_NOSYSTEM", "GIT_CONFIG_SYSTEM",
	"GIT_DISCOVERY_ACROSS_FILESYSTEM",
}

// determined is set in every call. A repository that lacks objects cannot have git fetch them: that would run a program
// that its configuration names.
var determined = []string{
	"LC_ALL=C", "GIT_TERMINAL_PROMPT=0", "GIT_OPTIONAL_LOCKS=0", "GIT_NO_REPLACE_OBJECTS=1", "GIT_ADVICE=0",
	"GIT_NO_LAZY_FETCH=1", "GIT_ALLOW_PROTOCOL=none",
}

// Isolated are variables that keep the configuration of the user and the machine out of a call.
var Isolated = []string{"GIT_CONFIG_GLOBAL=" + os.DevNull, "GIT_CONFIG_SYSTEM=" + os.DevNull, "GIT_CONFIG_NOSYSTEM=1"}

// A Command is a call of git in a folder.
type Command struct {
	Dir    string
	Env    []string // added to the clean environment
	Config []string // key=value, after settings
	Flags  []string // options of git itself
	Stdin  io.Reader
	Stdout io.Writer // nil: returned

	// Detached is for calls that start other programs, such as ssh: git gets a session without a terminal, so that none of
	// them asks there, and where ctx ends the call, all of them are ended.
	Detached bool
}

// Run calls git and returns what it wrote to stdout and the first lines of its stderr. An error carries the first of
// them and what to do next where that is known; it is ErrNoGit where there is nothing to ask, and wraps the
// context's error if that ended the call. A lock of ours that a killed git has left is removed, and git called again.
func (c Command) Run(ctx context.Context, args ...string) (stdout []byte, stderr string, err error) {
	stdout, stderr, err = c.once(ctx, args)
	if err != nil && clear(c.Dir, stderr) {
		again, ok := c.Stdin.(io.Seeker)
		if ok {
			_, err := again.Seek(0, io.SeekStart)
			ok = err == nil
		}
		if ok || c.Stdin == nil {
			return c.once(ctx, args)
		}
	}
	return stdout, stderr, err
}

func (c Command) once(ctx context.Context, args []string) (stdout []byte, stderr string, err error) {
	path, err := gitPath(c.Dir)
	if err != nil {
		return nil, "", err
	}
	var full []string
	for _, s := range slices.Concat(settings, c.Config) {
		full = append(full, "-c", s)
	}
	// A hooks folder that is missing: writing an index would run post-index-change.
	full = append(full, "-c", "core.hooksPath="+filepath.Join(os.DevNull, "none"))
	full = append(append(full, c.Flags...), args...)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer c.unblock(ctx, cancel)()
	cmd := exec.CommandContext(ctx, path, full...)
	cmd.Dir, cmd.Env, cmd.Stdin = c.Dir, environ(c.Env), c.Stdin
	// SIGTERM lets git remove its lock and temporary files; what a filter of the user's leaves open does not hold us.
	cmd.Cancel = func() error {
		if c.Detached {
			proc.Of(cmd.Process).Terminate()
			return nil
		}
		if cmd.Process.Signal(syscall.SIGTERM) != nil {
			return cmd.Process.Kill()
		}
		return nil
	}
	cmd.WaitDelay = 2 * time.Second
	if c.Detached {
		cmd.SysProcAttr = proc.Leader()
	}
	var out bytes.Buffer
	cmd.Stdout = &out
	if c.Stdout != nil {
		cmd.Stdout = c.Stdout
	}
	said := &Head{Max: 16 << 10}
	cmd.Stderr = said
	err = cmd.Run()
	if err == nil {
		return out.Bytes(), said.String(), nil
	}
	if ctx.Err() != nil {
		if c.Detached && cmd.Process != nil {
			proc.Of(cmd.Process).Kill()
		}
		return nil, "", interrupted(ctx, args[0])
	}
	return nil, said.String(), Explain(args[0], said.String(), err)
}

// stuckAfter is how long a call may take before it is asked whether git waits for something that never comes.
const stuckAfter = time.Second

// unblock ends a call in which git may wait at a FIFO or device in the place of a file of rules: git opens those wherever
// it meets them. The folder is looked through when the call has lasted stuckAfter, and again each time it has lasted twice
// as long. It returns what stops this.
func (c Command) unblock(ctx context.Context, cancel context.CancelCauseFunc) (stop func() bool) {
	var look func(after time.Duration) *time.Timer
	look = func(after time.Duration) *time.Timer {
		return time.AfterFunc(after, func() {
			if err := obstacle(ctx, c.Dir); err != nil {
				cancel(err)
			} else if ctx.Err() == nil {
				look(2 * after) // does nothing once the call is over
			}
		})
	}
	return look(stuckAfter).Stop
}

// obstacle finds a FIFO or device in a folder, at any depth, by the name of a file of rules.
func obstacle(ctx context.Context, dir string) error {
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return filepath.SkipAll
		case err != nil:
			return nil // git says so
		case d.Name() == ".git":
			return filepath.SkipDir
		case (d.Name() == ".gitignore" || d.Name() == ".gitattributes") && d.Type()&(fs.ModeNamedPipe|fs.ModeDevice) != 0:
			return fmt.Errorf("git waits at %s, which %w, then try again", path, rootfs.ErrNotRegular)
		}
		return nil
	})
}

// environ is ours without another git command's GIT_ variables.
func environ(add []string) []string {
	env := slices.DeleteFunc(os.Environ(), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		if runtime.GOOS == "windows" {
			name = strings.ToUpper(name)
		}
		return strings.HasPrefix(name, "GIT_") && !slices.Contains(inherited, name)
	})
	return append(append(env, determined...), add...)
}

// Explain returns the error of a failed call of the subcommand verb. It contains the first line that git printed on stderr, and what
// to do where that is known. It is ErrNoGit where there is no repository.
func Explain(verb, stderr string, err error) error {
	line := FirstLine(stderr)
	switch {
	case strings.Contains(line, "not a git repository (or any"), strings.Contains(line, "must be run in a work tree"),
		strings.Contains(line, "cannot use bare repository"):
		return ErrNoGit
	case strings.Contains(line, "dubious ownership"), strings.Contains(line, "unsafe repository"):
		remedy := "git config --global --add safe.directory <its path>"
		for l := range strings.Lines(stderr) {
			if l = strings.TrimSpace(l); strings.HasPrefix(l, "git config --global --add safe.directory ") {
				remedy = l
			}
		}
		return fmt.Errorf("git %s: %s; if you trust its owner, run: %s", verb, line, remedy)
	case strings.Contains(line, "Permission denied"):
		return fmt.Errorf("git %s: %s; make it readable or have git ignore it", verb, line)
	case strings.Contains(line, ".lock': File exists"):
		line += " Another git may be at work: try again after some seconds; if none is, ferrus doctor --fix sets a lock aside that a killed git has left"
	case strings.Contains(line, "exists; cannot create"):
		line += "; rename that one, or take another name"
	case line == "":
		line = err.Error()
	}
	return &failure{"git " + verb + ": " + line, err}
}

// interrupted is the error of a call that ctx has ended.
func interrupted(ctx context.Context, verb string) error {
	why := context.Cause(ctx)
	said := why.Error()
	switch {
	case errors.Is(why, context.DeadlineExceeded):
		said = "no answer in time; the disk or the repository is slow"
	case errors.Is(why, context.Canceled):
		said = "interrupted"
	}
	return &failure{"git " + verb + ": " + said, why}
}

// A failure says what git said, and wraps how it ended.
type failure struct {
	said string
	err  error
}

func (f *failure) Error() string { return f.said }
func (f *failure) Unwrap() error { return f.err }

// SaidNo reports whether git answered no: it exited with status 1.
func SaidNo(err error) bool {
	var exit *exec.ExitError
	return errors.As(err, &exit) && exit.ExitCode() == 1
}

// FirstLine returns the first line of a text, without white space around it.
func FirstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return strings.TrimSpace(line)
}

// A Head is a writer that keeps the first Max bytes and drops the rest. Cut tells that it dropped some.
type Head struct {
	bytes.Buffer
	Max int
	Cut bool
}

// Write never fails.
func (h *Head) Write(p []byte) (int, error) {
	keep := p[:min(len(p), h.Max-h.Len())]
	h.Cut = h.Cut || len(keep) < len(p)
	h.Buffer.Write(keep)
	return len(p), nil
}

// ReadFrom is that of Write: without it a copy would find the one of the buffer, which keeps everything.
func (h *Head) ReadFrom(r io.Reader) (int64, error) { return io.Copy(struct{ io.Writer }{h}, r) }
