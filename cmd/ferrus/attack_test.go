//go:build unix

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/ferrus-go/ferrus/internal/cli"
	"github.com/ferrus-go/ferrus/internal/cli/root"
	setupcmd "github.com/ferrus-go/ferrus/internal/cli/setup"
	doctorcmd "github.com/ferrus-go/ferrus/internal/cli/status"
	"github.com/ferrus-go/ferrus/internal/platform/rootfs/rootfstest"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/status/doctor"
)

// template is a project with a task, made once.
var template = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "ferrus-attack")
	if err != nil {
		return "", err
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return "", err
	}
	var out bytes.Buffer
	for _, line := range []string{"init", "task one", "reset --yes", "task two", "evidence"} {
		a := &cli.App{In: strings.NewReader(""), Out: &out, Err: &out}
		if code := root.Run(a, context.Background(), append([]string{"-C", dir}, strings.Fields(line)...)); code != 0 {
			return "", fmt.Errorf("ferrus %s: exit %d: %s", line, code, out.String())
		}
	}
	return dir, os.WriteFile(filepath.Join(dir, ".ferrus", "logs", "check-k1.log"), []byte("ok\n"), 0o600)
})

// attacked are the files and folders of a project, each with the command lines that read or write it. What a command
// says does not matter: it must end, and leave everything outside as it was.
var attacked = map[string][]string{
	"ferrus.toml":                      {"init", "config check", "status"},
	".gitignore":                       {"init"},
	"workflows.json":                   {"pipeline list"},
	".ferrus/workflows.json":           {"init", "pipeline list", "pipeline validate"},
	".ferrus/workflows.schema.json":    {"init"},
	".ferrus/skills":                   {"init"},
	".ferrus/logs":                     {"logs k1"},
	".ferrus/logs/check-k1.log":        {"logs k1"},
	".ferrus/evidence":                 {"evidence"},
	".ferrus/evidence/TASK/":           {"evidence"},
	".ferrus/evidence/TASK/SHA256SUMS": {"evidence"},
	".ferrus/live/open-x":              {"lay"},
	".ferrus/live/open-x/mcp.json":     {"lay"},
	".ferrus/STATE.json":               {"views"},
	".ferrus/TASK.md":                  {"views"},
}

// TestNoEntryLeadsACommandOutside lays links, FIFOs and huge files in place of what the commands read and write.
func TestNoEntryLeadsACommandOutside(t *testing.T) {
	from, err := template()
	if err != nil {
		t.Fatal(err)
	}
	tasks, err := os.ReadDir(filepath.Join(from, ".ferrus", "evidence"))
	if err != nil || len(tasks) != 1 {
		t.Fatal(err)
	}
	var paths []string
	for path := range attacked {
		paths = append(paths, strings.ReplaceAll(path, "TASK/", tasks[0].Name()+"/"))
	}
	slices.Sort(paths)
	setup := func(t *testing.T, dir string) {
		if err := os.CopyFS(dir, os.DirFS(from)); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(filepath.Join(dir, ".ferrus"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	rootfstest.Attack(t, paths, setup, func(t *testing.T, c rootfstest.Case) error {
		if strings.HasSuffix(c.Path, ".log") && c.Entry == "5 GB" {
			return nil // all of it is shown
		}
		var out bytes.Buffer
		a := &cli.App{In: strings.NewReader(""), Out: &out, Err: &out}
		for _, line := range attacked[strings.ReplaceAll(c.Path, tasks[0].Name()+"/", "TASK/")] {
			switch line {
			case "lay":
				fmt.Fprintln(&out, setupcmd.WriteFiles(map[string]string{filepath.Join(c.Dir, ".ferrus", "live", "open-x", "mcp.json"): "{}"}))
			case "views":
				p := doctor.New(t.Context(), project.At(c.Dir, ""), doctorcmd.Host(a), false)
				fmt.Fprintf(&out, "%+v %v\n", doctor.CheckViews(p), project.Upstream(c.Dir))
				p.Forget()
			default:
				fmt.Fprintf(&out, "ferrus %s: exit %d\n", line, root.Run((&cli.App{In: strings.NewReader(""), Out: &out, Err: &out}), t.Context(), append([]string{"-C", c.Dir}, strings.Fields(line)...)))
			}
		}
		return errors.New(out.String())
	})
}

// TestAnIgnoreFileThatIsNoneIsRefused before anything is made, and before git reads it: git waits at a FIFO.
func TestAnIgnoreFileThatIsNoneIsRefused(t *testing.T) {
	for name, lay := range map[string]func(path, outside string) error{
		"link":   func(path, outside string) error { return os.Symlink(outside, path) },
		"FIFO":   func(path, _ string) error { return syscall.Mkfifo(path, 0o600) },
		"folder": func(path, _ string) error { return os.Mkdir(path, 0o700) },
	} {
		t.Run(name, func(t *testing.T) {
			base := t.TempDir()
			dir := filepath.Join(base, "project")
			outside := filepath.Join(base, "outside")
			if out, err := exec.Command("git", "init", "-q", dir).CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			if err := errors.Join(os.WriteFile(outside, []byte("mine"), 0o600), lay(filepath.Join(dir, ".gitignore"), outside)); err != nil {
				t.Fatal(err)
			}
			var out bytes.Buffer
			err := rootfstest.Bounded(t, func() error {
				a := &cli.App{In: strings.NewReader(""), Out: &out, Err: &out}
				if code := root.Run(a, t.Context(), []string{"-C", dir, "init"}); code != cli.ExitUsage {
					return fmt.Errorf("exit %d", code)
				}
				return nil
			})
			if err != nil || !strings.Contains(out.String(), ".gitignore is ") || !strings.Contains(out.String(), "make it a regular file") {
				t.Errorf("%v: %s", err, out.String())
			}
			if left, _ := os.ReadDir(dir); len(left) != 2 {
				t.Errorf("made was %v", left)
			}
			if text, _ := os.ReadFile(outside); string(text) != "mine" {
				t.Errorf("outside is %q", text)
			}
		})
	}
}
