//go:build unix

package clients

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"
	"testing"
)

// The versions of the clients with which the adapters were tried.
const (
	claudeVersion = "2.1.329"
	codexVersion  = "0.169.0"
)

// installed returns the folder with the programs of the clients, or skips the test.
func installed(t testing.TB) string {
	t.Helper()
	if testing.Short() {
		t.Skip("real clients are not run with -short")
	}
	if !*asked {
		t.Skip("real clients are run, and installed, by: go test ./internal/e2e/clients -clients")
	}
	if runtime.GOOS != "linux" {
		t.Skip("real clients are watched by /proc")
	}
	bin, err := install()
	if err != nil {
		t.Skip("no real clients: " + err.Error())
	}
	return bin
}

// install installs the clients, unless they are there already.
var install = sync.OnceValues(func() (string, error) {
	dir := os.Getenv("FERRUS_CLIENTS_DIR")
	if dir == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			return "", err
		}
		dir = filepath.Join(cache, "ferrus", fmt.Sprintf("clients-%s-%s", claudeVersion, codexVersion))
	}
	for _, program := range []string{"node", "npm"} {
		if _, err := exec.LookPath(program); err != nil {
			return "", err
		}
	}
	bin := filepath.Join(dir, "node_modules", ".bin")
	unlock, err := lock(dir + ".lock")
	if err != nil {
		return "", err
	}
	defer unlock()
	if _, err := os.Stat(bin); err == nil {
		return bin, nil
	}
	return bin, installInto(dir)
})

// installInto installs beside the folder and renames, so that what is there is whole.
func installInto(dir string) error {
	part, err := os.MkdirTemp(filepath.Dir(dir), filepath.Base(dir)+".part-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(part)
	err = command(part, "npm", "install", "--prefix", part, "--no-audit", "--no-fund", "--loglevel=error", "--fetch-retries=0",
		"@anthropic-ai/claude-code@"+claudeVersion, "@openai/codex@"+codexVersion)
	if err != nil {
		return err
	}
	claude := filepath.Join(part, "node_modules", ".bin", "claude")
	if command(part, claude, "--version") != nil {
		// npm may hold back the script by which the package puts its program in place.
		if err := command(filepath.Join(part, "node_modules", "@anthropic-ai", "claude-code"), "node", "install.cjs"); err != nil {
			return err
		}
		if err := command(part, claude, "--version"); err != nil {
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
