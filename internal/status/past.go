package status

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ferrus-go/ferrus/internal/platform/rootfs"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/store"
)

// A PastTask is a task that is over, as the history finds it.
type PastTask struct {
	ArchivedTask
	Agents []string `json:"agents,omitempty"` // whose entries its log has, such as executor:codex:1, in the order of their first
	Dir    string   `json:"dir"`              // of its archive, relative to .ferrus, with slashes

	text string // all that is searched, in small letters
}

// A Search says which tasks of the history are looked for. The zero Search finds all.
type Search struct {
	Words []string  // each must be in the title, the id, the branch, the outcome, a document or the path of a changed file
	State string    // how it ended: approved, failed or abandoned; "" for all
	Agent string    // who has worked on it or reviewed it, by a part of the name
	Since time.Time // when it ended at the earliest
}

// Zero reports whether it finds all.
func (s Search) Zero() bool {
	return len(s.Words) == 0 && s.State == "" && s.Agent == "" && s.Since.IsZero()
}

// Match reports whether it finds a task.
func (s Search) Match(t PastTask) bool {
	return (s.State == "" || s.State == t.Outcome()) && !t.At.Before(s.Since) &&
		(s.Agent == "" || slices.ContainsFunc(t.Agents, func(name string) bool { return strings.Contains(strings.ToLower(name), strings.ToLower(s.Agent)) })) &&
		s.In(t.text)
}

// In reports whether each word is in one of the texts.
func (s Search) In(texts ...string) bool {
	all := strings.ToLower(strings.Join(texts, "\n"))
	return !slices.ContainsFunc(s.Words, func(word string) bool { return !strings.Contains(all, strings.ToLower(word)) })
}

// indexFile is a file in .ferrus with what is searched of each archived task, a line each. It may be deleted: it is made again.
const indexFile = "history.index"

// What is read of a task to be searched.
const (
	mostText  = 16 << 10  // bytes that are searched
	mostPatch = 256 << 10 // bytes of the patch, for the paths in it
)

// ReadHistory returns the tasks of a project that are over and that a search finds, the newest first. With keep it writes an index of them,
// by which the next search takes but a moment.
func ReadHistory(root string, s Search, keep bool) ([]PastTask, error) {
	home, err := rootfs.OpenBelow(project.At(root, "").Dir(), project.DirName, 0)
	if err != nil {
		return nil, err
	}
	defer home.Close()
	var found []PastTask
	index := project.OpenIndex(home, indexFile)
	err = eachArchive(home, unfinished(home), func(archive *rootfs.Root, dir string, t ArchivedTask) error {
		return index.Use(dir, signOf(archive, t.TaskID), func() string { return readPast(home, dir, t).indexed() }, func(known string) error {
			head, text, _ := strings.Cut(known, "\t")
			p := PastTask{text: text}
			err := json.Unmarshal([]byte(head), &p)
			if err == nil && s.Match(p) {
				found = append(found, p)
			}
			return err
		})
	})
	if err != nil {
		return nil, err
	}
	if keep {
		index.Save()
	}
	slices.SortFunc(found, func(a, b PastTask) int { return newestFirst(a.ArchivedTask, b.ArchivedTask) })
	return found, nil
}

// unfinished is the task that a machine in files works on: one that was reopened is over no more.
func unfinished(home *rootfs.Root) func(machine, branch string) string {
	return func(machine, _ string) string {
		if l, err := project.LastEventIn(home, machine); err == nil && !l.State.State.Over() {
			return l.State.TaskID
		}
		return ""
	}
}

// readPast reads the archive of a task. What cannot be read is said in it.
func readPast(home *rootfs.Root, dir string, t ArchivedTask) PastTask {
	p := PastTask{ArchivedTask: t, Dir: dir}
	texts := []string{t.TaskID, t.Branch}
	patch := ""
	err := eachLine(home, dir, func(l *store.Line) {
		p.Title, p.State, p.At = l.State.Title, l.To, l.At
		if a := l.Actor; a.Role != state.Human && a.Agent != "" && !slices.Contains(p.Agents, a.Agent) {
			p.Agents = append(p.Agents, a.Agent)
		}
		for _, doc := range state.Docs() {
			texts = append(texts, l.Docs[doc])
		}
		patch = l.State.Submission.Patch
	})
	if err != nil {
		p.Error = err.Error()
	}
	if machine, _, ok := strings.Cut(dir, "archive/t-"); ok && patch != "" {
		texts = append(texts, pathsOf(home, path.Join(machine, patch))...)
	}
	p.text = strings.ToLower(strings.Join(append([]string{p.Title, p.Outcome()}, texts...), "\n"))
	p.text = p.text[:min(len(p.text), mostText)]
	return p
}

// eachLine reads the lines of an archived task.
func eachLine(home *rootfs.Root, dir string, do func(*store.Line)) error {
	return project.JournalIn(home, dir, func(raw []byte) error {
		var l store.Line
		if err := json.Unmarshal(raw, &l); err != nil {
			return fmt.Errorf("%s: a line cannot be read", home.Join(dir+"/journal.jsonl"))
		}
		do(&l)
		return nil
	})
}

// pathsOf are the paths that a patch names, none where it is not there any more.
func pathsOf(home *rootfs.Root, name string) (paths []string) {
	f, err := home.Open(name)
	if err != nil {
		return nil
	}
	defer f.Close()
	lines := bufio.NewScanner(io.LimitReader(f, mostPatch))
	for lines.Scan() {
		if rest, ok := bytes.CutPrefix(lines.Bytes(), []byte("diff --git ")); ok {
			paths = append(paths, string(rest))
		}
	}
	return paths
}

// indexed is the task in the index: itself as JSON, a tab, and what is searched.
func (t PastTask) indexed() string {
	head, _ := json.Marshal(t) // strings and times are always written
	return string(head) + "\t" + strings.ReplaceAll(t.text, "\t", " ")
}

// A Past is all there is of a task that is over.
type Past struct {
	ArchivedTask
	Timeline  []Entry    `json:"timeline"`
	Documents []Document `json:"documents"` // the newest text of each
}

// ReadPast reads a task that is over by its id. The error is [fs.ErrNotExist] if there is none.
func ReadPast(root, id string) (*Past, error) {
	home, err := rootfs.OpenBelow(project.At(root, "").Dir(), project.DirName, 0)
	if err != nil {
		return nil, err
	}
	defer home.Close()
	var p *Past
	err = eachArchive(home, unfinished(home), func(_ *rootfs.Root, dir string, t ArchivedTask) error {
		if t.TaskID != id || p != nil {
			return nil
		}
		p = &Past{ArchivedTask: t}
		err := eachLine(home, dir, p.add)
		if errors.Is(err, fs.ErrNotExist) {
			p, err = nil, nil // it is not whole yet
		} else if err != nil {
			p.Error = "A line of the log cannot be read; the later ones are not shown."
		}
		return nil
	})
	if err == nil && p == nil {
		err = fmt.Errorf("there is no task %s in %s: %w", id, filepath.Join(home.Dir(), "archive"), fs.ErrNotExist)
	}
	return p, err
}

func (p *Past) add(l *store.Line) {
	p.Timeline = append(p.Timeline, Event{Line: l}.Entry())
	if l.State.Title != "" {
		p.Title = l.State.Title
	}
	p.At, p.State = l.At, l.To
	for _, name := range state.Docs() {
		text, ok := l.Docs[name]
		if !ok {
			continue
		}
		d := Document{Name: name, By: l.Actor.Agent, At: l.At, Text: text}
		if i := slices.IndexFunc(p.Documents, func(old Document) bool { return old.Name == name }); i >= 0 {
			p.Documents[i] = d
		} else {
			p.Documents = append(p.Documents, d)
		}
	}
}
