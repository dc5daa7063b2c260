// Command bare is the baseline for the benchmarks: an MCP server with the SDK and two tools. One
// tool reads. The other appends a line as safely as a journal needs: under a lock, with one sync.
// The figures of ferrus stand beside its figures.
package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"

	"github.com/gofrs/flock"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func main() {
	address := flag.String("http", "", "`HOST:PORT` to serve HTTP at, instead of stdio")
	file := flag.String("keep", "bare.log", "`FILE` to keep lines in")
	size := flag.Int("line", 1000, "`BYTES` of a line")
	flag.Parse()
	s := server(*file, *size)
	err := error(nil)
	if *address == "" {
		err = s.Run(context.Background(), &mcp.StdioTransport{})
	} else {
		err = serve(s, *address)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bare:", err)
		os.Exit(1)
	}
}

func server(file string, size int) *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "bare", Version: "1"}, nil)
	type nothing struct{}
	mcp.AddTool(s, &mcp.Tool{Name: "status", Description: "Says how it is."},
		func(context.Context, *mcp.CallToolRequest, nothing) (*mcp.CallToolResult, map[string]string, error) {
			return nil, map[string]string{"state": "Idle"}, nil
		})
	type line struct {
		Note string `json:"note"`
	}
	mcp.AddTool(s, &mcp.Tool{Name: "keep", Description: "Keeps a line."},
		func(_ context.Context, _ *mcp.CallToolRequest, in line) (*mcp.CallToolResult, map[string]string, error) {
			return nil, map[string]string{"state": "Idle"}, keep(file, in.Note, size)
		})
	return s
}

// keep appends a line of that many bytes and syncs it, while no other process does.
func keep(file, note string, size int) error {
	lock := flock.New(file + ".lock")
	if err := lock.Lock(); err != nil {
		return err
	}
	defer lock.Unlock()
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	line := append([]byte(note), bytes.Repeat([]byte{' '}, max(1, size-len(note)))...)
	line[len(line)-1] = '\n'
	if _, err := f.Write(line); err != nil {
		return err
	}
	return datasync(f)
}

// serve says where it listens as ferrusd does, and serves clients with sessions and without.
func serve(s *mcp.Server, address string) error {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "msg=listening address=%s \n", l.Addr())
	get := func(*http.Request) *mcp.Server { return s }
	sessions := mcp.NewStreamableHTTPHandler(get, nil)
	none := mcp.NewStreamableHTTPHandler(get, &mcp.StreamableHTTPOptions{Stateless: true})
	return http.Serve(l, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Mcp-Protocol-Version") >= "2026-07-28" {
			none.ServeHTTP(w, r)
		} else {
			sessions.ServeHTTP(w, r)
		}
	}))
}
