//go:build !linux

package main

import "syscall"

// offline puts a process where there is no network; nil where the system does not let us.
var offline *syscall.SysProcAttr
