package plan

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/ferrus-go/ferrus/internal/agents/confine"
	"github.com/ferrus-go/ferrus/internal/config"
	"github.com/ferrus-go/ferrus/internal/config/trust"
	"github.com/ferrus-go/ferrus/internal/platform/rootfs"
	"github.com/ferrus-go/ferrus/internal/platform/sandbox"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/worktree/repository"
)

// logins are where programs keep keys, logins and what they start by themselves, relative to the home folder.
var logins = []string{".ssh", ".gnupg", ".aws", ".azure", ".config", ".docker", ".kube", ".netrc", ".pgpass", ".pg_service.conf", ".postgresql", ".npmrc", ".pypirc", ".git-credentials", ".gitconfig",
	".claude", ".claude.json", ".codex", ".gemini", ".qwen", ".local/share", ".local/bin", ".bashrc", ".profile", ".zshrc"}

// secrets are those of them that no list may make readable.
var secrets = []string{".ssh", ".gnupg", ".netrc", ".pgpass", ".pg_service.conf", ".postgresql", ".git-credentials"}

// lists are the further paths of a sandbox, without links. It refuses those that would give away what it protects.
func (p protected) lists(s config.Sandbox) (read, write []string, err error) {
	for _, path := range s.Read {
		path, err := existing("read", path)
		if err != nil {
			return nil, nil, err
		}
		for _, secret := range p.unreadable() {
			if rootfs.Within(path, secret) || rootfs.Within(secret, path) {
				return nil, nil, fmt.Errorf("read = %q would give away %s", path, secret)
			}
		}
		if rootfs.Within(path, p.home) {
			return nil, nil, fmt.Errorf("read = %q would give away the home folder", path)
		}
		if p.work != "" && rootfs.Within(p.work, path) { // the executor makes links there, which the next run would follow
			return nil, nil, fmt.Errorf("read = %q lies in the work tree, which is writable: leave it out", path)
		}
		read = append(read, path)
	}
	for _, path := range s.Write {
		path, err := existing("write", path)
		if err != nil {
			return nil, nil, err
		}
		if info, err := os.Stat(path); err != nil || !info.IsDir() {
			return nil, nil, fmt.Errorf("write = %q is no folder", path)
		}
		for _, kept := range []string{p.home, p.root, "/dev"} {
			if rootfs.Within(path, kept) {
				return nil, nil, fmt.Errorf("write = %q would give away %s", path, kept)
			}
		}
		for _, kept := range p.unwritable() {
			if rootfs.Within(path, kept) || rootfs.Within(kept, path) {
				return nil, nil, fmt.Errorf("write = %q would give away %s", path, kept)
			}
		}
		write = append(write, path)
	}
	for _, folder := range write { // below it the executor makes links, which the next run would follow
		for _, path := range append(slices.Clone(read), write...) {
			if path != folder && rootfs.Within(folder, path) {
				return nil, nil, fmt.Errorf("%q lies in %q, which is writable: leave it out", path, folder)
			}
		}
	}
	return read, write, nil
}

// existing is a path of a list without links.
func existing(list, path string) (string, error) {
	if !filepath.IsAbs(path) {
		return "", fmt.Errorf("%s = %q is not an absolute path", list, path)
	}
	found, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", fmt.Errorf("%s = %q: there is no such path", list, path)
	}
	return found, nil
}

// unreadable are paths that nothing makes readable.
func (p protected) unreadable() []string {
	list := append([]string{p.ferrus, p.common}, p.own...)
	for _, name := range secrets {
		list = append(list, filepath.Join(p.home, name))
	}
	return sandbox.Resolved(list)
}

// unwritable are paths that nothing makes writable: what decides what a person's programs do is among them.
func (p protected) unwritable() []string {
	list := append([]string{p.ferrus, p.common, "/etc", "/usr", "/bin", "/sbin", "/lib", "/proc", "/sys"}, p.own...)
	for _, name := range logins {
		list = append(list, filepath.Join(p.home, name))
	}
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		if filepath.IsAbs(dir) {
			list = append(list, filepath.Clean(dir))
		}
	}
	return sandbox.Resolved(list)
}

// deny are the paths that are tried from inside before a client starts. machine is the folder of the task's machine.
func (p protected) deny(machine string) []string {
	list := append([]string{p.home, p.ferrus, filepath.Join(p.ferrus, "journal.jsonl"), filepath.Join(p.ferrus, "tokens.json"),
		machine, filepath.Join(machine, "journal.jsonl"), filepath.Join(p.common, "config")}, p.own...)
	for _, name := range secrets {
		list = append(list, filepath.Join(p.home, name))
	}
	return list
}

// within sets what an executor does not see of its work tree, or that the project must not open.
func (p protected) within(o *confine.Order) {
	if !rootfs.Within(o.Top, p.ferrus) {
		o.Deny = append(o.Deny, p.root)
		return
	}
	// The project's own work tree. Empty folders lie over its .ferrus, and a private git directory over its .git.
	o.Hidden = append([]string{p.ferrus}, p.inner...)
	o.Deny = append(o.Deny, p.inner...)
	for _, path := range []string{filepath.Join(p.root, config.FileName), filepath.Join(p.common, "modules")} {
		if info, err := os.Lstat(path); err == nil && info.Mode()&fs.ModeSymlink == 0 {
			o.Read = append(o.Read, path) // over what it writes
		}
	}
}

// others finds the folders in the work tree that are none of the executor's.
func (p *protected) others(r *repository.Repository) error {
	trees, err := r.LinkedTrees()
	if err != nil {
		return err
	}
	projects, err := trust.Below(p.work)
	if err != nil {
		return err
	}
	for _, path := range projects {
		if path = filepath.Join(path, project.DirName); path != p.ferrus {
			trees = append(trees, path)
		}
	}
	for _, path := range trees {
		if to := real(path); to == path && path != p.work && rootfs.Within(p.work, path) && !rootfs.Within(p.ferrus, path) && !rootfs.Within(path, p.root) {
			p.inner = append(p.inner, path)
		}
	}
	return nil
}
