//go:build unix && !linux

package postgrestest

import "syscall"

// bound are the attributes of a server. It ends when its folder is removed: a server looks at that each minute.
func bound(as *owning) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true, Credential: as.credential()}
}

// unshare does nothing: the next server finds the shared memory of a killed one by itself.
func unshare(string) {}
