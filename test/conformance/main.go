//go:build conformance

// Command conformance makes a server reachable for the MCP conformance suite. run.sh starts it and
// describes its use.
//
// The suite cannot send a token. A proxy on the loopback interface adds one and changes nothing
// else: the headers Host and Origin stay as the suite sends them. Behind the proxy is one of two
// servers. The first is the site of package web with the fixtures that the suite expects, those of
// the SDK's own conformance server, which run.sh provides. The second is ferrusd itself, started in
// a project.
package main

import (
	"bufio"
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"syscall"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ferrus-go/ferrus/internal/server/tokens"
	"github.com/ferrus-go/ferrus/internal/server/web"
	"github.com/ferrus-go/ferrus/internal/state"
)

func serve() error {
	ferrusd := flag.String("ferrusd", "", "`PATH` of the server to start; the fixtures when empty")
	root := flag.String("root", "", "`DIR` of its project, or of an empty folder for the fixtures")
	say := flag.String("url-file", "", "`FILE` to write the URL for the suite to")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()

	book := tokens.Open(*root)
	if *ferrusd != "" {
		book = tokens.Open(filepath.Join(*root, ".ferrus"))
	}
	secret, _, err := book.New(state.Supervisor, fmt.Sprint("conformance-", os.Getpid()), time.Time{})
	if err != nil {
		return err
	}
	front, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	_, port, err := net.SplitHostPort(front.Addr().String())
	if err != nil {
		return err
	}
	// The suite calls itself a page of the server that it talks to, which is the proxy.
	origins := []string{"http://localhost:" + port, "http://127.0.0.1:" + port}

	begin := fixtures
	if *ferrusd != "" {
		begin = func(ctx context.Context, book *tokens.Book, origins []string) (string, error) {
			return shipping(ctx, *ferrusd, *root, origins)
		}
	}
	addr, err := begin(ctx, book, origins)
	if err != nil {
		return err
	}
	proxy := &httputil.ReverseProxy{
		FlushInterval: -1,
		ErrorLog:      log.New(io.Discard, "", 0), // a client that leaves
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(&url.URL{Scheme: "http", Host: addr})
			r.Out.Host = r.In.Host
			r.Out.Header.Set("Authorization", "Bearer "+secret)
		},
	}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// All of it, first: an answer that comes while the proxy still reads the request closes the request's body, and
		// with that the proxy breaks off the answer.
		text, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(text))
		proxy.ServeHTTP(w, r)
	})}
	go func() { <-ctx.Done(); _ = server.Close() }()
	if err := os.WriteFile(*say, []byte("http://localhost:"+port+"/mcp"), 0o600); err != nil {
		return err
	}
	if err := server.Serve(front); err != http.ErrServerClosed {
		return err
	}
	return nil
}

// fixtures serves them as ferrusd serves its tools.
func fixtures(ctx context.Context, book *tokens.Book, origins []string) (addr string, err error) {
	s := mcp.NewServer(&mcp.Implementation{Name: "fixtures", Version: "1"}, &mcp.ServerOptions{CompletionHandler: completionHandler,
		SubscribeHandler: subscribeHandler, UnsubscribeHandler: unsubscribeHandler})
	registerTools(s)
	registerResources(s)
	registerPrompts(s)
	go watchedResourceUpdater(ctx, s)
	l, err := web.Listen(ctx, "127.0.0.1:0", false)
	if err != nil {
		return "", err
	}
	site := web.New(web.Options{Servers: map[state.Role]*mcp.Server{state.Supervisor: s}, Tokens: book, Origins: origins,
		Log: slog.New(slog.NewTextHandler(os.Stderr, nil))})
	go func() {
		if err := site.Serve(ctx, l, nil); err != nil {
			log.Print(err)
		}
	}()
	return l.Addr().String(), nil
}

var listening = regexp.MustCompile(`msg=listening address=(\S+)`)

// shipping starts ferrusd, which ends with ctx.
func shipping(ctx context.Context, program, root string, origins []string) (addr string, err error) {
	args := []string{"--root", root, "--http", "127.0.0.1:0", "--wait", "1"}
	for _, o := range origins {
		args = append(args, "--allow-origin", o)
	}
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	out, err := cmd.StderrPipe()
	if err != nil {
		return "", err
	}
	if err := cmd.Start(); err != nil {
		return "", err
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		fmt.Fprintln(os.Stderr, lines.Text())
		if m := listening.FindStringSubmatch(lines.Text()); m != nil {
			go io.Copy(os.Stderr, out)
			return m[1], nil
		}
	}
	return "", fmt.Errorf("%s does not listen: %v", program, cmd.Wait())
}

func main() {
	if err := serve(); err != nil {
		log.Fatal(err)
	}
}
