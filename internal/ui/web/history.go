package web

import (
	"errors"
	"io/fs"
	"net/http"
	"strings"

	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/status"
)

// perPage is how many tasks the history shows at first.
const perPage = 200

// A past is the page of all tasks that are over.
type past struct {
	Query string
	Tasks []status.PastTask
	More  int
	Runs  []status.RunLine
}

func (s *Site) history(w http.ResponseWriter, r *http.Request) error {
	query := strings.TrimSpace(r.URL.Query().Get("q"))
	search := status.Search{Words: strings.Fields(query)}
	tasks, err := status.ReadHistory(s.opts.Root, search, s.opts.Untrusted() == nil)
	if err != nil {
		return err
	}
	b := past{Query: query, Tasks: tasks}
	if n := len(tasks) - perPage; n > 0 && query == "" && r.URL.Query().Get("all") == "" {
		b.Tasks, b.More = tasks[:perPage], n
	}
	p := s.page(r, "History")
	e, err := s.open("")
	if err == nil {
		defer e.Close()
		for _, l := range status.ArchivedRuns(e, 1<<20) {
			if search.In(l.Run, l.Topic, l.Outcome()) {
				b.Runs = append(b.Runs, l)
			}
		}
	}
	p.Data = b
	return s.show(w, http.StatusOK, "history", p)
}

// An archive is the page of a task that is over.
type archive struct {
	*status.Past
	Remedy string // of its error, "" for none
}

func (s *Site) archived(w http.ResponseWriter, r *http.Request) error {
	id := r.PathValue("task")
	if !state.ValidTaskID(id) {
		return errNotFound
	}
	past, err := status.ReadPast(s.opts.Root, id)
	if err == nil {
		p := s.page(r, past.Title)
		p.Data = archive{Past: past}
		return s.show(w, http.StatusOK, "archived", p)
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	names, err := project.Branches(s.opts.Root)
	if err != nil {
		return err
	}
	for _, name := range append([]string{""}, names...) {
		if s.present(name) == id {
			http.Redirect(w, r, linkTo(s.base, name), http.StatusSeeOther)
			return nil
		}
	}
	return errNotFound
}

// present is the task of a branch now, "" where it cannot be read.
func (s *Site) present(branch string) string {
	e, err := s.open(branch)
	if err != nil {
		return ""
	}
	defer e.Close()
	now, err := e.View()
	if err != nil {
		return ""
	}
	return now.Task.TaskID
}
