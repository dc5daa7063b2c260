package postgrestest

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"sync/atomic"
	"testing"

	"golang.org/x/sys/unix"
)

// A Network is a network namespace with a loopback and nothing else. A test can cut it.
type Network struct {
	namespace *os.File
	ports     atomic.Int32
}

// NewNetwork makes a network for one test. It skips the test where only root may do that.
func NewNetwork(t testing.TB) *Network {
	t.Helper()
	need(t)
	n := &Network{}
	made := make(chan error)
	go func() {
		runtime.LockOSThread() // for ever: no other code may run in the namespace
		err := unix.Unshare(unix.CLONE_NEWNET)
		if err == nil {
			n.namespace, err = os.Open(fmt.Sprintf("/proc/self/task/%d/ns/net", unix.Gettid()))
		}
		if err == nil {
			err = loopbackFlags(unix.IFF_UP)
		}
		made <- err
	}()
	if err := <-made; err != nil {
		t.Skipf("no network namespace can be made: %v", err)
	}
	t.Cleanup(func() { n.namespace.Close() })
	return n
}

// enter puts the thread of the caller, who has locked it for ever, into the network.
func (n *Network) enter() error {
	if n == nil {
		return nil
	}
	return unix.Setns(int(n.namespace.Fd()), unix.CLONE_NEWNET)
}

// Do calls a function on a thread in the network. What it starts and what it dials is there. The function may not end the test.
func (n *Network) Do(f func() error) error {
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // for ever: no other code may run in the namespace
		err := n.enter()
		if err == nil {
			err = f()
		}
		done <- err
	}()
	return <-done
}

// Cut takes the network down: packets are lost, and no end of a connection is told.
func (n *Network) Cut(t testing.TB) {
	t.Helper()
	if err := n.Do(func() error { return loopbackFlags(0) }); err != nil {
		t.Fatal(err)
	}
}

// Restore brings the network up again.
func (n *Network) Restore(t testing.TB) {
	t.Helper()
	if err := n.Do(func() error { return loopbackFlags(unix.IFF_UP) }); err != nil {
		t.Fatal(err)
	}
}

// port returns a port on which no other server of the network listens.
func (n *Network) port() string { return strconv.Itoa(5431 + int(n.ports.Add(1))) }

// loopbackFlags sets the flags of the loopback in the namespace of this thread.
func loopbackFlags(flags uint16) error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	lo, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	lo.SetUint16(flags)
	return unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, lo)
}
