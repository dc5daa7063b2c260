package postgrestest

import (
	"cmp"
	"crypto/rand"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// Options are about a server.
type Options struct {
	// Durable is whether it syncs its files.
	Durable bool
	// TCP is whether it listens on a port of the loopback, with a password, and URLs lead there.
	TCP bool
	// Network is where it listens over TCP instead of the loopback of this machine.
	Network *Network
	// Bare is whether it is as initdb makes it, on port 5432: it listens on localhost, and has no role for tests.
	Bare bool
	// Settings are added to those of the configuration.
	Settings map[string]string
}

// settings are those of each server. Tests have many connections, and little data in folders that may be in memory.
var settings = map[string]string{
	"fsync": "off", listen: "", "max_connections": "200", "max_wal_size": "64MB", "shared_buffers": "32MB",
	"dynamic_shared_memory_type": "mmap", // files in the folder, which a killed server does not leave behind elsewhere
}

// password is that of the owner of the databases. Servers ask for it over TCP.
var password = rand.Text()

// A Server is a PostgreSQL with data of its own. Its methods are for one goroutine, except Database, URL, Exec and Superuser.
type Server struct {
	options    Options
	dir        string // has the socket, and the data below
	host, port string // where URLs lead
	follows    *Server
	run        *run
}

// A run is the process of a server from its start to its end.
type run struct {
	log    log
	pid    int
	frozen []int         // the processes of the server
	ended  chan struct{} // closed when all of them have
}

// NewServer starts a server for one test. It ends with the test.
func NewServer(t testing.TB, o Options) *Server {
	t.Helper()
	need(t)
	program.Lock()
	s, err := newCluster(o)
	program.Unlock()
	s.endWith(t, err)
	s.Start(t)
	return s
}

// endWith lets a server end with a test, which it fails if the server could not be made.
func (s *Server) endWith(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.quit()
		if t.Failed() && s.run != nil {
			t.Logf("the server in %s has logged:\n%s", s.dir, s.run.log.text())
		}
		os.RemoveAll(s.dir)
	})
}

// newServer makes a server without data. The caller has locked the program.
func newServer(o Options) (*Server, error) {
	if program.folder == nil {
		f, err := newFolder()
		if err != nil {
			return nil, err
		}
		program.folder = f
	}
	dir, err := program.folder.sub(next())
	s := &Server{options: o, dir: dir, host: dir, port: "5432"}
	switch {
	case o.Bare:
	case o.Network != nil:
		s.host, s.port = loopback, o.Network.port()
	case o.TCP && err == nil:
		s.host = loopback
		s.port, err = freePort()
	}
	return s, err
}

const (
	loopback = "127.0.0.1"
	listen   = "listen_addresses"
)

// newCluster makes a server with the data of initdb, which runs once and takes longer than a copy. The caller has locked the
// program.
func newCluster(o Options) (*Server, error) {
	s, err := newServer(o)
	if err != nil {
		return nil, err
	}
	made := filepath.Join(program.folder.path, "initdb")
	if _, err := os.Stat(made); err != nil {
		if err := do("initdb", "-D", made, "-U", superuser, "--auth-local=trust", "--auth-host=scram-sha-256", "--no-locale", "-E", "UTF8",
			"--no-sync", "--no-instructions"); err != nil {
			return nil, err
		}
	}
	return s, do("/bin/cp", "-R", made, s.data())
}

// do runs a program as the user of the servers.
func do(name string, args ...string) error {
	found, err := installed()
	if err != nil {
		return err
	}
	runtime.LockOSThread() // a command ends with its thread
	defer runtime.UnlockOSThread()
	if out, err := found.command(name, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %v\n%s", name, err, out)
	}
	return nil
}

func (s *Server) data() string { return filepath.Join(s.dir, "data") }

// Start starts the server again after Kill or Quit, and returns when it accepts connections.
func (s *Server) Start(t testing.TB) {
	t.Helper()
	if err := s.start(); err != nil {
		t.Fatal(err)
	}
}

func (s *Server) start() error {
	first := s.run == nil
	for tries := 5; ; tries-- {
		err := s.launch()
		if err == nil {
			break
		}
		// Another program can take a port before the server does.
		if !first || !s.options.TCP || s.options.Network != nil || tries == 0 || !strings.Contains(s.run.log.text(), "in use") {
			return err
		}
		if s.port, err = freePort(); err != nil {
			return err
		}
	}
	if !first || s.follows != nil || s.options.Bare {
		return nil
	}
	return s.exec("set synchronous_commit = local; create role " + owner + " login password '" + password + "'")
}

// launch starts the server and waits until it accepts connections.
func (s *Server) launch() error {
	found, err := installed()
	if err != nil {
		return err
	}
	cmd := found.command("postgres", s.arguments()...)
	r := &run{log: log{ready: make(chan struct{})}, ended: make(chan struct{})}
	cmd.Stderr = &r.log
	started := make(chan error)
	go func() {
		runtime.LockOSThread() // for ever: the server ends with this thread
		err := s.options.Network.enter()
		if err == nil {
			err = cmd.Start()
		}
		started <- err
		if err == nil {
			_ = cmd.Wait()
			close(r.ended)
		}
	}()
	if err := <-started; err != nil {
		return err
	}
	s.run, r.pid = r, cmd.Process.Pid
	select {
	case <-r.log.ready:
		return nil
	case <-r.ended:
		return fmt.Errorf("the server has ended:\n%s", r.log.text())
	case <-time.After(patience):
		s.quit()
		return fmt.Errorf("the server does not become ready:\n%s", r.log.text())
	}
}

// arguments is the command line of the server. Its socket has the name of its port.
func (s *Server) arguments() []string {
	args := []string{"-D", s.data(), "-k", s.dir, "-p", s.port}
	set := func(name, value string) { args = append(args, "-c", name+"="+value) }
	for name, value := range settings {
		if name != listen || !s.options.Bare { // else who administers it says where it listens
			set(name, value)
		}
	}
	if s.options.Durable {
		set("fsync", "on")
	}
	if s.host == loopback {
		set(listen, loopback)
	}
	if s.follows != nil {
		set("primary_conninfo", "host="+s.follows.dir+" port="+s.follows.port+" user="+superuser+" application_name="+standbyName)
	}
	for name, value := range s.options.Settings {
		set(name, value)
	}
	return args
}

// Restart ends the server and starts it again, with the settings that it has by then.
func (s *Server) Restart(t testing.TB) {
	t.Helper()
	s.quit()
	s.Start(t)
}

// Stop freezes all processes of the server, as on a machine that swaps or is suspended, until Cont.
func (s *Server) Stop(t testing.TB) {
	t.Helper()
	if err := s.stop(); err != nil {
		t.Fatal(err)
	}
}

func (s *Server) stop() (err error) {
	if !s.accepts() {
		return fmt.Errorf("the server in %s does not run", s.dir)
	}
	if s.run.frozen, err = freeze(s.run.pid); err != nil {
		return err
	}
	return s.remember()
}

// Cont lets the server go on after Stop.
func (s *Server) Cont(t testing.TB) {
	t.Helper()
	thaw(s.run.frozen)
	s.run.frozen = nil
	if err := s.remember(); err != nil {
		t.Fatal(err)
	}
}

// remember tells the keeper of the folder which processes are frozen.
func (s *Server) remember() error {
	program.Lock()
	defer program.Unlock()
	return program.folder.freeze(s, s.run.frozen)
}

// Kill kills all processes of the server at one moment, and returns when they are gone. A frozen server is killed as it is.
func (s *Server) Kill(t testing.TB) {
	t.Helper()
	if err := s.kill(); err != nil {
		t.Fatal(err)
	}
}

func (s *Server) kill() error {
	if s.run.frozen == nil {
		if err := s.stop(); err != nil {
			return err
		}
	}
	kill(s.run.frozen)
	<-s.run.ended
	s.run.frozen = nil
	unshare(filepath.Join(s.data(), "postmaster.pid"))
	return s.remember()
}

// quit ends the server, however it is.
func (s *Server) quit() {
	switch {
	case s.accepts():
		immediately(s.run.pid)
		<-s.run.ended
	case s.run != nil && s.run.frozen != nil:
		_ = s.kill()
	}
}

// accepts is whether the server runs and is not frozen.
func (s *Server) accepts() bool {
	if s.run == nil || s.run.frozen != nil {
		return false
	}
	select {
	case <-s.run.ended:
		return false
	default:
		return true
	}
}

// freePort returns a port of the loopback on which no program listens.
func freePort() (string, error) {
	l, err := net.Listen("tcp", net.JoinHostPort(loopback, "0"))
	if err != nil {
		return "", err
	}
	_, port, err := net.SplitHostPort(l.Addr().String())
	return port, cmp.Or(l.Close(), err)
}
