package web

import (
	"bytes"
	"cmp"
	"embed"
	"errors"
	"fmt"
	"html/template"
	"io"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ferrus-go/ferrus/internal/platform/format"
	"github.com/ferrus-go/ferrus/internal/platform/safetext"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/status"
)

//go:embed templates
var sources embed.FS

// pages are the templates, each with the layout around it. They are read when the first page is shown, not by every command.
var pages = sync.OnceValue(func() map[string]*template.Template {
	all := map[string]*template.Template{}
	shared := template.Must(template.New("").Funcs(functions).ParseFS(sources, "templates/layout.html", "templates/parts.html", "templates/diff.html"))
	for _, name := range []string{"board", "task", "compare", "run", "history", "archived", "confirm", "failed", "ask", "all"} {
		all[name] = template.Must(template.Must(shared.Clone()).ParseFS(sources, "templates/"+name+".html"))
	}
	return all
})

var functions = template.FuncMap{
	"age":   age,
	"words": status.StateWords,
	"newest": func(list []status.Entry) []status.Entry {
		list = slices.Clone(list)
		slices.Reverse(list)
		return list
	},
	"event":    status.EventWords,
	"who":      func(actor string) string { return format.Line(status.Who(actor)) },
	"duration": format.Duration,
	"at":       func(t time.Time) string { return t.Local().Format(time.DateTime) },
	"stamp":    func(t time.Time) string { return t.UTC().Format(time.RFC3339) },
	"line":     format.Line,
	"cost":     status.Cost,
	"size":     func(n int64) string { return format.Size(n) },
	"count":    format.Count,
	"lower":    func(v any) string { return strings.ToLower(fmt.Sprint(v)) },
	"inc":      func(i int) int { return i + 1 },
	"icons":    func() map[string]string { return icons },
	"form":     func(p *page, place string, a status.Act) form { return newForm(p, place, a) },
	"command":  func(p *page, command string) string { return p.command(command) },
	"story":    func(base string, list []status.Entry) story { return story{base, list} },
	"link":     linkTo,
}

// A story is a timeline in a page whose addresses begin with Base.
type story struct {
	Base    string
	Entries []status.Entry
}

// age is how long ago something was; "" when it never was.
func age(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return format.Age(at)
}

// A page is what every page has.
type page struct {
	Title   string
	Project string // name of its folder
	Root    string
	ID      string // of the project among several, "" where it is the only one
	Base    string // what the addresses of the project begin with
	Path    string // of the page below Base, with its query, to come back to
	Token   string
	Nonce   string
	In      bool   // the browser is logged in
	Live    string // the stream of events that the page follows, "" for none
	Stale   string // how old the facts are, when they could not be read again
	ReadBy  string // the command that ends read-only, "" when acts are possible
	Why     string // why it is read-only
	Done    *result
	Started time.Time
	Version string
	Data    any
}

// page starts a page that answers a request.
func (s *Site) page(r *http.Request, title string) *page {
	p := s.bare(r, title)
	if p.In {
		if err := s.opts.Untrusted(); err != nil {
			p.Why, p.ReadBy = explain(err)
		}
	}
	return p
}

// bare is page for one that says by itself whether anything may be done in the project.
func (s *Site) bare(r *http.Request, title string) *page {
	p := &page{Title: title, Project: format.Line(cmp.Or(s.opts.Name, filepath.Base(s.opts.Root))), Root: s.opts.Root, ID: s.opts.ID, Base: s.base,
		Path: local(r), Token: Token(r.Context(), s.opts.ID), Nonce: Nonce(r.Context()), Started: s.started, Version: s.opts.Version}
	p.In = p.Token != ""
	if p.In {
		if p.Done = s.results.take(r.URL.Query().Get("done")); p.Done != nil && p.Done.Undo != nil {
			p.Done.Undo.page = p
		}
	}
	return p
}

// local is the address of a request without what only this answer is about.
func local(r *http.Request) string {
	q := r.URL.Query()
	for _, once := range []string{"done", "code", "comment"} {
		q.Del(once)
	}
	if len(q) == 0 {
		return r.URL.EscapedPath()
	}
	return r.URL.EscapedPath() + "?" + q.Encode()
}

// show writes a page. It is built before its first byte is sent: a template that fails is an error, not half a page. No template
// has to think of hidden characters: what is left of them becomes marks here.
func (s *Site) show(w http.ResponseWriter, status int, name string, p *page) error {
	var b bytes.Buffer
	if err := pages()[name].ExecuteTemplate(&b, "layout", p); err != nil {
		return err
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, err := io.WriteString(w, safetext.Marked(b.String(), func(name string) string { return "&lt;" + name + "&gt;" }))
	if err != nil {
		return nil // the browser has gone
	}
	return nil
}

// A failure is a page that says what failed, why, and what to do.
type failure struct {
	Message, Remedy string
	Said            string // by the command beside its error
	Text            string // of the person, so that it is not lost
	Back            string // the page that the form was on
}

var errNotFound = errors.New("there is no such page")

// statuses are the answers for refusals; any other is 500.
var statuses = map[refusal.Code]int{
	refusal.WrongState: http.StatusConflict, refusal.StaleReview: http.StatusConflict, refusal.TreeChanged: http.StatusConflict,
	refusal.Conflict: http.StatusConflict, refusal.InvalidInput: http.StatusUnprocessableEntity, refusal.TooLarge: http.StatusRequestEntityTooLarge,
	refusal.ForbiddenRole: http.StatusForbidden, refusal.Untrusted: http.StatusForbidden, refusal.UnknownBranch: http.StatusNotFound,
	refusal.LockBusy: http.StatusServiceUnavailable,
}

func (s *Site) fail(w http.ResponseWriter, r *http.Request, err error) { s.failWith(w, r, err, "") }

// failWith shows an error, and the text that the person wrote.
func (s *Site) failWith(w http.ResponseWriter, r *http.Request, err error, text string) {
	code := http.StatusInternalServerError
	if errors.Is(err, errNotFound) {
		code = http.StatusNotFound
	} else if r := refusal.Of(err); r != nil && statuses[r.Code] != 0 {
		code = statuses[r.Code]
	}
	f := failure{Text: text}
	f.Message, f.Remedy = explain(err)
	s.failed(w, r, code, f)
}

func (s *Site) failed(w http.ResponseWriter, r *http.Request, code int, f failure) {
	p := s.page(r, "Not done")
	f.Back = s.to(own(r.PostForm.Get("from")))
	p.Data = f
	if err := s.show(w, code, "failed", p); err != nil {
		s.opts.Log.Error("page", "path", r.URL.Path, "error", err)
		http.Error(w, f.Message, code)
	}
}

// explain is what an error says, and what to do about it.
func explain(err error) (message, remedy string) {
	if r := refusal.Of(err); r != nil {
		return r.Message, r.Remedy.String()
	}
	return err.Error(), ""
}

// refused shows why a request was not let through.
func (s *Site) refused(w http.ResponseWriter, r *http.Request, why Refusal) {
	s.failed(w, r, why.Status, failure{Message: why.Message, Remedy: why.Remedy})
}

// ask shows the button of a link.
func (s *Site) ask(w http.ResponseWriter, r *http.Request, code string) {
	p := s.page(r, "Open the page")
	p.Data = code
	if err := s.show(w, http.StatusOK, "ask", p); err != nil {
		s.fail(w, r, err)
	}
}
