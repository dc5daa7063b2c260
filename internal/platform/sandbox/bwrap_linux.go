package sandbox

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/ferrus-go/ferrus/internal/platform/rootfs"
)

// becomeBwrap becomes bubblewrap, which starts this program again inside.
func becomeBwrap(o order, argv []string) error {
	bwrap, err := exec.LookPath("bwrap")
	if err != nil {
		return fmt.Errorf("bubblewrap is not installed: %w", err)
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	o.Inside = true
	for _, path := range o.Policy.Deny {
		if info, err := os.Stat(path); err == nil {
			o.Denied = append(o.Denied, fileOf(info))
		}
	}
	data, err := json.Marshal(o)
	if err != nil {
		return err
	}
	args := append(bwrapArgs(o.Policy, self), self, stageWord, base64.RawURLEncoding.EncodeToString(data), "--")
	return fmt.Errorf("%w: %w", errNotStarted, syscall.Exec(bwrap, append(args, argv...), os.Environ()))
}

// bwrapArgs are the arguments of bubblewrap for a policy. Folders come before what lies below them, so that each lies over the one
// that contains it.
func bwrapArgs(p Policy, self string) []string {
	args := []string{"bwrap", "--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try", "--new-session", "--die-with-parent"}
	if !p.Network {
		args = append(args, "--unshare-net")
	}
	args = append(args, "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", "--tmpfs", "/run")
	type mount struct {
		path string
		args []string
	}
	var mounts []mount
	seen := map[string]bool{}
	for _, path := range append(slices.Clone(p.Read), self) {
		if seen[path] {
			continue
		}
		seen[path] = true
		if rootfs.Within("/proc", path) || path == "/dev" {
			continue // there are new ones
		}
		mounts = append(mounts, mount{path, []string{"--ro-bind-try", path, path}})
	}
	for _, path := range p.Write {
		mounts = append(mounts, mount{path, []string{"--bind", path, path}})
	}
	for _, path := range p.Hidden {
		mounts = append(mounts, mount{path, []string{"--tmpfs", path}})
	}
	for _, m := range p.Mounts {
		bind := map[bool]string{false: "--ro-bind", true: "--bind"}[m.Write]
		mounts = append(mounts, mount{m.To, []string{bind, m.From, m.To}})
	}
	slices.SortStableFunc(mounts, func(a, b mount) int {
		return strings.Count(filepath.Clean(a.path), "/") - strings.Count(filepath.Clean(b.path), "/")
	})
	for _, m := range mounts {
		if info, err := os.Lstat(m.path); err == nil && info.Mode()&os.ModeSymlink != 0 {
			if to, err := os.Readlink(m.path); err == nil && !slices.Contains(p.Write, m.path) {
				args = append(args, "--symlink", to, m.path) // such as /bin
				continue
			}
		}
		args = append(args, m.args...)
	}
	return append(args, "--chdir", p.Dir, "--")
}
