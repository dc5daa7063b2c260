//go:build unix

package server

import (
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/project/agreement"
	"github.com/ferrus-go/ferrus/internal/server/tokens"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/tools"
)

// brief is how long a call of the matrix waits at most.
const brief = 20 * time.Millisecond

// A part is a client: over stdio it has a server of its own, over HTTP it comes with a token. Three executors share one:
// they are three nevertheless.
type part struct {
	role  state.Role
	token string // "" for none
	index int
}

var parts = map[string]part{
	"supervisor": {state.Supervisor, "boss", 1},
	"holder":     {state.Executor, "crew", 1}, // holds the work, or held it last
	"other":      {state.Executor, "crew", 2}, // never held any
	"lost":       {state.Executor, "crew", 3}, // a person took the work away from it
	"elsewhere":  {state.Executor, "crew", 4}, // the holder, on another connection
	"thief":      {state.Executor, "thief", 5},
	"none":       {tools.None, "", 6},
}

// A cast is a project with everybody in it, over one transport. Who is not needed does not connect.
type cast struct {
	t         *testing.T
	transport string
	dir       string
	pipe      string // while it exists a check waits until it is written to
	look      *engine.Engine
	person    *engine.Session
	office    *office // nil over stdio
	clients   map[string]*mcp.ClientSession
	claims    map[string]claimed // by part
	end       context.CancelFunc
	ctx       context.Context
	ended     sync.WaitGroup
}

type claimed struct {
	claim string
	epoch uint64
}

// badges are the tokens of the parts: made once, and laid into each project.
var badges = sync.OnceValues(func() (map[string]string, error) {
	dir := filepath.Join(scratch, "badges")
	secrets, book := map[string]string{}, tokens.Open(dir)
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, err
	}
	for _, p := range parts {
		if p.token == "" || secrets[p.token] != "" {
			continue
		}
		secret, _, err := book.New(p.role, p.token, time.Time{})
		if err != nil {
			return nil, err
		}
		secrets[p.token] = secret
	}
	return secrets, nil
})

func newCast(t *testing.T, transport string) *cast {
	t.Helper()
	dir := newProject(t, "")
	c := &cast{t: t, transport: transport, dir: dir, pipe: filepath.Join(filepath.Dir(dir), "pipe"),
		clients: map[string]*mcp.ClientSession{}, claims: map[string]claimed{}}
	write(t, filepath.Join(dir, "ferrus.toml"), `[checks]
commands = ["test ! -e red && { test ! -p `+c.pipe+` || cat `+c.pipe+`; }"]
[limits]
max_check_retries = 2
max_delegates = 2
`)
	if err := agreement.Agree(dir); err != nil {
		t.Fatal(err)
	}
	var err error
	if c.look, err = engine.Open(project.At(dir, ""), engine.Options{}); err != nil {
		t.Fatal(err)
	}
	c.person = c.look.Session(engine.Caller{Role: state.Human, Agent: "human", TTY: true})
	c.ctx, c.end = context.WithCancel(context.Background())
	t.Cleanup(c.close)
	if transport != "stdio" {
		c.office = c.open()
	}
	return c
}

// open lets clients in over HTTP: all of ferrusd but the process.
func (c *cast) open() *office {
	c.t.Helper()
	secrets, err := badges()
	if err != nil {
		c.t.Fatal(err)
	}
	book, err := os.ReadFile(filepath.Join(scratch, "badges", "tokens.json"))
	if err != nil {
		c.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(c.dir, ".ferrus", "tokens.json"), book, 0o600); err != nil {
		c.t.Fatal(err)
	}
	o := &office{dir: c.dir, secret: map[state.Role]string{state.Supervisor: secrets["boss"], state.Executor: secrets["crew"]},
		client: &http.Client{Transport: &http.Transport{}}}
	said, gone := &buffer{}, make(chan int, 1)
	go func() {
		gone <- serveHTTP(c.ctx, Config{Root: c.dir, Wait: brief, HTTP: HTTP{Address: "127.0.0.1:0"}}, "ferrusd", said, nil)
	}()
	every := time.NewTicker(100 * time.Microsecond)
	defer every.Stop()
	for o.addr == "" {
		select {
		case <-every.C:
			if m := listening.FindStringSubmatch(said.String()); m != nil {
				o.addr, o.scheme = m[1], m[2]
			}
		case code := <-gone:
			c.t.Fatalf("the server has ended: %d, stderr %s", code, said)
		}
	}
	c.ended.Go(func() { <-gone })
	return o
}

// close ends servers and clients.
func (c *cast) close() {
	c.end()
	for _, client := range c.clients {
		_ = client.Close() // its server has gone
	}
	c.ended.Wait()
	c.look.Close()
}

// client connects a part, once.
func (c *cast) client(name string) *mcp.ClientSession {
	c.t.Helper()
	if c.clients[name] == nil {
		p := parts[name]
		if c.office == nil {
			c.clients[name] = c.spawn(p)
		} else {
			secrets, _ := badges()
			v, err := c.office.dial(c.t, c.transport, secrets[p.token], nil)
			if err != nil {
				c.t.Fatalf("%s: %v", name, err)
			}
			c.clients[name] = v.ClientSession
		}
	}
	return c.clients[name]
}

// spawn starts a server of the part's own on a pair of streams.
func (c *cast) spawn(p part) *mcp.ClientSession {
	c.t.Helper()
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	c.ended.Go(func() {
		defer out.Close()
		_ = Serve(c.ctx, Config{Role: p.role, Agent: "test", Index: p.index, Root: c.dir, Wait: brief}, in, out, &buffer{})
		in.Close()
	})
	client, err := mcp.NewClient(&mcp.Implementation{Name: "t", Version: "1"}, nil).Connect(c.ctx,
		&mcp.IOTransport{Reader: fromServer, Writer: toServer}, nil)
	if err != nil {
		c.t.Fatal(err)
	}
	return client
}
