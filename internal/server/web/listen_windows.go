package web

import (
	"errors"
	"net"
)

// ErrUnsafe means that other users could replace the socket.
var ErrUnsafe = errors.New("a socket file has no owner on Windows")

// ListenUnix refuses: the permissions of a socket file protect nothing on Windows.
func ListenUnix(string) (net.Listener, error) { return nil, ErrUnsafe }
