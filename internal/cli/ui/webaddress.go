package ui

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"encoding/base32"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strings"

	"github.com/ferrus-go/ferrus/internal/cli"
	serverweb "github.com/ferrus-go/ferrus/internal/server/web"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
)

// An address is where the page listens, and how browsers reach it.
type address struct{ http, url, cert, key string }

// check refuses flags that do not go together, or that would send the cookie or a text without TLS over a network.
func (at address) check() error {
	usage := func(remedy refusal.Own, text string, args ...any) error { return cli.UsageError(remedy, text, args...) }
	if (at.cert == "") != (at.key == "") {
		return usage("give both, or none", "--tls-cert and --tls-key belong together")
	}
	host, _, err := net.SplitHostPort(at.http)
	if err != nil {
		return usage("give host and port, such as 127.0.0.1:7433", "--http %q is no address", at.http)
	}
	if at.url != "" {
		u, err := url.Parse(at.url)
		if err != nil || u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" || strings.Trim(u.Path, "/") != "" {
			return usage("give scheme and host, such as https://desk.example", "--url %q is no https address", at.url)
		}
	}
	if at.cert != "" && at.url == "" {
		if addr, err := netip.ParseAddr(host); host == "" || err == nil && addr.IsUnspecified() {
			return usage("give --url https://NAME:PORT", "the page has no name: --http %s is every address of this machine", at.http)
		}
	}
	return nil
}

// listen opens the listeners, and returns the TLS configuration, nil for none, and the origin of the page.
func (at address) listen(ctx context.Context) ([]net.Listener, *tls.Config, string, error) {
	if err := at.check(); err != nil {
		return nil, nil, "", err
	}
	var secure *tls.Config
	if at.cert != "" {
		pair, err := tls.LoadX509KeyPair(at.cert, at.key)
		if err != nil {
			return nil, nil, "", cli.UsageError("give a certificate and its key in PEM", "--tls-cert and --tls-key: %v", err)
		}
		secure = &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}
	}
	l, err := serverweb.Listen(ctx, at.http, secure != nil)
	if errors.Is(err, serverweb.ErrExposed) {
		return nil, nil, "", cli.UsageError("give --tls-cert and --tls-key, or listen on the loopback behind a proxy with TLS and name it with --url", "%v", err)
	}
	if err != nil {
		return nil, nil, "", err
	}
	listeners := []net.Listener{l}
	host, _, _ := net.SplitHostPort(at.http) // check has verified it
	port := fmt.Sprint(l.Addr().(*net.TCPAddr).Port)
	switch {
	case at.url != "":
		u, _ := url.Parse(at.url) // likewise
		return listeners, secure, u.Scheme + "://" + strings.ToLower(strings.TrimSuffix(u.Host, ":443")), nil
	case secure != nil:
		name := net.JoinHostPort(host, port)
		return listeners, secure, "https://" + strings.ToLower(strings.TrimSuffix(name, ":443")), nil
	}
	other, err := otherLoopback(ctx, l)
	if err != nil {
		l.Close()
		return nil, nil, "", err
	}
	if other != nil {
		listeners = append(listeners, other)
	}
	return listeners, nil, "http://" + ownName() + ":" + port, nil
}

// otherLoopback listens at the same port of the other loopback address. A browser may try either for a name below localhost:
// another user's program there would receive the cookie. It returns nil where there is no such address.
func otherLoopback(ctx context.Context, l net.Listener) (net.Listener, error) {
	tcp := l.Addr().(*net.TCPAddr)
	host := "::1"
	if tcp.IP.To4() == nil {
		host = "127.0.0.1"
	}
	address := net.JoinHostPort(host, fmt.Sprint(tcp.Port))
	other, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err == nil {
		return other, nil
	}
	probe, none := new(net.ListenConfig).Listen(ctx, "tcp", net.JoinHostPort(host, "0"))
	if none != nil {
		return nil, nil // the machine has no such address
	}
	probe.Close()
	return nil, fmt.Errorf("another program listens at %s, and would receive what a browser sends to the page: %v", address, err)
}

// ownName is a host name that no other server of this machine has: cookies ignore ports.
func ownName() string {
	var b [10]byte
	_, _ = rand.Read(b[:]) // it never fails
	return "ferrus-" + strings.ToLower(base32.StdEncoding.EncodeToString(b[:])) + ".localhost"
}
