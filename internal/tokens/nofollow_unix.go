//go:build unix

package tokens

import "golang.org/x/sys/unix"

const noFollow = unix.O_NOFOLLOW
