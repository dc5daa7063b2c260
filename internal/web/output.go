package web

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/ferrus-go/ferrus/internal/agents"
	"github.com/ferrus-go/ferrus/internal/agents/process"
	"github.com/ferrus-go/ferrus/internal/conductor"
	"github.com/ferrus-go/ferrus/internal/rootfs"
	"github.com/ferrus-go/ferrus/internal/safetext"
)

// tailSize is how much of the end of an agent's output a page shows.
const tailSize = 64 << 10

// A tail is the end of an agent's output, in words.
type tail struct {
	Run  process.Run
	Text string
	From int64  // offset of what is shown first
	Next string // the stream of what follows; "" when nothing does
	Raw  string // all of it
}

// tailOf reads the end of the output of a run.
func tailOf(run process.Run, branch string) (*tail, error) {
	q := url.Values{"branch": {branch}, "run": {run.Name}}
	t := &tail{Run: run, Raw: "/log?" + q.Encode()}
	f, err := rootfs.OpenOwn(run.Log)
	if err != nil {
		return nil, errNotFound
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	t.From = max(0, info.Size()-tailSize)
	text, next, err := words(f, agents.ReaderOf(run.Agent), t.From)
	if err != nil {
		return nil, err
	}
	t.Text = text
	if !run.Over() {
		q.Set("offset", strconv.FormatInt(next, 10))
		t.Next = "/output?" + q.Encode()
	}
	return t, nil
}

// words reads the whole lines of an output from an offset on, and returns where the next one begins. The first line may have
// begun before the offset; it is left out unless the offset is 0 or the start of a line.
func words(f io.ReaderAt, in *agents.Reader, from int64) (text string, next int64, err error) {
	start := from
	if from > 0 {
		start--
	}
	piece := make([]byte, 4*tailSize)
	n, err := f.ReadAt(piece, start)
	if err != nil && !errors.Is(err, io.EOF) {
		return "", from, err
	}
	piece = piece[:n]
	if from > 0 {
		begin := bytes.IndexByte(piece, '\n') + 1
		if begin == 0 {
			return "", from, nil
		}
		piece, start = piece[begin:], start+int64(begin)
	}
	end := len(piece)
	if whole := strings.LastIndexByte(string(piece), '\n') + 1; whole > 0 || n < 4*tailSize {
		end = whole
	}
	var b strings.Builder
	for _, note := range in.Feed(piece[:end]) {
		b.WriteString(strings.TrimSpace(string(note.Kind) + " " + safetext.Output(strings.TrimSpace(note.Text))))
		b.WriteString("\n")
	}
	return b.String(), start + int64(end), nil
}

// agentRun finds a run of an agent for the present task of a branch.
func (s *Site) agentRun(branch, name string) (process.Run, error) {
	e, err := s.open(branch)
	if err != nil {
		return process.Run{}, err
	}
	defer e.Close()
	now, err := e.View()
	if err != nil {
		return process.Run{}, err
	}
	runs, err := process.Runs(conductor.Runs(e, now.Task.TaskID))
	if err != nil {
		return process.Run{}, err
	}
	for _, run := range runs {
		if run.Name == name {
			return run, nil
		}
	}
	return process.Run{}, errNotFound
}

// output streams what an agent says from a byte of its output on. The id of an event is the offset of what follows it.
func (s *Site) output(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	run, err := s.agentRun(q.Get("branch"), q.Get("run"))
	if err != nil {
		return err
	}
	at, err := strconv.ParseInt(q.Get("offset"), 10, 64)
	if again, wrong := strconv.ParseInt(r.Header.Get("Last-Event-ID"), 10, 64); wrong == nil {
		at, err = again, nil
	}
	if err != nil || at < 0 {
		return errNotFound
	}
	f, err := rootfs.OpenOwn(run.Log)
	if err != nil {
		return errNotFound
	}
	defer f.Close()
	out, in := newStream(w), agents.ReaderOf(run.Agent)
	every := time.NewTicker(2 * look)
	defer every.Stop()
	for look := 0; ; look++ {
		over := run.Over() // before the reading, so that nothing is missed
		text, next, err := words(f, in, at)
		if err != nil {
			return nil
		}
		if text != "" || look == 0 {
			if out.send(strconv.FormatInt(next, 10), "output", text) != nil {
				return nil
			}
		}
		moved := next != at
		at = next
		if over && !moved {
			_ = out.send(strconv.FormatInt(at, 10), "end", "") // the browser may have gone
			return nil
		}
		if !moved && look%8 == 7 {
			if again, err := s.agentRun(q.Get("branch"), run.Name); err == nil {
				run = again
			}
		}
		select {
		case <-r.Context().Done():
			return nil
		case <-every.C:
		}
	}
}

// log sends a whole log as text, with marks for hidden characters: of a check or a server by its name, or of an agent by its run.
func (s *Site) log(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	var path string
	if name := q.Get("run"); name != "" {
		run, err := s.agentRun(q.Get("branch"), name)
		if err != nil {
			return err
		}
		path = run.Log
	} else {
		e, err := s.open(q.Get("branch"))
		if err != nil {
			return err
		}
		defer e.Close()
		name := q.Get("name")
		if name != filepath.Base(name) || !strings.HasSuffix(name, ".log") {
			return errNotFound
		}
		path = e.Place().Path("logs", name)
	}
	f, err := rootfs.OpenOwn(path)
	if errors.Is(err, fs.ErrNotExist) {
		return errNotFound
	}
	if err != nil {
		return err
	}
	defer f.Close()
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Content-Disposition", "inline")
	_ = safetext.Copy(w, f) // the browser may have gone
	return nil
}
