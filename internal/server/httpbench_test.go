//go:build unix

package server

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"regexp"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/test/kit"
)

// bareHTTP serves the SDK alone over HTTP, sessions or none as the client likes, and says where as ferrusd does.
func bareHTTP() int {
	get := func(*http.Request) *mcp.Server { return bare() }
	sessions, none := mcp.NewStreamableHTTPHandler(get, nil), mcp.NewStreamableHTTPHandler(get, &mcp.StreamableHTTPOptions{Stateless: true})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	fmt.Fprintf(os.Stderr, "address=%s \n", l.Addr())
	_ = http.Serve(l, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Mcp-Protocol-Version") >= "2026-07-28" {
			none.ServeHTTP(w, r)
		} else {
			sessions.ServeHTTP(w, r)
		}
	}))
	return 0
}

var addressed = regexp.MustCompile(`address=(\S+) `)

// BenchmarkHTTPCall is a call of status over HTTP with everything that stands before it, beside a call of a tool of the
// SDK's alone in the same run. The two take turns, so that whatever else the machine does hits both.
func BenchmarkHTTPCall(b *testing.B) {
	dir := newProject(b, `"true"`)
	o := opened(b, dir)
	w := start(b, "bare-http", dir)
	var address string
	for began := time.Now(); address == ""; time.Sleep(time.Millisecond) {
		if m := addressed.FindStringSubmatch(w.stderr.String()); m != nil {
			address = m[1]
		}
		if time.Since(began) > kit.Patience {
			b.Fatal("the bare server does not say where it listens")
		}
	}
	for _, era := range []string{"2025-11-25", "2026-07-28"} {
		b.Run(era, func(b *testing.B) {
			clients := map[string]*mcp.ClientSession{
				"status": dialed(b, "http://"+o.addr+"/mcp", o.secret[state.Executor], era),
				"bare":   dialed(b, "http://"+address, "", era),
			}
			took := map[string][]time.Duration{}
			for b.Loop() {
				for name, c := range clients {
					took[name] = append(took[name], called(b, c, "status", nil))
				}
			}
			quantiles(b, took)
		})
	}
}

func dialed(b *testing.B, url, secret, era string) *mcp.ClientSession {
	b.Helper()
	way := &mcp.StreamableClientTransport{Endpoint: url, MaxRetries: -1,
		HTTPClient: &http.Client{Transport: bearer{secret, http.DefaultTransport}}}
	var as *mcp.ClientSessionOptions
	if era != "2026-07-28" {
		as = &mcp.ClientSessionOptions{ProtocolVersion: era}
	}
	c, err := mcp.NewClient(&mcp.Implementation{Name: "b", Version: "1"}, nil).Connect(context.Background(), way, as)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = c.Close() })
	return c
}
