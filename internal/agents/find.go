package agents

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/ferrus-go/ferrus/internal/platform/proc"
	"github.com/ferrus-go/ferrus/internal/platform/rootfs"
)

// Path returns the path of the adapter's program on the PATH of environ. The error says how to
// install it.
func (a Adapter) Path(environ []string) (string, error) {
	if a.Program == "" {
		return "", fmt.Errorf("%s has no program of its own", a.Name)
	}
	if path, err := LookPath(a.Program, environ); err == nil {
		return path, nil
	}
	return "", fmt.Errorf("%s is not on PATH: install it by `%s`", a.Program, a.Install)
}

// LookPath returns the path of a program on the PATH of env. A name with a separator already is
// a path.
func LookPath(name string, env []string) (string, error) {
	if strings.ContainsRune(name, filepath.Separator) {
		return name, nil
	}
	for _, dir := range filepath.SplitList(proc.Lookup(env, "PATH")) {
		if !filepath.IsAbs(dir) {
			continue // a file in the project is not a program of the person
		}
		if path, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("%s is not on the PATH", name)
}

// versionTime is how long a program may take to print its version. Scripts need seconds on a busy
// machine.
const versionTime = 20 * time.Second

// Version runs the adapter's program, in the program's own folder, and returns its version as one
// line. It ends with ctx.
func (a Adapter) Version(ctx context.Context, environ []string) (string, error) {
	path, err := a.Path(environ)
	if err != nil {
		return "", err
	}
	type version struct {
		line string
		err  error
	}
	v := answered(ctx, "version of "+path, func() version {
		line, err := a.version(ctx, path, environ)
		return version{line, err}
	})
	return v.line, v.err
}

func (a Adapter) version(ctx context.Context, path string, environ []string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, versionTime)
	defer cancel()
	out, err := a.asked(ctx, path, environ, "--version").Output()
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return "", fmt.Errorf("%s --version: no answer within %v", path, versionTime)
	}
	if err != nil {
		return "", fmt.Errorf("%s --version: %w", path, rootfs.Cause(err))
	}
	line, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	return line, nil
}
