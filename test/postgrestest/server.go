package postgrestest

import (
	"bytes"
	"cmp"
	"crypto/rand"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
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

const (
	loopback = "127.0.0.1"
	listen   = "listen_addresses"
)

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
	s := newServer(t, o)
	s.Start(t)
	return s
}

// newServer makes a server for one test. It has not started.
func newServer(t testing.TB, o Options) *Server {
	t.Helper()
	need(t)
	program.Lock()
	s, err := makeServer(o)
	program.Unlock()
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
	return s
}

// makeServer makes a server that has not started. The caller has locked the program.
func makeServer(o Options) (s *Server, err error) {
	if program.folder == nil {
		if program.folder, err = newFolder(); err != nil {
			return nil, err
		}
	}
	dir, err := program.folder.sub(next())
	if err != nil {
		return nil, err
	}
	s = &Server{options: o, dir: dir, host: dir, port: "5432"}
	switch {
	case o.Bare:
	case o.Network != nil:
		s.host, s.port = loopback, o.Network.port()
	case o.TCP:
		s.host = loopback
		s.port, err = freePort()
	}
	return s, cmp.Or(err, program.folder.unpack(s.data()))
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
	if !s.accepts() {
		t.Fatalf("the server in %s does not run", s.dir)
	}
	frozen, err := freeze(s.run.pid)
	if err != nil {
		t.Fatal(err)
	}
	s.run.frozen = frozen
}

// Cont lets the server go on after Stop.
func (s *Server) Cont(testing.TB) {
	thaw(s.run.frozen)
	s.run.frozen = nil
}

// Kill kills all processes of the server at one moment, and returns when they are gone. A frozen server is killed as it is.
func (s *Server) Kill(t testing.TB) {
	t.Helper()
	if s.run == nil || s.run.frozen == nil {
		s.Stop(t)
	}
	s.kill()
}

// kill kills a server that is frozen.
func (s *Server) kill() {
	kill(s.run.frozen, filepath.Join(s.data(), "postmaster.pid"))
	<-s.run.ended
	s.run.frozen = nil
}

// quit ends the server, however it is.
func (s *Server) quit() {
	switch {
	case s.accepts():
		immediately(s.run.pid)
		<-s.run.ended
	case s.run != nil && s.run.frozen != nil:
		s.kill()
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

// A log is what a server writes.
type log struct {
	ready chan struct{} // closed when the server accepts connections

	mu      sync.Mutex
	written []byte
	said    bool // ready is closed
}

// limit is how much of a log is kept, in bytes.
const limit = 1 << 18

func (l *log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.written = append(l.written, p...)
	if !l.said && bytes.Contains(l.written, []byte("ready to accept")) {
		l.said = true
		close(l.ready)
	}
	if extra := len(l.written) - limit; extra > 0 {
		l.written = l.written[extra:]
	}
	return len(p), nil
}

func (l *log) text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return string(l.written)
}
