package main

import (
	"os"
	"os/exec"
	"syscall"
)

// offline puts a process where there is no network; nil where the system does not let us.
var offline = func() *syscall.SysProcAttr {
	alone := &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNET,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: os.Getuid(), HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: os.Getgid(), HostID: os.Getgid(), Size: 1}},
	}
	probe := exec.Command("true")
	probe.SysProcAttr = alone
	if probe.Run() != nil {
		return nil
	}
	return alone
}()
