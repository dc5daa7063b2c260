package server

import (
	"context"
	"crypto/tls"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"path/filepath"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/platform/format"
	"github.com/ferrus-go/ferrus/internal/server/tokens"
	"github.com/ferrus-go/ferrus/internal/server/web"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/tools"
)

// HTTP says where a server over HTTP listens, and who may call it.
type HTTP struct {
	Address       string   // host:port, "" for none
	Unix          string   // path of a socket, "" for none
	Hosts         []string // further host names of the server
	Origins       []string // origins of browser-like clients that may call
	Cert, Key     string   // files, both or none
	AllowInsecure bool     // to listen beyond the loopback without TLS
}

func (h HTTP) on() bool { return h.Address != "" || h.Unix != "" }

// A list is a flag that may be repeated.
type list []string

func (l *list) String() string         { return strings.Join(*l, ",") }
func (l *list) Set(value string) error { *l = append(*l, value); return nil }

func (h *HTTP) flags(fs *flag.FlagSet) {
	fs.StringVar(&h.Address, "http", "", "`HOST:PORT` to serve HTTP at, instead of stdio: /mcp and /sse, for clients with a token of ferrus token new")
	fs.StringVar(&h.Unix, "unix", "", "`PATH` of a socket to serve HTTP at, instead of stdio; only its owner can connect")
	fs.Var((*list)(&h.Hosts), "allow-host", "`NAME` of a further host name of the HTTP server; may be repeated")
	fs.Var((*list)(&h.Origins), "allow-origin", "`ORIGIN` of a browser-like client, such as https://app.example, that may call; may be repeated")
	fs.StringVar(&h.Cert, "tls-cert", "", "`FILE` of the certificate, for https")
	fs.StringVar(&h.Key, "tls-key", "", "`FILE` of its key")
	fs.BoolVar(&h.AllowInsecure, "insecure-http", false, "listen beyond the loopback without TLS: anyone on the network path can read the tokens")
}

// check returns what is wrong with the flags, "" if nothing is.
func (h *HTTP) check(fs *flag.FlagSet) string {
	given := map[string]bool{}
	fs.Visit(func(f *flag.Flag) { given[f.Name] = true })
	if !given["http"] && !given["unix"] {
		for _, name := range []string{"allow-host", "allow-origin", "tls-cert", "tls-key", "insecure-http"} {
			if given[name] {
				return "--" + name + " needs --http"
			}
		}
		return ""
	}
	for _, name := range []string{"role", "agent-name", "agent-index"} {
		if given[name] {
			return "--" + name + ": over HTTP role and name are those of the client's token; leave it out, and make tokens with ferrus token new"
		}
	}
	switch {
	case !h.on():
		return "--http and --unix need somewhere to listen, such as 127.0.0.1:7433"
	case h.Address != "" && h.Unix != "":
		return "either --http or --unix; start a second server for the other"
	case (h.Cert == "") != (h.Key == ""):
		return "--tls-cert and --tls-key belong together"
	case h.Unix != "" && h.Cert != "":
		return "--tls-cert is for --http: a socket needs no TLS"
	}
	if _, _, err := net.SplitHostPort(h.Address); err != nil && h.Address != "" {
		return fmt.Sprintf("--http %q: give host and port, such as 127.0.0.1:7433", h.Address)
	}
	return ""
}

// serveHTTP serves HTTP until ctx ends, and returns the exit code. It prints the address on stderr
// as soon as it listens: the system may have chosen the port.
func serveHTTP(ctx context.Context, conf Config, prog string, stderr io.Writer, metrics Metrics) int {
	conf.Agent = "http"
	log, closeLog := openLog(conf, stderr)
	defer closeLog()
	fail := func(code int, err error) int {
		fmt.Fprintf(stderr, "%s: %v\n", prog, err)
		return code
	}
	d := &lazyEngine{conf: conf, log: log}
	defer d.close() // ends a running check
	e, err := d.engine()
	if err == nil {
		err = e.Known()
	}
	if err != nil {
		var r *refusal.RefusedError
		if errors.As(err, &r) {
			err = fmt.Errorf("%s; %s", r.Message, r.Remedy)
		}
		if r != nil && r.Code == refusal.Untrusted {
			return fail(exitForbidden, err)
		}
		return fail(exitError, err)
	}
	l, secure, err := conf.HTTP.listen(ctx)
	switch {
	case errors.Is(err, web.ErrExposed):
		return fail(exitUsage, fmt.Errorf("%w; listen at 127.0.0.1, or give --tls-cert and --tls-key, or give --insecure-http if the network is private", err))
	case errors.Is(err, web.ErrUnsafe):
		return fail(exitUsage, fmt.Errorf("%w; put it into a folder of your own that only you can write to: chmod go-w", err))
	case err != nil:
		return fail(exitError, err)
	}
	book := tokens.Open(filepath.Join(e.Place().Root, ".ferrus")).Guarded(func() error {
		e, err := d.engine()
		if err != nil {
			return err
		}
		return e.Ours()
	})
	opts := web.Options{
		Servers: d.servers(), Tokens: book,
		Hosts: conf.HTTP.names(), Origins: conf.HTTP.Origins, TLS: secure != nil, Log: log,
	}
	if metrics != nil {
		opts.Metrics = func(ctx context.Context) ([]format.Metric, error) { return metrics(ctx, e.Place().Root) }
	}
	site := web.New(opts)
	// This must be the first line: scripts wait for it.
	slog.New(slog.NewTextHandler(stderr, nil)).Info("listening", conf.HTTP.at(l.Addr())...)
	if list, err := book.List(); err == nil && len(list) == 0 {
		log.Warn("there are no tokens: every request is refused until ferrus token new creates one")
	}
	if err := site.Serve(ctx, l, secure); err != nil {
		return fail(exitError, err)
	}
	return exitOf(ctx)
}

// servers creates the server of each role that a token can have.
func (d *lazyEngine) servers() map[state.Role]*mcp.Server {
	at := &sessionCache{taken: map[sessionKey]*entry{}}
	all := map[state.Role]*mcp.Server{}
	for _, role := range []state.Role{state.Supervisor, state.Executor} {
		all[role] = tools.NewServer(tools.Options{
			Role: role, Remote: true, Wait: d.conf.Wait, Headless: d.conf.Headless, Version: Version(), Log: d.log, Engine: d.engine, Locks: d.locks, Delegates: d.delegates,
			Session: func(req *mcp.CallToolRequest) (*engine.Session, error) {
				caller, ok := web.CallerOf(req)
				if !ok {
					return nil, errors.New("the caller is unknown") // a bug of ours
				}
				e, err := d.engine()
				if err != nil {
					return nil, err
				}
				return at.session(e, caller)
			},
		})
	}
	return all
}

// listen opens the listener and reads the certificate. The TLS configuration is nil without one.
func (h HTTP) listen(ctx context.Context) (net.Listener, *tls.Config, error) {
	if h.Unix != "" {
		l, err := web.ListenUnix(h.Unix)
		return l, nil, err
	}
	var secure *tls.Config
	if h.Cert != "" {
		pair, err := tls.LoadX509KeyPair(h.Cert, h.Key)
		if err != nil {
			return nil, nil, fmt.Errorf("--tls-cert and --tls-key: %v", err)
		}
		secure = &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}
	}
	l, err := web.Listen(ctx, h.Address, h.AllowInsecure || secure != nil)
	return l, secure, err
}

// names returns the host names of the server: the allowed ones, and the one in its address.
func (h HTTP) names() []string {
	host, _, _ := net.SplitHostPort(h.Address) // check has verified it
	return append([]string{host}, h.Hosts...)
}

// at returns the address of the server as log attributes.
func (h HTTP) at(addr net.Addr) []any {
	if h.Unix != "" {
		return []any{"socket", addr.String(), "paths", "/mcp /sse"}
	}
	scheme := "http"
	if h.Cert != "" {
		scheme = "https"
	}
	return []any{"address", addr.String(), "url", scheme + "://" + addr.String() + "/mcp", "sse", scheme + "://" + addr.String() + "/sse"}
}
