package web

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
)

// enter shows the button of a link, or lets the browser in that sends the code. A GET uses nothing up: programs that show a
// preview of a link send one.
func (g *Gate) enter(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		g.opts.Ask(w, r, r.URL.Query().Get("code"))
		return
	}
	if !g.use(r.PostFormValue("code")) {
		g.opts.Refused(w, r, UsedLink)
		return
	}
	cookie := secret()
	s := &session{ends: g.opts.Now().Add(sessionTerm), token: secret()}
	s.ctx, s.end = context.WithTimeout(context.Background(), sessionTerm)
	g.mu.Lock()
	for key, old := range g.sessions {
		if !g.opts.Now().Before(old.ends) {
			old.end()
			delete(g.sessions, key)
		}
	}
	g.sessions[sha256.Sum256([]byte(cookie))] = s
	g.mu.Unlock()
	g.cookie(w, cookie, int(sessionTerm.Seconds()))
	http.Redirect(w, r, "/", http.StatusSeeOther)
}

// use uses a code up, and reports whether it could be used.
func (g *Gate) use(code string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.code == "" || !g.opts.Now().Before(g.codeEnds) || subtle.ConstantTimeCompare([]byte(code), []byte(g.code)) != 1 {
		return false
	}
	g.code = ""
	return true
}

// session returns the session of a request, nil without one.
func (g *Gate) session(r *http.Request) *session {
	g.mu.Lock()
	defer g.mu.Unlock()
	// There may be several: another server of this machine can set one for all hosts below localhost.
	for _, c := range r.CookiesNamed(g.cookieName()) {
		if s := g.sessions[sha256.Sum256([]byte(c.Value))]; s != nil && g.opts.Now().Before(s.ends) {
			return s
		}
	}
	return nil
}

// leave ends the session of a request.
func (g *Gate) leave(w http.ResponseWriter, r *http.Request) {
	g.mu.Lock()
	for _, c := range r.CookiesNamed(g.cookieName()) {
		key := sha256.Sum256([]byte(c.Value))
		if s := g.sessions[key]; s != nil {
			s.end()
			delete(g.sessions, key)
		}
	}
	g.mu.Unlock()
	g.cookie(w, "", -1)
	http.Redirect(w, r, "/", http.StatusSeeOther)
}

// cookieName is the name of the cookie. A browser takes one with the prefix only for this very host, and only over TLS.
func (g *Gate) cookieName() string {
	if g.secure {
		return "__Host-ferrus"
	}
	return "ferrus"
}

func (g *Gate) cookie(w http.ResponseWriter, value string, age int) {
	http.SetCookie(w, &http.Cookie{Name: g.cookieName(), Value: value, Path: "/", MaxAge: age, HttpOnly: true, Secure: g.secure,
		SameSite: http.SameSiteStrictMode})
}
