package web

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
)

// ErrExposed means that other machines could reach the listener.
var ErrExposed = errors.New("other machines could reach it")

// Listen listens at a TCP host and port. Unless exposed is allowed, every address of the host must
// belong to the loopback; otherwise the error is ErrExposed.
func Listen(ctx context.Context, address string, exposed bool) (net.Listener, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	if exposed {
		return new(net.ListenConfig).Listen(ctx, "tcp", address)
	}
	if host == "" {
		return nil, fmt.Errorf("%q is every address of this machine: %w", address, ErrExposed)
	}
	found, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return nil, err
	}
	for _, addr := range found {
		if !addr.Unmap().IsLoopback() {
			return nil, fmt.Errorf("%s is %s: %w", address, addr.Unmap(), ErrExposed)
		}
	}
	// It listens at the verified addresses, not at the name: the name could resolve differently the
	// next time.
	for _, addr := range found {
		var l net.Listener
		if l, err = new(net.ListenConfig).Listen(ctx, "tcp", net.JoinHostPort(addr.Unmap().String(), port)); err == nil {
			return l, nil
		}
	}
	return nil, err
}

// A bounded listener has a limited number of open connections and closes further ones.
type bounded struct {
	net.Listener
	most int

	mu   sync.Mutex
	open int
}

func (b *bounded) Accept() (net.Conn, error) {
	for {
		c, err := b.Listener.Accept()
		if err != nil {
			return nil, err
		}
		b.mu.Lock()
		free := b.open < b.most
		if free {
			b.open++
		}
		b.mu.Unlock()
		if free {
			return &counted{Conn: c, leave: sync.OnceFunc(func() {
				b.mu.Lock()
				b.open--
				b.mu.Unlock()
			})}, nil
		}
		_ = c.Close() // it is not handed to anyone
	}
}

type counted struct {
	net.Conn
	leave func()
}

func (c *counted) Close() error {
	c.leave()
	return c.Conn.Close()
}
