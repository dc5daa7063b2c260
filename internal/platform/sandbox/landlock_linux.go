package sandbox

import (
	"fmt"
	"os"

	"github.com/landlock-lsm/go-landlock/landlock"
	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
)

// LandlockVersion is the version of Landlock that the kernel has, 0 for none.
func LandlockVersion() int {
	v, err := ll.LandlockGetABIVersion()
	if err != nil {
		return 0
	}
	return v
}

// Held is the version of Landlock on a kernel that has no later one than that; 0 stands for the kernel as it is, and [NoLandlock] for one
// without Landlock.
func Held(most int) int {
	if most == 0 {
		return LandlockVersion()
	}
	return min(LandlockVersion(), max(most, 0))
}

// Rights that the versions of Landlock brought. Only what the version has is asked for, by hand: a best effort of the library
// can enforce nothing at all without an error.
var (
	since = map[int]landlock.AccessFSSet{
		1: ll.AccessFSExecute | ll.AccessFSWriteFile | ll.AccessFSReadFile | ll.AccessFSReadDir | ll.AccessFSRemoveDir | ll.AccessFSRemoveFile |
			ll.AccessFSMakeChar | ll.AccessFSMakeDir | ll.AccessFSMakeReg | ll.AccessFSMakeSock | ll.AccessFSMakeFifo | ll.AccessFSMakeBlock | ll.AccessFSMakeSym,
		2: ll.AccessFSRefer,
		3: ll.AccessFSTruncate,
		5: ll.AccessFSIoctlDev,
		9: ll.AccessFSResolveUnix,
	}
	readRights   landlock.AccessFSSet = ll.AccessFSExecute | ll.AccessFSReadFile | ll.AccessFSReadDir
	deviceRights landlock.AccessFSSet = ll.AccessFSReadFile | ll.AccessFSWriteFile | ll.AccessFSIoctlDev
	// fileRights are those that a rule about a single file can have.
	fileRights landlock.AccessFSSet = ll.AccessFSExecute | ll.AccessFSReadFile | ll.AccessFSWriteFile | ll.AccessFSTruncate | ll.AccessFSIoctlDev
	// neverRights are given to no command. A socket by path that a command has made itself needs no right.
	neverRights landlock.AccessFSSet = ll.AccessFSMakeChar | ll.AccessFSMakeBlock | ll.AccessFSResolveUnix
)

// handledRights are those that a version of Landlock restricts.
func handledRights(abi int) landlock.AccessFSSet {
	var handled landlock.AccessFSSet
	for v, rights := range since {
		if v <= abi {
			handled |= rights
		}
	}
	return handled
}

// restrictFiles restricts this process to the files of a policy, and to signals and abstract sockets of its own, with a version of
// Landlock. In bubblewrap nothing else is in sight, so that it does what the version can.
func restrictFiles(p Policy, abi int, inBwrap bool) error {
	switch {
	case inBwrap && abi < 1:
		return nil
	case !inBwrap && abi < LeastLandlock:
		return fmt.Errorf("the kernel has version %d of Landlock, and version %d is needed", abi, LeastLandlock)
	}
	handled := handledRights(abi)
	parts := []any{handled}
	if abi >= 6 {
		parts = append(parts, landlock.ScopedSet(ll.ScopeSignal|ll.ScopeAbstractUnixSocket))
	}
	conf, err := landlock.NewConfig(parts...)
	if err != nil {
		return err
	}
	var rules []landlock.Rule
	add := func(rights landlock.AccessFSSet, path string) error {
		info, err := os.Stat(path)
		if err != nil {
			return err
		}
		if !info.IsDir() {
			rights &= fileRights
		}
		rules = append(rules, landlock.PathAccess(rights&handled, path))
		return nil
	}
	for _, path := range p.Read {
		if err := add(readRights, path); err != nil && !os.IsNotExist(err) && !os.IsPermission(err) {
			return err
		}
	}
	for _, path := range p.Devices {
		if err := add(deviceRights, path); err != nil && !os.IsNotExist(err) && !os.IsPermission(err) {
			return err
		}
	}
	for _, path := range p.Write {
		if err := add(handled&^neverRights, path); err != nil {
			return err
		}
	}
	return conf.Restrict(rules...)
}
