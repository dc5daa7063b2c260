//go:build !linux

package postgrestest

import (
	"context"
	"errors"
	"net"
	"testing"
)

// A Network is a network namespace, which only Linux has.
type Network struct{}

var errNoNetwork = errors.New("only Linux has network namespaces")

// NewNetwork skips the test.
func NewNetwork(t testing.TB) *Network {
	t.Helper()
	t.Skip(errNoNetwork)
	return nil
}

// Do fails.
func (*Network) Do(func() error) error { return errNoNetwork }

// Dial fails.
func (*Network) Dial(context.Context, string, string) (net.Conn, error) { return nil, errNoNetwork }

// Cut does nothing.
func (*Network) Cut(testing.TB) {}

// Restore does nothing.
func (*Network) Restore(testing.TB) {}

func (*Network) enter() error { return nil }
func (*Network) port() string { return "" }
