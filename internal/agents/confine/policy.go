package confine

import (
	"fmt"
	"path/filepath"
	"slices"

	"github.com/ferrus-go/ferrus/internal/platform/rootfs"
	"github.com/ferrus-go/ferrus/internal/platform/sandbox"
	"github.com/ferrus-go/ferrus/internal/worktree/git"
)

// policy is what the executor reaches.
func (o Order) policy(private GitDir) sandbox.Policy {
	p := sandbox.System()
	p.Dir, p.Network, p.Deny, p.Hidden = o.Work, true, o.Deny, o.Hidden
	p.Read = append(p.Read, o.Read...)
	p.Read = append(append(p.Read, private.Objects...), o.Folder.In())
	p.Write = append([]string{o.Top, o.Home(), o.Folder.Temp(), o.Folder.Git()}, o.Write...)
	return p
}

// mounts reports whether .git of the work tree stays as it is, because the sandbox shows another one in its place.
func (o Order) mounts() bool { return o.Mechanism == sandbox.Bwrap }

// over is what the sandbox shows in the place of .git.
func (o Order) over(private GitDir) ([]sandbox.Mount, error) {
	dotGit := filepath.Join(private.Link.Work, ".git")
	if private.Covers != "" {
		return []sandbox.Mount{{From: o.Folder.Git(), To: dotGit, Write: true}, {From: private.Covers, To: filepath.Join(dotGit, Borrowed)}}, nil
	}
	root, err := o.Folder.open()
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return []sandbox.Mount{{From: root.Join(in + "/" + dotGitName), To: dotGit}}, root.WriteFile(in+"/"+dotGitName, []byte(private.Link.Line()), 0o600)
}

// keep keeps what lies in the work tree and is not the executor's where it is: .git of each submodule, and what it does not see there.
func (o Order) keep(p *sandbox.Policy, submodules []Submodule) error {
	if !o.mounts() { // its .git is put back after the run; a folder could not be
		i := slices.IndexFunc(submodules, func(n Submodule) bool { return n.Folder })
		if i < 0 {
			return nil
		}
		return fmt.Errorf("the submodule %s has its git directory in the work tree, from which landlock cannot keep an executor; run git submodule absorbgitdirs there, or use bubblewrap",
			git.Printable(submodules[i].Path))
	}
	kept := slices.Clone(o.Hidden)
	for _, n := range submodules {
		if n.Folder || n.Text != "" {
			kept = append(kept, filepath.Join(o.Top, filepath.FromSlash(n.DotGit())))
		}
	}
	p.Read = append(p.Read, kept[len(o.Hidden):]...)
	for _, path := range kept {
		p.Write = append(p.Write, o.above(path)...)
	}
	return nil
}

// above are the folders of the work tree in which a path lies, but for its top. As mounts they cannot be moved, nor the path with them.
func (o Order) above(path string) (list []string) {
	for dir := filepath.Dir(path); dir != o.Top && rootfs.Within(o.Top, dir); dir = filepath.Dir(dir) {
		list = append(list, dir)
	}
	return list
}
