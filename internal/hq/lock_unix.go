//go:build unix

package hq

import "golang.org/x/sys/unix"

const noFollow = unix.O_NOFOLLOW
