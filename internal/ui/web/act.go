package web

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/platform/safetext"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/status"
	"github.com/ferrus-go/ferrus/internal/status/review"
)

// A form is an act as a form of a page.
type form struct {
	*page
	Place string // that the act is about: see acts
	Act   status.Act
	Args  string // as JSON: by them, and by the task, the act is found again
	Given map[string]string
	ID    string // of the form in its page
	Own   bool   // its options stand elsewhere: it takes the person's own words
}

func newForm(p *page, place string, a status.Act) form {
	args, _ := json.Marshal(a.Args) // strings are always written
	f := form{page: p, Place: place, Act: a, Args: string(args), Given: map[string]string{}}
	for _, field := range a.Fields {
		f.Given[field.Name] = field.Value
	}
	f.ID = "act-" + strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' {
			return r
		}
		return '-'
	}, p.of()+place+"-"+a.Name)
	return f
}

// of is the id of the project of a page, "" where it is the only one.
func (p *page) of() string {
	if p == nil {
		return ""
	}
	return p.ID
}

// With sets what a field has before the person writes.
func (f form) With(name, value string) form { f.Given[name] = value; return f }

// InOwnWords is the form without the options of its fields.
func (f form) InOwnWords() form { f.Own = true; return f }

// keys are the keys that press the button of an act.
var keys = map[string]string{"approve": "y", "reject": "r", "merge": "M", "select": "S", "resolve": "o", "resume": "s"}

// Key is the key that presses the button of the act, "" for none.
func (f form) Key() string { return keys[f.Act.Name] }

// Asks reports whether the person must write or choose something.
func (f form) Asks() bool {
	return slices.ContainsFunc(f.Act.Fields, func(f status.Field) bool { return f.Required })
}

// Chooses reports whether one of its fields has options.
func (f form) Chooses() bool {
	return slices.ContainsFunc(f.Act.Fields, func(f status.Field) bool { return len(f.Options) > 0 })
}

// Places of acts that are no task: see placeOf.
const (
	projectPlace = "project"
	runPlace     = "run:"
	branchPlace  = "branch:"
	queuePlace   = "queue:" // and the name of a task that waits
	taskPlace    = "task"
)

// placeOf is the place of the task of a branch, "" for the project's own.
func placeOf(branch string) string {
	if branch == "" {
		return taskPlace
	}
	return branchPlace + branch
}

// placeOfNeed is where the acts of a need are.
func placeOfNeed(n status.Need) string {
	switch {
	case n.Run != "":
		return runPlace + n.Run
	case n.Queued != "":
		return queuePlace + n.Queued
	}
	return placeOf(n.Branch)
}

// acts are what the person can do now at a place.
func (s *Site) acts(ctx context.Context, place string) ([]status.Act, error) {
	if name, ok := strings.CutPrefix(place, runPlace); ok {
		l, err := s.readRun(name)
		if err != nil {
			return nil, err
		}
		return l.Acts(), nil
	}
	if name, ok := strings.CutPrefix(place, queuePlace); ok {
		e, err := s.open("")
		if err != nil {
			return nil, err
		}
		defer e.Close()
		for _, q := range status.QueueAt(e) {
			if q.Name == name {
				return q.Acts(), nil
			}
		}
		return nil, nil // it is taken: what was shown is no longer possible
	}
	branch, ok := strings.CutPrefix(place, branchPlace)
	if !ok && place != taskPlace && place != projectPlace {
		return nil, errNotFound
	}
	if !ok {
		branch = ""
	}
	e, err := s.open(branch)
	if err != nil {
		return nil, err
	}
	defer e.Close()
	if place == projectPlace {
		return status.ProjectActs(e)
	}
	d, err := status.ReadDetail(ctx, e, 1)
	if err != nil {
		return nil, err
	}
	return d.Acts, nil
}

// removing are the acts after which the page that they were on may be about nothing.
var removing = []string{"select", "remove"}

// confirmation asks before something is lost.
type confirmation struct {
	form
	From string
	Back string // the address of From
}

// act carries out an act that a page has shown, if it is still possible.
func (s *Site) act(w http.ResponseWriter, r *http.Request) error {
	if err := s.opts.Untrusted(); err != nil {
		return err
	}
	f, from, err := s.posted(r)
	if err != nil {
		return err
	}
	list, err := s.acts(r.Context(), f.Place)
	if err != nil {
		return err
	}
	text := longest(f.Given)
	if f.Act, err = status.FindAct(list, f.Act); err != nil {
		s.failWith(w, r, err, text)
		return nil
	}
	if f.Act.Loses != "" && !sure(r.PostForm.Get("sure"), f.Act.Report) {
		if _, err := f.Act.Fill(f.Given); err != nil {
			s.failWith(w, r, err, text)
			return nil
		}
		for name, value := range f.Given { // as it is stored, so that the page changes nothing of it
			f.Given[name] = safetext.Clean(value)
		}
		p := s.page(r, f.Act.Label)
		f.page = p
		p.Data = confirmation{f, from, s.to(from)}
		return s.show(w, http.StatusOK, "confirm", p)
	}
	// It goes on when the browser has gone: half an act helps nobody.
	out, err := s.opts.Do(context.WithoutCancel(r.Context()), f.Act, f.Given)
	if err != nil {
		s.failWith(w, r, err, text)
		return nil
	}
	if out.Failed() {
		s.failed(w, r, http.StatusConflict, failure{Message: out.Message, Said: out.Text, Remedy: out.Remedy, Text: text})
		return nil
	}
	done := result{Label: f.Act.Label, Text: out.Text}
	if f.Act.Name == "reject" {
		draft, err := s.reviews.Remove(review.SubjectOfAct(f.Act))
		if err != nil {
			s.opts.Log.Warn("the draft of a rejection stays", "error", err)
		}
		if len(draft.Comments) > 0 {
			done.Undone = s.results.put(result{Draft: draft})
		}
	}
	if undone := s.results.take(r.PostForm.Get("undone")); undone != nil {
		if err := s.reviews.PutBack(undone.Draft); err != nil {
			s.opts.Log.Warn("the draft of a rejection that was taken back is lost", "error", err)
		}
	}
	if slices.Contains(removing, f.Act.Name) {
		if from != inAll {
			from = "/"
		}
	} else if done.Undo, err = s.undo(r.Context(), f); err != nil {
		s.opts.Log.Warn("whether an act can be taken back is not known", "error", err)
	}
	http.Redirect(w, r, withQuery(s.to(from), "done", s.results.put(done)), http.StatusSeeOther)
	return nil
}

// sure reports whether the person has agreed to what an act loses: to all of it, or to what there was to lose at an entry of the log that
// is still the newest.
func sure(answer string, now *status.Report) bool {
	return answer == "yes" || now != nil && answer == strconv.FormatUint(now.Seq, 10)
}

// mostEntries is how many entries of the log one act of a person can make.
const mostEntries = 8

// undo returns the form that takes back an act which was carried out, nil where none does.
func (s *Site) undo(ctx context.Context, f form) (*form, error) {
	if f.Act.Report == nil || !status.Undoable(f.Act.Name) {
		return nil, nil
	}
	e, err := s.open(f.Act.Report.Branch)
	if err != nil {
		return nil, err
	}
	defer e.Close()
	d, err := status.ReadDetail(ctx, e, mostEntries)
	if err != nil {
		return nil, err
	}
	back, ok := d.Undo(f.Act.Name, f.Act.Report.Seq)
	if !ok {
		return nil, nil
	}
	undo := newForm(nil, f.Place, back).With("seq", strconv.FormatUint(f.Act.Report.Seq, 10)).With("reason", "undone on the page")
	return &undo, nil
}

// posted reads the form of an act, and the page that it came from.
func (s *Site) posted(r *http.Request) (form, string, error) {
	var args []string
	if err := json.Unmarshal([]byte(r.PostForm.Get("args")), &args); err != nil {
		return form{}, "", &refusal.RefusedError{Code: refusal.InvalidInput, Message: "the form names no act", Remedy: "load the page again", Person: true}
	}
	f := newForm(nil, r.PostForm.Get("place"), status.Act{Name: r.PostForm.Get("act"), Args: args, On: engine.Subject{Task: r.PostForm.Get("task")}})
	for name, values := range r.PostForm {
		if field, ok := strings.CutPrefix(name, "f."); ok {
			value := ""
			for _, v := range values { // a choice has a text beside its options
				if strings.TrimSpace(v) != "" {
					value = v
				}
			}
			f.Given[field] = strings.ReplaceAll(value, "\r\n", "\n")
		}
	}
	return f, own(r.PostForm.Get("from")), nil
}

// own is an address of this site, "/" for any other.
func own(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "" || u.Host != "" || u.Opaque != "" || !strings.HasPrefix(u.Path, "/") || strings.HasPrefix(u.Path, "//") ||
		strings.Contains(address, `\`) {
		return "/"
	}
	return address
}

// withQuery is an address with one more value in its query.
func withQuery(address, name, value string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "/"
	}
	q := u.Query()
	q.Set(name, value)
	u.RawQuery = q.Encode()
	return u.String()
}

// longest is the longest value of a form: the text that would be missed.
func longest(values map[string]string) (text string) {
	for _, v := range values {
		if len(v) > len(text) {
			text = v
		}
	}
	return text
}

// open opens the machine of a branch, "" for the project's own.
func (s *Site) open(branch string) (e *engine.Engine, err error) {
	place := project.At(s.opts.Root, "")
	if branch != "" {
		if place, err = place.On(branch); err != nil {
			return nil, err
		}
	}
	return s.opts.Open(place)
}

// A result is what became of an act, to be shown once.
type result struct {
	Label, Text string
	Undo        *form  // that takes it back, as long as nobody has gone on with the task; nil where none does
	Undone      string // names another result, with the draft of the rejection that this was; "" for none
	Draft       review.Draft
}

// results are the results that were not shown yet.
type results struct {
	mu   sync.Mutex
	ids  []string
	text map[string]result
}

// kept bounds how many results wait to be shown.
const kept = 100

func newResults() *results { return &results{text: map[string]result{}} }

func (l *results) put(r result) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	id := rand.Text()
	l.ids, l.text[id] = append(l.ids, id), r
	if len(l.ids) > kept {
		delete(l.text, l.ids[0])
		l.ids = l.ids[1:]
	}
	return id
}

func (l *results) take(id string) *result {
	l.mu.Lock()
	defer l.mu.Unlock()
	r, ok := l.text[id]
	if !ok {
		return nil
	}
	delete(l.text, id)
	l.ids = slices.DeleteFunc(l.ids, func(old string) bool { return old == id })
	return &r
}

// draft adds, replaces or removes a comment on a line of a patch, or the mark that a file of it was viewed.
func (s *Site) draft(w http.ResponseWriter, r *http.Request) error {
	if err := s.opts.Untrusted(); err != nil {
		return err
	}
	v := r.PostForm
	about := review.Subject{Branch: v.Get("branch"), Task: v.Get("task"), Submission: v.Get("submission")}
	from := own(v.Get("from"))
	var err error
	switch {
	case v.Get("discard") == "all":
		_, err = s.reviews.Remove(about)
	case v.Has("viewed"):
		if next, none := strconv.Atoi(v.Get("next")); none == nil {
			from += "#f-" + strconv.Itoa(next)
		}
		err = s.reviews.View(about, v.Get("path"), v.Get("id"), v.Get("viewed") == "yes")
	default:
		err = s.reviews.Comment(about, review.Comment{Path: v.Get("path"), Line: v.Get("line"), Quote: v.Get("quote"), Text: v.Get("text")})
	}
	if err != nil {
		s.failWith(w, r, err, v.Get("text"))
		return nil
	}
	http.Redirect(w, r, s.to(from), http.StatusSeeOther)
	return nil
}
