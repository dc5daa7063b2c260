package web

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// A guard refuses requests that a web page made a browser send. A page of evil.example can let its
// own name resolve to 127.0.0.1 and call ferrus as its own server: the Host shows that. Or it sends
// a request to our address that needs no permission: the Origin or Sec-Fetch-Site shows that. GET
// is no exception: it opens SSE sessions.
type guard struct {
	hosts   []string
	origins []string
	tls     bool
}

// refuse returns why a request is refused, "" when it is accepted.
func (g guard) refuse(r *http.Request) string {
	here, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if !g.host(r.Host, here) {
		return "host " + quote(r.Host) + " is not one of this server's; a person may add it with --allow-host"
	}
	origins := r.Header.Values("Origin")
	if len(origins) > 1 {
		return "more than one Origin"
	}
	if len(origins) == 1 {
		if slices.ContainsFunc(g.origins, func(o string) bool { return strings.EqualFold(o, origins[0]) }) {
			return "" // a person trusts it, from wherever it calls
		}
		if !g.own(origins[0], here) {
			return "origin " + quote(origins[0]) + " may not call; a person may add it with --allow-origin"
		}
	}
	for _, site := range r.Header.Values("Sec-Fetch-Site") {
		if site != "same-origin" && site != "none" {
			return "a page of another site may not call"
		}
	}
	return ""
}

// host reports whether a Host header names this server: by a name of the loopback, by the address
// of the connection, which no page can use as its own name, or by an allowed name. The port does
// not matter: it may have been forwarded.
func (g guard) host(host string, here net.Addr) bool {
	name := hostname(host)
	if name == "" {
		return false
	}
	if loopback(name) || slices.ContainsFunc(g.hosts, func(h string) bool { return hostname(h) == name }) {
		return true
	}
	addr, err := netip.ParseAddr(name)
	tcp, ok := here.(*net.TCPAddr)
	return err == nil && ok && addr.Unmap() == tcp.AddrPort().Addr().Unmap().WithZone("")
}

// own reports whether an Origin is a page that this server itself could have served over the
// loopback. "null" is the origin of sandboxed frames and local files, so it can be anyone.
func (g guard) own(origin string, here net.Addr) bool {
	u, err := url.Parse(origin)
	tcp, ok := here.(*net.TCPAddr)
	if err != nil || !ok || u.Scheme+"://"+u.Host != origin {
		return false
	}
	scheme, port := "http", "80"
	if g.tls {
		scheme, port = "https", "443"
	}
	if p := u.Port(); p != "" {
		port = p
	}
	_, ours, err := net.SplitHostPort(tcp.String())
	return err == nil && u.Scheme == scheme && port == ours && loopback(hostname(u.Host))
}

// loopback reports whether a name is only for this machine.
func loopback(name string) bool {
	if name == "localhost" {
		return true
	}
	addr, err := netip.ParseAddr(name)
	return err == nil && addr.Unmap().IsLoopback()
}

// hostname returns a host without its port, in small letters; "" for an invalid one.
func hostname(host string) string {
	name := host
	if h, port, err := net.SplitHostPort(host); err == nil {
		name = h
		if strings.Trim(port, "0123456789") != "" {
			return ""
		}
	} else if strings.HasPrefix(host, "[") && strings.HasSuffix(host, "]") {
		name = host[1 : len(host)-1]
	}
	return strings.ToLower(strings.TrimSuffix(name, "."))
}

// quote returns a bounded text of an unknown client, safe for a terminal.
func quote(text string) string {
	clean := strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '?'
		}
		return r
	}, clip(text))
	return `"` + clean + `"`
}
