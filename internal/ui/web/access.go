package web

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
)

// How long a link can be used, and a session lasts.
const (
	linkTerm    = time.Minute
	sessionTerm = 12 * time.Hour
)

// Paths that the gate answers itself. Files below Static are part of the program and need no session.
const (
	enterPath = "/enter"
	leavePath = "/leave"
	Static    = "/static/"
)

// maxBody bounds the body of a request: a text of a person has at most 1 MiB, and a form writes a byte with up to three.
const maxBody = 4 << 20

// GateOptions are what a gate needs.
type GateOptions struct {
	Origin string           // of the page, such as http://x.localhost:4711
	Now    func() time.Time // time.Now when nil

	// Ask shows the button that uses the code of a link. It must not use the code itself.
	Ask func(w http.ResponseWriter, r *http.Request, code string)
	// Refused shows why a request was refused.
	Refused func(w http.ResponseWriter, r *http.Request, why Refusal)
	// Bound splits the path of a request into the id of the project that it is about, "" for none, and the rest; nil where no path has
	// an id. A form is accepted only below the id that its token was made for.
	Bound func(path string) (id, rest string)
	// Site has the pages. It is called only with a session.
	Site http.Handler
	// Files has what is below Static.
	Files http.Handler
}

// A Gate lets requests of the person through to the pages, and refuses all others.
type Gate struct {
	opts   GateOptions
	host   string // of the origin, with its port
	secure bool

	mu       sync.Mutex
	code     string // of the link that can be used; "" for none
	codeEnds time.Time
	sessions map[[sha256.Size]byte]*session // by the hash of the cookie
}

// A session is one browser that was let in.
type session struct {
	ends  time.Time
	token string // of its forms
	ctx   context.Context
	end   context.CancelFunc
}

// NewGate returns the gate of a page.
func NewGate(opts GateOptions) (*Gate, error) {
	u, err := url.Parse(opts.Origin)
	if err != nil {
		return nil, err
	}
	if opts.Now == nil {
		opts.Now = time.Now
	}
	return &Gate{opts: opts, host: u.Host, secure: u.Scheme == "https", sessions: map[[sha256.Size]byte]*session{}}, nil
}

// Link returns a link with a new code, and until when it can be used. The link before can no longer be used.
func (g *Gate) Link() (link string, until time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.code, g.codeEnds = secret(), g.opts.Now().Add(linkTerm)
	return g.opts.Origin + enterPath + "?code=" + g.code, g.codeEnds
}

// secret returns 32 random bytes as text.
func secret() string {
	var b [32]byte
	_, _ = rand.Read(b[:]) // it never fails
	return hex.EncodeToString(b[:])
}

// ServeHTTP answers a request or refuses it.
func (g *Gate) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	nonce := secret()[:32]
	r = r.WithContext(context.WithValue(r.Context(), nonceKey{}, nonce))
	protect(w.Header(), nonce, g.secure)
	if why, ok := g.refuse(r); ok {
		g.opts.Refused(w, r, why)
		return
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	if strings.HasPrefix(r.URL.Path, Static) {
		g.opts.Files.ServeHTTP(w, r)
		return
	}
	if r.URL.Path == enterPath {
		g.enter(w, r)
		return
	}
	s := g.session(r)
	if s == nil {
		g.opts.Refused(w, r, NoSession)
		return
	}
	if r.Method == http.MethodPost {
		id, rest := "", r.URL.Path
		if g.opts.Bound != nil {
			id, rest = g.opts.Bound(rest)
		}
		if subtle.ConstantTimeCompare([]byte(r.PostFormValue(tokenField)), []byte(s.tokenFor(id))) != 1 {
			g.opts.Refused(w, r, OldForm)
			return
		}
		if rest == leavePath {
			g.leave(w, r)
			return
		}
	}
	ctx, cancel := context.WithCancel(context.WithValue(r.Context(), sessionKey{}, s))
	defer cancel()
	defer context.AfterFunc(s.ctx, cancel)() // a stream ends with the session
	g.opts.Site.ServeHTTP(w, r.WithContext(ctx))
}

// protect sets the headers of every answer.
func protect(h http.Header, nonce string, secure bool) {
	h.Set("Content-Security-Policy", "default-src 'none'; script-src 'nonce-"+nonce+"'; style-src 'nonce-"+nonce+"'; img-src 'self'; "+
		"connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	// Without a referrer a browser sends "Origin: null" with a form.
	h.Set("Referrer-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
	if secure {
		h.Set("Strict-Transport-Security", "max-age=31536000")
	}
}

// tokenField is the name of the field of a form that has the token.
const tokenField = "token"

type (
	nonceKey   struct{}
	sessionKey struct{}
)

// Nonce returns the nonce of the answer to a request: the scripts and style sheets of the page need it.
func Nonce(ctx context.Context) string {
	nonce, _ := ctx.Value(nonceKey{}).(string)
	return nonce
}

// Token returns the token for forms of the page that answers a request, about the project of an id, "" for none.
func Token(ctx context.Context, id string) string {
	if s, ok := ctx.Value(sessionKey{}).(*session); ok {
		return s.tokenFor(id)
	}
	return ""
}

// tokenFor is the token of forms about the project of an id, "" for none.
func (s *session) tokenFor(id string) string {
	if id == "" {
		return s.token
	}
	mac := hmac.New(sha256.New, []byte(s.token))
	_, _ = mac.Write([]byte(id)) // it never fails
	return hex.EncodeToString(mac.Sum(nil))
}
