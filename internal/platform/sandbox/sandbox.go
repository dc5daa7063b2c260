// Package sandbox starts a command that reaches only the files that its policy names. The operating system enforces it:
// Landlock and a seccomp filter, or bubblewrap with Landlock inside. The program that starts such a command is ferrus itself:
// [Command] makes a command line that runs it again, and [Stage], called first in main, restricts that process, proves from
// inside that the restriction holds, and becomes the command.
package sandbox

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/ferrus-go/ferrus/internal/platform/rootfs"
)

// A Mechanism is what enforces a policy.
type Mechanism string

// The mechanisms, the strongest first.
const (
	Bwrap    Mechanism = "bwrap"    // bubblewrap: namespaces of its own, with Landlock inside
	Landlock Mechanism = "landlock" // Landlock of the kernel, with a seccomp filter
	None     Mechanism = "none"     // nothing: the command can do what the user can
)

// Mechanisms are those that enforce something, the strongest first.
func Mechanisms() []Mechanism { return []Mechanism{Bwrap, Landlock} }

// Named returns the mechanism of that name, or all of them for another name, the strongest first.
func Named(name string) []Mechanism {
	if m := Mechanism(name); slices.Contains(Mechanisms(), m) {
		return []Mechanism{m}
	}
	return Mechanisms()
}

// LeastLandlock is the oldest version of Landlock that is worth anything here: before it a file could be truncated by its path.
const LeastLandlock = 3

// NoLandlock stands for a kernel without Landlock.
const NoLandlock = -1

// ErrSlow is the error of a probe that took too long: another one may find that the mechanism holds.
var ErrSlow = errors.New("no command ended under it")

// A Policy is what a command reaches. Paths are absolute.
type Policy struct {
	Read    []string `json:"read"`              // files and folders that it reads and executes; one that is missing is left out
	Write   []string `json:"write"`             // folders that it also writes; each must exist
	Devices []string `json:"devices,omitempty"` // devices that it opens for reading and writing; one that is missing is left out
	Hidden  []string `json:"hidden,omitempty"`  // folders below others that it does not see; only bwrap can hide
	Mounts  []Mount  `json:"mounts,omitempty"`  // what it finds at another path than its own; only bwrap can mount
	Network bool     `json:"network"`           // false: none but a loopback of its own, which only bwrap can give
	Dir     string   `json:"dir"`               // working directory
	Deny    []string `json:"deny"`              // paths that must not open, tried from inside before the command starts; a throw-away one over them may
}

// A Mount is a file or folder that lies over another path: what is there otherwise is not seen. It must exist.
type Mount struct {
	From  string `json:"from"`
	To    string `json:"to"`
	Write bool   `json:"write,omitempty"` // the command also writes it
}

// A PolicyError says why a policy cannot be enforced, or would not hold.
type PolicyError struct{ Reason string }

func (e *PolicyError) Error() string { return "the sandbox policy is refused: " + e.Reason }

func refuse(format string, args ...any) error { return &PolicyError{fmt.Sprintf(format, args...)} }

// check refuses with a *PolicyError a policy that would give away what it is to protect: a writable folder that is or contains
// one of the paths that must not open, the home folder, or the root of the file system; and what the mechanism cannot do.
func (p Policy) check(m Mechanism, home string) error {
	lists := [][]string{p.Read, p.Write, p.Devices, p.Hidden, p.Deny, {p.Dir}}
	for _, mount := range p.Mounts {
		lists = append(lists, []string{mount.From, mount.To})
	}
	for _, list := range lists {
		for _, path := range list {
			if !filepath.IsAbs(path) || filepath.Clean(path) != path {
				return refuse("%q is not a clean absolute path", path)
			}
		}
	}
	for _, w := range p.Write {
		if w == "/" || home != "" && rootfs.Within(w, home) {
			return refuse("%s may not be writable: it contains the home folder", w)
		}
		for _, d := range p.Deny {
			if rootfs.Within(w, d) && !p.covered(d) {
				return refuse("%s may not be writable: it contains %s", w, d)
			}
		}
	}
	for _, mount := range p.Mounts { // at another path nobody would notice that it can be opened
		for _, d := range append(slices.Clone(p.Deny), home) {
			if d != "" && rootfs.Within(mount.From, d) {
				return refuse("%s may not appear at %s: it contains %s", mount.From, mount.To, d)
			}
		}
	}
	switch {
	case m == Landlock && len(p.Mounts) > 0:
		return refuse("landlock cannot show %s at %s; bwrap can", p.Mounts[0].From, p.Mounts[0].To)
	case m == Landlock && len(p.Hidden) > 0:
		return refuse("landlock cannot hide %s inside a folder that is allowed; bwrap can", p.Hidden[0])
	case m == Landlock && !p.Network:
		return refuse("landlock cannot take the network away without the loopback; bwrap can")
	}
	return nil
}

// covered reports whether something else lies over a path, or over a folder that contains it.
func (p Policy) covered(path string) bool {
	return slices.ContainsFunc(p.Hidden, func(h string) bool { return rootfs.Within(h, path) }) ||
		slices.ContainsFunc(p.Mounts, func(m Mount) bool { return rootfs.Within(m.To, path) })
}

// order is the order that the stage gets.
type order struct {
	Mechanism Mechanism `json:"mechanism"`
	ABI       int       `json:"abi,omitempty"` // use no more of Landlock than this version; 0: all that the kernel has
	Policy    Policy    `json:"policy"`
	Inside    bool      `json:"inside,omitempty"` // the process is in bubblewrap
	Denied    []file    `json:"denied,omitempty"` // in bubblewrap: what the paths of Policy.Deny are outside
}

// A file is known by its device and inode, wherever it appears.
type file struct {
	Device uint64 `json:"device"`
	Inode  uint64 `json:"inode"`
}

// stageWord is the first argument of a process that is a stage.
const stageWord = "__sandbox"

// Command returns the command line that runs argv under a policy. self is this program, or one whose main calls [Stage] first. The
// error is a *PolicyError for a policy that is refused.
func Command(m Mechanism, p Policy, self string, argv []string) ([]string, error) {
	return CommandHeld(m, 0, p, self, argv)
}

// CommandHeld is [Command] for a kernel with a version of Landlock as in [Held]. It is for those who try what each version stops.
func CommandHeld(m Mechanism, landlock int, p Policy, self string, argv []string) ([]string, error) {
	return command(order{Mechanism: m, ABI: landlock, Policy: p}, self, argv)
}

func command(o order, self string, argv []string) ([]string, error) {
	if o.Mechanism == None {
		return argv, nil
	}
	home, _ := os.UserHomeDir()
	o.Policy.Deny = Resolved(o.Policy.Deny)
	if err := o.Policy.check(o.Mechanism, home); err != nil {
		return nil, err
	}
	data, err := json.Marshal(o)
	if err != nil {
		return nil, err
	}
	return append([]string{self, stageWord, base64.RawURLEncoding.EncodeToString(data), "--"}, argv...), nil
}

// Resolved adds to paths where they lead by links, and leaves "" out. The keys of many people are links into a folder of settings: inside a sandbox
// the link may be missing, and what it leads to may be there.
func Resolved(list []string) []string {
	var all []string
	for _, path := range list {
		if path == "" {
			continue
		}
		all = append(all, path)
		if to, err := filepath.EvalSymlinks(path); err == nil && to != path {
			all = append(all, to)
		}
	}
	return all
}

// Exit codes of a stage that could not start the command.
const (
	ExitRefused = 125 // the sandbox could not be built, or does not hold; nothing was started
	exitMissing = 127 // the command cannot be executed inside
)

// Stage must be the first thing that main does. In a process that [Command] describes it does not return: it becomes the command,
// or exits with 125 or 127 after a line on stderr. In every other process it returns at once.
func Stage() {
	if len(os.Args) < 5 || os.Args[1] != stageWord || os.Args[3] != "--" {
		return
	}
	var o order
	data, err := base64.RawURLEncoding.DecodeString(os.Args[2])
	if err == nil {
		err = json.Unmarshal(data, &o)
	}
	if err == nil {
		err = enter(o, os.Args[4:])
	}
	code := ExitRefused
	if errors.Is(err, errNotStarted) {
		code = exitMissing
	}
	fmt.Fprintf(os.Stderr, "ferrus: the sandbox (%s) is not entered: %v\n", o.Mechanism, err)
	os.Exit(code)
}

var errNotStarted = errors.New("the command cannot be executed inside")
