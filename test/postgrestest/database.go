// Package postgrestest gives tests real PostgreSQL servers: a database for each test, servers and pairs of servers that a test
// kills, freezes and promotes, and proxies that cut a connection at a byte.
//
// The servers of a test program are in one short folder of their own and listen on Unix sockets there. They end with the
// program, however it ends, and so does the folder. Where PostgreSQL is not installed, a test is skipped with a line on stderr.
// FERRUS_PG_BIN names the folder of its programs, and with FERRUS_PG=require a test fails instead.
package postgrestest

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// patience is how long a test waits for what a server does in milliseconds.
const patience = time.Minute

// The roles of each server: tests connect as the owner of their database, who is no superuser.
const (
	superuser = "postgres"
	owner     = "ferrus"
)

// program is what the tests of this program share. Its servers are made at their first use.
var program struct {
	sync.Mutex
	running  bool // in Main
	folder   *folder
	shared   map[bool]*Server // by Options.Durable
	counting int              // of folders and databases
}

// Main runs a test program, usually m.Run, and returns its exit code. Afterwards it ends the servers that the tests have shared.
// The program has none of the PG* variables of the user.
func Main(run func() int) int {
	for _, kv := range os.Environ() {
		if name, _, _ := strings.Cut(kv, "="); strings.HasPrefix(name, "PG") {
			os.Unsetenv(name)
		}
	}
	program.Lock()
	program.running = true
	program.Unlock()
	code := run()
	program.Lock()
	defer program.Unlock()
	for _, s := range program.shared {
		s.quit()
	}
	if program.folder != nil {
		program.folder.remove()
	}
	return code
}

// Database makes an empty database on the server that the tests of this program share, and returns its URL. The server does
// not sync its files: it keeps what is committed when a process dies, not when the machine does. The database is dropped at
// the end of the test.
func Database(t testing.TB) string {
	t.Helper()
	return sharedServer(t, false).Database(t)
}

// DurableDatabase is Database on a server that syncs its files, as PostgreSQL does by default.
func DurableDatabase(t testing.TB) string {
	t.Helper()
	return sharedServer(t, true).Database(t)
}

// NewDatabase is DurableDatabase for a program that is no test and that [Main] runs. It ends with the program.
func NewDatabase() (url string, err error) {
	s, err := shared(true)
	if err != nil {
		return "", err
	}
	name := nextName()
	return s.URL(name), s.exec(creating(name))
}

func sharedServer(t testing.TB, durable bool) *Server {
	t.Helper()
	need(t)
	s, err := shared(durable)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func shared(durable bool) (*Server, error) {
	program.Lock()
	defer program.Unlock()
	if s := program.shared[durable]; s != nil {
		return s, nil
	}
	s, err := makeServer(Options{Durable: durable})
	if err == nil {
		err = s.start()
	}
	if err != nil {
		return nil, err
	}
	if program.shared == nil {
		program.shared = map[bool]*Server{}
	}
	program.shared[durable] = s
	return s, nil
}

// next returns a number that was not used yet in this program. The caller has locked it.
func next() int {
	program.counting++
	return program.counting
}

// Database makes an empty database on the server and returns its URL. The database is dropped at the end of the test, if the
// server still runs.
func (s *Server) Database(t testing.TB) string {
	t.Helper()
	name := s.create(t)
	t.Cleanup(func() {
		if s.accepts() {
			s.Exec(t, "drop database "+name+" with (force)")
		}
	})
	return s.URL(name)
}

// create makes an empty database and returns its name.
func (s *Server) create(t testing.TB) string {
	t.Helper()
	name := nextName()
	s.Exec(t, creating(name))
	return name
}

// nextName is the name of a database that is not there yet.
func nextName() string {
	program.Lock()
	defer program.Unlock()
	return fmt.Sprintf("test_%d", next())
}

func creating(name string) string {
	return "create database " + name + " owner " + owner + " template template0"
}

// URL returns the URL by which the owner of a database connects to it, with the password where the server asks for one.
func (s *Server) URL(database string) string {
	user := url.User(owner)
	if s.host != s.dir {
		user = url.UserPassword(owner, password)
	}
	return located(url.URL{Scheme: "postgres", User: user, Path: "/" + database}, s.host, s.port)
}

// WithoutPassword returns a URL of this package that names a file with the password instead of it. The file is removed after the test.
func WithoutPassword(t testing.TB, text string) string {
	t.Helper()
	u, err := url.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "pgpass")
	if err := os.WriteFile(file, []byte("*:*:*:"+owner+":"+password+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	settings := u.Query()
	settings.Set("passfile", file)
	u.User, u.RawQuery = url.User(owner), settings.Encode()
	return u.String()
}

// local returns the URL by which the superuser connects, by the socket even if the server listens elsewhere.
func (s *Server) local() string {
	return located(url.URL{Scheme: "postgres", User: url.User(superuser), Path: "/postgres"}, s.dir, s.port)
}

// located returns the URL with a place, and with its other settings.
func located(u url.URL, host, port string) string {
	settings := u.Query()
	settings.Set("host", host)
	settings.Set("port", port)
	settings.Set("sslmode", "disable")
	u.RawQuery = strings.NewReplacer("%2F", "/", "%2C", ",").Replace(settings.Encode())
	return u.String()
}

// Join returns the first of some URLs of this package with the servers of all. A client connects to the one that accepts writes.
func Join(urls ...string) string {
	var all []*url.URL
	var hosts, ports []string
	for _, text := range urls {
		u, err := url.Parse(text)
		if err != nil {
			panic(err) // no URL of this package
		}
		all = append(all, u)
		hosts = append(hosts, u.Query().Get("host"))
		ports = append(ports, u.Query().Get("port"))
	}
	joined := *all[0]
	joined.RawQuery = "target_session_attrs=read-write"
	return located(joined, strings.Join(hosts, ","), strings.Join(ports, ","))
}

// Connect returns a connection to a database, which is closed at the end of the test.
func Connect(t testing.TB, url string) *pgx.Conn {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithCancel(context.Background())
		cancel() // without the farewell, for which a frozen server lets wait
		_ = conn.Close(ctx)
	})
	return conn
}

// Superuser returns a connection as superuser to the server, which is closed at the end of the test.
func (s *Server) Superuser(t testing.TB) *pgx.Conn {
	t.Helper()
	return Connect(t, s.local())
}

// Exec executes a statement on the server as superuser, on a connection of its own.
func (s *Server) Exec(t testing.TB, sql string) {
	t.Helper()
	if err := s.exec(sql); err != nil {
		t.Fatalf("%v in %s", err, sql)
	}
}

func (s *Server) exec(sql string) error {
	return s.connected(func(ctx context.Context, conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, sql)
		return err
	})
}

// until asks the server until a query says true.
func (s *Server) until(t testing.TB, query string) {
	t.Helper()
	err := s.connected(func(ctx context.Context, conn *pgx.Conn) error {
		for done := false; ; time.Sleep(2 * time.Millisecond) {
			if err := conn.QueryRow(ctx, query).Scan(&done); done || err != nil {
				return err
			}
		}
	})
	if err != nil {
		t.Fatalf("%v in %s", err, query)
	}
}

// connected does something on a connection as superuser. No deadline of a test ends it: it also cleans up.
func (s *Server) connected(do func(context.Context, *pgx.Conn) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	conn, err := pgx.Connect(ctx, s.local())
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	return do(ctx, conn)
}
