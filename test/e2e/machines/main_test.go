//go:build linux

package machines

import (
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ferrus-go/ferrus/test/kit"
	"github.com/ferrus-go/ferrus/test/postgrestest"
)

// The database server, as the computers find it. No rule of a new cluster lets anybody in from this address.
const (
	host    = "db.example.com"
	address = "192.0.2.1"
)

// bin is the folder with ferrus and with the example agent.
var bin string

// apart is the variable that says whether this program is in a network of its own: "yes", or why not.
const apart = "FERRUS_TEST_APART"

// TestMain runs the tests in a network and with an /etc/hosts of their own, so that the host name and the port of the page are those of
// the test's server.
func TestMain(m *testing.M) {
	if os.Getenv(apart) == "" {
		code, err := enter()
		if err == nil {
			os.Exit(code)
		}
		os.Setenv(apart, err.Error())
	}
	os.Exit(kit.Main(func() int {
		return kit.Scratch(&bin, func() int {
			if os.Getenv(apart) == "yes" {
				if err := prepare(); err != nil {
					os.Setenv(apart, err.Error())
				}
			}
			return postgrestest.Main(m.Run)
		})
	}))
}

// enter runs this program again, with the same arguments, in namespaces of its own. The error says that it may not.
func enter() (code int, err error) {
	runtime.LockOSThread() // the program ends with this thread
	self, err := os.Executable()
	if err != nil {
		return 0, err
	}
	cmd := exec.Command(self, os.Args[1:]...)
	cmd.Env = append(os.Environ(), apart+"=yes")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWNS | unix.CLONE_NEWNET, Pdeathsig: syscall.SIGKILL}
	if uid, gid := os.Geteuid(), os.Getegid(); uid != 0 {
		cmd.SysProcAttr.Cloneflags |= unix.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: uid, HostID: uid, Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: gid, HostID: gid, Size: 1}}
		cmd.SysProcAttr.AmbientCaps = []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_NET_ADMIN}
	}
	if err := cmd.Start(); err != nil {
		return 0, fmt.Errorf("no network and mounts of its own can be made: %v", err)
	}
	_ = cmd.Wait()
	return cmd.ProcessState.ExitCode(), nil
}

// prepare gives the network its addresses, and the host name its address.
func prepare() error {
	hosts := filepath.Join(bin, "hosts")
	if err := os.WriteFile(hosts, fmt.Appendf(nil, "%s %s\n127.0.0.1 localhost\n::1 localhost\n", address, host), 0o644); err != nil {
		return err
	}
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("no mounts of its own can be made: %v", err)
	}
	if err := unix.Mount(hosts, "/etc/hosts", "", unix.MS_BIND, ""); err != nil {
		return fmt.Errorf("no /etc/hosts of its own can be mounted: %v", err)
	}
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	lo, err := unix.NewIfreq("lo")
	if err == nil {
		lo.SetUint16(unix.IFF_UP)
		err = unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, lo)
	}
	if err != nil {
		return fmt.Errorf("the network cannot be brought up: %v", err)
	}
	other, err := unix.NewIfreq("lo:0")
	if err == nil {
		if err = other.SetInet4Addr(netip.MustParseAddr(address).AsSlice()); err == nil {
			err = unix.IoctlIfreq(fd, unix.SIOCSIFADDR, other)
		}
	}
	if err != nil {
		return fmt.Errorf("the network has no second address: %v", err)
	}
	return nil
}

// need makes the programs. It skips the test where the system allows no network of its own, or openssl is missing. With FERRUS_PG=require
// only the first is a reason.
func need(t *testing.T) {
	t.Helper()
	skip := func(why string) {
		fmt.Fprintf(os.Stderr, "SKIPPED: the test of docs/machines.md: %s\n", why)
		t.Skip(why)
	}
	if why := os.Getenv(apart); why != "yes" {
		skip(why)
	}
	if _, err := exec.LookPath("openssl"); err != nil && os.Getenv("FERRUS_PG") == "require" {
		t.Fatalf("FERRUS_PG=require: %v", err)
	} else if err != nil {
		skip(err.Error())
	}
	postgrestest.Programs(t)
	build := exec.Command("go", "build", "-ldflags=-w", "-o", bin, "../../../cmd/ferrus", "../../../docs/examples/scripted")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, strings.TrimSpace(string(out)))
	}
}
