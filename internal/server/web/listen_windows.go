package web

import (
	"errors"
	"net"
)

// ErrUnsafe is of a socket that others could replace.
var ErrUnsafe = errors.New("a socket file has no owner on Windows")

// ListenUnix refuses: the permissions of a socket file protect nothing on Windows.
func ListenUnix(string) (net.Listener, error) { return nil, ErrUnsafe }
