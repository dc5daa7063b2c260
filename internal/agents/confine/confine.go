// Package confine builds the sandbox of an executor and takes it away again. The shim of the agent does both: before the start it
// makes the folders of the run, a private git directory and the policy, and listens for the client; after the end it puts the work
// tree back as it was.
//
// The private git directory (gitdir.go) lets the agent use git as it likes: it has an index and refs of its own, reads the objects of
// the project's repository, and gives nothing else of that repository away. While the agent works, .git of the work tree names it: the
// file is changed, or a sandbox shows another one in its place. ferrus itself never asks it, and trusts nothing that the agent has
// left there: package repository knows the git directory of each work tree from the project.
//
// The relay (relay.go) connects the agent with the server that ferrus runs for it outside. Inside, [Connect] is the program that the
// agent's client starts as its MCP server: it joins its standard streams to a socket. Outside, a [Host] listens, and for each
// connection with the token of the run it starts a server whose role, name, project and branch are fixed. That server has the
// connection itself as its standard streams. So it notices the death of the client, or of the program inside, as every server over
// stdio does, and the claim ends with it.
//
// Package conductor/plan decides whether there can be a sandbox and what it gives; package sandbox enforces it. Start reading at
// confine.go.
package confine

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/ferrus-go/ferrus/internal/platform/proc"
	"github.com/ferrus-go/ferrus/internal/platform/rootfs"
	"github.com/ferrus-go/ferrus/internal/platform/sandbox"
	"github.com/ferrus-go/ferrus/internal/worktree/repository"
)

// An Order says which sandbox an executor gets. Paths are absolute and have no links.
type Order struct {
	Mechanism sandbox.Mechanism
	Folder    Folder
	Project   string // the folder that has .ferrus
	Work      string // the folder that the executor works in
	Top       string // the top of the work tree, which has .git
	Private   string // the folder of ferrus's own git directory
	Read      []string
	Write     []string // beside the work tree and the folders of the run
	Hidden    []string // folders of the work tree that it does not see
	Deny      []string // that must not open, tried from inside
	Login     string   // the home folder that has the login of the client; "" for one of the machine's
	Server    []string // the command line of the MCP server outside
	ServerEnv []string
}

// A Folder is what an executor has beside its work tree. It lies in the folder of the machine.
type Folder string

// Of returns the folder of the executors of a machine.
func Of(machine string) Folder { return Folder(filepath.Join(machine, "executor")) }

// Login returns the home folder in which the client of an agent keeps its login, for all executors of a project.
func Login(root, agent string) string { return filepath.Join(root, ".ferrus", "logins", agent) }

// Home is the home folder of the executor.
func (o Order) Home() string { return cmp.Or(o.Login, o.Folder.Home()) }

// In is read-only inside: the files of a launch, and the logs of checks.
func (f Folder) In() string { return filepath.Join(string(f), in) }

// Home is the home folder. What the client keeps there stays for the next run.
func (f Folder) Home() string { return filepath.Join(string(f), home) }

// Temp is the folder for temporary files, empty at the start.
func (f Folder) Temp() string { return filepath.Join(string(f), temp) }

// Git is the private git directory.
func (f Folder) Git() string { return filepath.Join(string(f), "git") }

// Ticket is the file by which the client reaches its server.
func (f Folder) Ticket() string { return filepath.Join(f.In(), ticket) }

// Names in the folder.
const (
	in     = "in"
	home   = "home"
	temp   = "tmp"
	ticket = "relay.json"
	record = "run.json" // while the executor runs, a run

	dotGitName = "git" // the file that is shown in the place of .git
)

// A run says how to put back the work tree.
type run struct {
	Link
	Mounted    bool        `json:"mounted,omitempty"` // the work tree was not changed
	Submodules []Submodule `json:"submodules,omitempty"`
}

// Inside is a sandbox that is ready for its executor.
type Inside struct {
	Prefix []string // the command line that starts a command in it

	folder Folder
	host   *Host
}

// Enter makes the sandbox. What an earlier run has left is put back first.
func (o Order) Enter(ctx context.Context) (*Inside, error) {
	if _, err := o.Folder.Restore(); err != nil {
		return nil, err
	}
	if err := o.Folder.make(); err != nil {
		return nil, err
	}
	r, err := repository.Open(ctx, o.Work, o.Private, o.Project)
	if err != nil {
		return nil, err
	}
	private, err := MakeGitDir(ctx, r, o.Folder.Git())
	if err != nil {
		return nil, err
	}
	submodules, err := Submodules(ctx, r)
	if err != nil {
		return nil, err
	}
	policy := o.policy(private)
	if err := o.keep(&policy, submodules); err != nil {
		return nil, err
	}
	if o.mounts() {
		if policy.Mounts, err = o.over(private); err != nil {
			return nil, err
		}
	}
	self, err := proc.Executable()
	if err != nil {
		return nil, err
	}
	i := &Inside{folder: o.Folder}
	if i.Prefix, err = sandbox.Command(o.Mechanism, policy, self, nil); err != nil {
		return nil, err
	}
	if err := o.Folder.write(record, run{private.Link, o.mounts(), submodules}); errors.Is(err, rootfs.ErrUnreadable) {
		return nil, fmt.Errorf("the work tree has %d submodules, more than can be put back after a run in a sandbox: %w; set sandbox = \"none\" under [hq.executor]", len(submodules), err)
	} else if err != nil {
		return nil, err
	}
	if err := i.open(o, private.Link); err != nil {
		_, undone := i.Leave()
		return nil, errors.Join(err, undone)
	}
	return i, nil
}

// open points the work tree to the private git directory, and listens for the client.
func (i *Inside) open(o Order, link Link) (err error) {
	if !o.mounts() {
		if err := link.Enter(); err != nil {
			return err
		}
	}
	i.host, err = Listen("tcp", "127.0.0.1:0", func() *exec.Cmd {
		cmd := exec.Command(o.Server[0], o.Server[1:]...)
		cmd.Dir, cmd.Env = string(filepath.Separator), o.ServerEnv
		return cmd
	})
	if err != nil {
		return err
	}
	return o.Folder.write(in+"/"+ticket, i.host.Ticket())
}

// Close takes no further connections.
func (i *Inside) Close() {
	if i.host != nil {
		i.host.Close()
	}
}

// Leave puts the work tree back as it was. It reports whether the executor had replaced the file .git there. No process of the
// executor is left.
func (i *Inside) Leave() (replaced bool, err error) {
	i.Close()
	return i.folder.Restore()
}

// open opens the folder below .ferrus.
func (f Folder) open() (*rootfs.Root, error) { return rootfs.OpenBelow(string(f), ".ferrus", 0) }

// make makes the folders, the read-only one and that for temporary files anew.
func (f Folder) make() error {
	root, err := rootfs.OpenBelow(string(f), ".ferrus", 0o700)
	if err != nil {
		return err
	}
	defer root.Close()
	for _, name := range []string{in, temp} {
		if err := root.RemoveTree(name); err != nil {
			return err
		}
	}
	for _, name := range []string{in, home, temp} {
		if err := root.MkdirAll(name, 0o700); err != nil {
			return err
		}
	}
	return os.Chmod(f.Home(), 0o700) // an earlier executor may have taken the rights away
}

// Drop puts the work tree back as it was, and removes the folder with all that executors have kept there. No executor may run.
func (f Folder) Drop() error {
	if _, err := f.Restore(); err != nil {
		return err
	}
	dir, name := filepath.Split(string(f))
	root, err := rootfs.OpenBelow(dir, ".ferrus", 0)
	if err != nil {
		return err
	}
	defer root.Close()
	return root.RemoveTree(name)
}

// write writes a file of the folder as JSON, at most maxRecord bytes.
func (f Folder) write(name string, v any) error {
	root, err := f.open()
	if err != nil {
		return err
	}
	defer root.Close()
	text, err := json.Marshal(v)
	if err == nil {
		err = rootfs.Fits(name, text, maxRecord-1)
	}
	if err != nil {
		return err
	}
	return root.WriteFile(name, append(text, '\n'), 0o600)
}

// Entered reports whether an executor runs in the sandbox, or has left it without putting the work tree back.
func (f Folder) Entered() bool { return rootfs.Exists(filepath.Join(string(f), record)) }

// Used reports whether an executor has worked in a sandbox of the machine.
func (f Folder) Used() bool { return rootfs.Exists(string(f)) }

// maxRecord bounds the record, in bytes. A submodule takes about a hundred of them.
const maxRecord = 16 << 20

// Restore puts back what a run has changed in the work tree, if that was not done yet: after the end of the executor, or of a shim
// that was killed. It reports whether the executor had replaced the file .git there. No executor may run.
func (f Folder) Restore() (replaced bool, err error) {
	root, err := f.open()
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer root.Close()
	text, err := root.ReadFile(record, maxRecord)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	var was run
	if err == nil {
		err = json.Unmarshal(text, &was)
	}
	if err == nil && (!strings.HasPrefix(was.Work, string(filepath.Separator)) || was.Guest != f.Git()) {
		err = errors.New("it names another folder")
	}
	if err != nil {
		return false, fmt.Errorf("read how the work tree was before the run: %w", err)
	}
	if !was.Mounted {
		if replaced, err = was.Leave(); err != nil {
			return replaced, fmt.Errorf("put back the file .git of the work tree: %w", err)
		}
	}
	for _, n := range was.Submodules {
		if err := n.PutBack(was.Work); err != nil {
			return replaced, fmt.Errorf("put back .git of a submodule: %w", err)
		}
	}
	_ = root.Remove(in + "/" + ticket)
	return replaced, root.Remove(record)
}
