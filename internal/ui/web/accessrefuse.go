package web

import (
	"net/http"
	"strings"
)

// A Refusal says why a request was refused, and what to do.
type Refusal struct {
	Status  int
	Message string
	Remedy  string
}

// All refusals.
var (
	WrongHost = Refusal{http.StatusMisdirectedRequest, "the request names another host",
		"open the link that ferrus web has printed"}
	WrongMethod = Refusal{http.StatusMethodNotAllowed, "the page answers GET and POST", ""}
	OtherSite   = Refusal{http.StatusForbidden, "a page of another site sent the request",
		"open the page from its own address"}
	WrongOrigin = Refusal{http.StatusForbidden, "the form was not sent by a page of this address",
		"load the page again, and send the form from there"}
	WrongType = Refusal{http.StatusUnsupportedMediaType, "the request is not a form", ""}
	OldForm   = Refusal{http.StatusForbidden, "the form belongs to another session or project",
		"load the page again, and send the form from there"}
	UsedLink = Refusal{http.StatusGone, "the link was used, replaced, or is older than a minute",
		"press Enter where ferrus web runs: it prints another link"}
	NoSession = Refusal{http.StatusUnauthorized, "this browser is not logged in, or its session has ended",
		"press Enter where ferrus web runs, and open the link that it prints"}
)

// refuse returns why a request is refused from any sender.
func (g *Gate) refuse(r *http.Request) (Refusal, bool) {
	if !strings.EqualFold(r.Host, g.host) {
		return WrongHost, true
	}
	switch r.Method {
	case http.MethodGet, http.MethodHead:
		return OtherSite, !g.mayRead(r)
	case http.MethodPost:
	default:
		return WrongMethod, true
	}
	if origins := r.Header.Values("Origin"); len(origins) != 1 || origins[0] != g.opts.Origin {
		return WrongOrigin, true
	}
	if sites := r.Header.Values("Sec-Fetch-Site"); len(sites) != 1 || sites[0] != "same-origin" {
		return OtherSite, true
	}
	kind, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";")
	return WrongType, kind != "application/x-www-form-urlencoded"
}

// mayRead reports whether a page may have made the browser send a request that changes nothing. A link on another page may
// be followed: the browser sends no cookie with it.
func (g *Gate) mayRead(r *http.Request) bool {
	for _, origin := range r.Header.Values("Origin") {
		if origin != g.opts.Origin {
			return false
		}
	}
	for _, site := range r.Header.Values("Sec-Fetch-Site") {
		switch site {
		case "same-origin", "none":
		default:
			if r.Header.Get("Sec-Fetch-Mode") != "navigate" || r.Header.Get("Sec-Fetch-Dest") != "document" {
				return false
			}
		}
	}
	return true
}
