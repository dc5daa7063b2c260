package web

import (
	"bufio"
	"encoding/json"
	"errors"
	"io/fs"
	"net/http"
	"path/filepath"
	"strings"
	"time"

	"github.com/ferrus-go/ferrus/internal/platform/rootfs"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/status"
	"github.com/ferrus-go/ferrus/internal/store"
)

// perPage is how many tasks the history shows at first.
const perPage = 200

// A past is the page of all tasks that are over.
type past struct {
	Query string
	Tasks []status.ArchivedTask
	More  int
	Runs  []status.RunLine
}

func (s *Site) history(w http.ResponseWriter, r *http.Request) error {
	newest := perPage
	query := strings.TrimSpace(r.URL.Query().Get("q"))
	if query != "" || r.URL.Query().Get("all") != "" {
		newest = 1 << 20
	}
	v, stale, err := remember(s.seen, "history", func() (*status.Overview, error) {
		return status.ReadOverview(r.Context(), s.opts.Root, status.Options{Open: s.opts.Open, Newest: newest})
	})
	if err != nil {
		return err
	}
	p := s.page(r, "History")
	p.Stale = stale
	b := past{Query: query, More: v.More}
	for _, t := range v.Archived {
		if has(query, t.TaskID, t.Title, t.Branch, t.Outcome()) {
			b.Tasks = append(b.Tasks, t)
		}
	}
	for _, l := range v.Finished {
		if has(query, l.Run, l.Topic, l.Outcome()) {
			b.Runs = append(b.Runs, l)
		}
	}
	p.Data = b
	return s.show(w, http.StatusOK, "history", p)
}

// has reports whether every word of a query is in one of the texts.
func has(query string, texts ...string) bool {
	all := strings.ToLower(strings.Join(texts, "\n"))
	for word := range strings.FieldsSeq(strings.ToLower(query)) {
		if !strings.Contains(all, word) {
			return false
		}
	}
	return true
}

// An archive is the page of a task that is over.
type archive struct {
	*status.Detail
	TaskID        string
	Branch        string
	Ended         time.Time
	Outcome       string
	Error, Remedy string
}

// maxLine bounds a line of a journal, as the store does.
const maxLine = 33 << 20

func (s *Site) archived(w http.ResponseWriter, r *http.Request) error {
	id := r.PathValue("task")
	if !state.ValidTaskID(id) {
		return errNotFound
	}
	own := project.At(s.opts.Root, "")
	names, err := project.Branches(s.opts.Root)
	if err != nil {
		return err
	}
	dirs := []string{own.Dir()}
	for _, name := range names {
		dirs = append(dirs, project.At(s.opts.Root, name).Dir())
	}
	removed := filepath.Join(own.Dir(), "archive", "branches")
	gone, err := project.Folders(removed)
	if err != nil {
		return err
	}
	for _, name := range gone {
		dirs = append(dirs, filepath.Join(removed, name))
	}
	for _, dir := range dirs {
		a, err := readArchive(filepath.Join(dir, "archive", id), id)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		if dir != own.Dir() {
			a.Branch, _, _ = strings.Cut(filepath.Base(dir), "@")
		}
		p := s.page(r, a.Title)
		p.Data = a
		return s.show(w, http.StatusOK, "archived", p)
	}
	for _, name := range append([]string{""}, names...) {
		if s.present(name) == id {
			http.Redirect(w, r, linkTo(name), http.StatusSeeOther)
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

// readArchive reads the folder of a task that is over: its lines of the journal and its documents.
func readArchive(dir, id string) (*archive, error) {
	root, err := rootfs.OpenBelow(dir, project.DirName, 0)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	f, err := root.Open("journal.jsonl")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	a := &archive{TaskID: id, Detail: &status.Detail{Report: &status.Report{TaskID: id, Title: id}}}
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, maxLine)
	for lines.Scan() {
		var l store.Line
		if err := json.Unmarshal(lines.Bytes(), &l); err != nil {
			a.Error = "A line of the log cannot be read; the later ones are not shown."
			break
		}
		a.Timeline = append(a.Timeline, status.Event{Line: &l}.Entry())
		if l.State.Title != "" {
			a.Title = l.State.Title
		}
		a.Ended = l.At
		a.Outcome = status.ArchivedTask{State: l.To}.Outcome()
		for name, text := range l.Docs {
			if strings.HasSuffix(string(name), ".md") {
				a.document(status.Document{Name: name, By: l.Actor.Agent, At: l.At, Text: text})
			}
		}
	}
	return a, lines.Err()
}

// document keeps the newest text of each document.
func (a *archive) document(d status.Document) {
	for i, old := range a.Documents {
		if old.Name == d.Name {
			a.Documents[i] = d
			return
		}
	}
	a.Documents = append(a.Documents, d)
}
