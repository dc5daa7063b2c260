package agents

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/ferrus-go/ferrus/internal/rootfs"
)

// Path returns where the adapter's program is on the PATH of environ. The error says how to install it.
func (a Adapter) Path(environ []string) (string, error) {
	if a.Program == "" {
		return "", fmt.Errorf("%s has no program of its own", a.Name)
	}
	if path, err := LookPath(a.Program, environ); err == nil {
		return path, nil
	}
	return "", fmt.Errorf("%s is not on PATH: install it by `%s`", a.Program, a.Install)
}

// LookPath returns where a program is on the PATH of environ. A name with a separator is a path already.
func LookPath(name string, environ []string) (string, error) {
	if strings.ContainsRune(name, filepath.Separator) {
		return name, nil
	}
	for _, dir := range filepath.SplitList(lookup(environ, "PATH")) {
		if !filepath.IsAbs(dir) {
			continue // what stands in the project is no program of the person's
		}
		if path, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("%s is not on the PATH", name)
}

// versionTime is how long a program may take to say its version. Those that are scripts need seconds on a busy machine.
const versionTime = 20 * time.Second

// Version starts the adapter's program, in the program's own folder, and returns what it says of its version, in one line.
// It ends with ctx.
func (a Adapter) Version(ctx context.Context, environ []string) (string, error) {
	path, err := a.Path(environ)
	if err != nil {
		return "", err
	}
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
