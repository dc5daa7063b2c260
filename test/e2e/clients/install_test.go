//go:build unix

package clients

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"syscall"
	"testing"

	"github.com/ferrus-go/ferrus/internal/agents"
)

// A bundle is clients that npm installs in one folder.
type bundle struct {
	agents   []string
	folder   string
	packages []string
	install  func() (bin string, err error) // once
}

// The clients in the versions with which the adapters were tried.
var bundles = []bundle{
	bundled([]string{claude, codex}, "clients-2.1.329-0.169.0", "@anthropic-ai/claude-code@2.1.329", "@openai/codex@0.169.0"),
	bundled([]string{gemini}, "gemini-0.61.0", "@google/gemini-cli@0.61.0"),
	bundled([]string{qwen}, "qwen-0.24.4", "@qwen-code/qwen-code@0.24.4", "node@22.23.3"), // it starts under no older one
	bundled([]string{opencode}, "opencode-1.18.33", "opencode-ai@1.18.33"),
}

func bundled(agents []string, folder string, packages ...string) bundle {
	b := bundle{agents: agents, folder: folder, packages: packages}
	b.install = sync.OnceValues(b.installed)
	return b
}

// installed returns the folders with the programs of agents, or skips the test.
func installed(t testing.TB, agents ...string) []string {
	t.Helper()
	if testing.Short() {
		t.Skip("real clients are not run with -short")
	}
	if !*asked {
		t.Skip("real clients are run, and installed, by: go test ./test/e2e/clients -clients")
	}
	if runtime.GOOS != "linux" {
		t.Skip("real clients are watched by /proc")
	}
	var bins []string
	for _, b := range bundles {
		if !slices.ContainsFunc(agents, func(a string) bool { return slices.Contains(b.agents, a) }) {
			continue
		}
		bin, err := b.install()
		if err != nil {
			t.Skipf("no real clients: %v: %v", b.agents, err)
		}
		bins = append(bins, bin)
	}
	return bins
}

// installed installs the clients, unless they are there already.
func (b bundle) installed() (string, error) {
	above := os.Getenv("FERRUS_CLIENTS_DIR")
	if above == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			return "", err
		}
		above = filepath.Join(cache, "ferrus")
	}
	for _, program := range []string{"node", "npm"} {
		if _, err := exec.LookPath(program); err != nil {
			return "", err
		}
	}
	dir := filepath.Join(above, b.folder)
	bin := filepath.Join(dir, "node_modules", ".bin")
	unlock, err := lock(dir + ".lock")
	if err != nil {
		return "", err
	}
	defer unlock()
	if _, err := os.Stat(bin); err == nil {
		return bin, nil
	}
	return bin, b.installInto(dir)
}

// installInto installs beside the folder and renames, so that what is there is whole.
func (b bundle) installInto(dir string) error {
	part, err := os.MkdirTemp(filepath.Dir(dir), filepath.Base(dir)+".part-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(part)
	args := []string{"install", "--prefix", part, "--no-audit", "--no-fund", "--loglevel=error", "--fetch-retries=0"}
	if err := command(part, "npm", append(args, b.packages...)...); err != nil {
		return err
	}
	bin := filepath.Join(part, "node_modules", ".bin")
	for _, name := range b.agents {
		adapter, err := agents.Find(name)
		if err != nil {
			return err
		}
		version := func() error {
			return command(part, "env", "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"), adapter.Program, "--version")
		}
		if name == claude && version() != nil {
			// npm may hold back the script by which the package puts its program in place.
			if err := command(filepath.Join(part, "node_modules", "@anthropic-ai", "claude-code"), "node", "install.cjs"); err != nil {
				return err
			}
		}
		if err := version(); err != nil {
			return err
		}
	}
	if err := os.Remove(dir); err != nil && !os.IsNotExist(err) {
		return err // a folder of somebody's with something else in it
	}
	return os.Rename(part, dir)
}

func command(dir, name string, args ...string) error {
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		line, _, _ := bytes.Cut(bytes.TrimSpace(out), []byte("\n"))
		return fmt.Errorf("%s %s: %v: %s", filepath.Base(name), args[0], err, line)
	}
	return nil
}

// lock keeps other runs of these tests away from the folder.
func lock(path string) (unlock func(), err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		f.Close()
		return nil, err
	}
	return func() { f.Close() }, nil
}
