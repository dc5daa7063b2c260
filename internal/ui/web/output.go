package web

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/ferrus-go/ferrus/internal/agents"
	"github.com/ferrus-go/ferrus/internal/agents/process"
	"github.com/ferrus-go/ferrus/internal/conductor"
	"github.com/ferrus-go/ferrus/internal/platform/rootfs"
	"github.com/ferrus-go/ferrus/internal/platform/safetext"
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
func tailOf(run process.Run, base, branch string) (*tail, error) {
	q := url.Values{"branch": {branch}, "run": {run.Name}}
	t := &tail{Run: run, Raw: base + "/log?" + q.Encode()}
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
	o := newFollower(f, run.Agent, t.From)
	if t.Text, _, err = o.next(); err != nil {
		return nil, err
	}
	if run.Over() {
		t.Text += o.end()
	} else {
		q.Set("offset", strconv.FormatInt(o.line(), 10))
		t.Next = base + "/output?" + q.Encode()
	}
	return t, nil
}

// A follower reads the output of an agent from an offset on, in words. The first line may have begun before the offset; it is
// left out unless the offset is 0 or the start of a line.
type follower struct {
	log  io.ReaderAt
	in   *agents.Reader
	at   int64 // of the next byte to be read
	skip bool  // up to the end of the line
}

func newFollower(log io.ReaderAt, agent string, from int64) *follower {
	o := &follower{log: log, in: agents.ReaderOf(agent), at: from}
	if from > 0 { // the byte before says whether a line begins there
		o.at, o.skip = from-1, true
	}
	return o
}

// next reads the next piece, and returns what the lines that end in it say. A line that does not end in a piece is read over
// several. moved is false at the end of the log.
func (o *follower) next() (text string, moved bool, err error) {
	piece := make([]byte, 4*tailSize)
	n, err := o.log.ReadAt(piece, o.at)
	if err != nil && !errors.Is(err, io.EOF) {
		return "", false, err
	}
	o.at += int64(n)
	piece = piece[:n]
	if o.skip {
		begin := bytes.IndexByte(piece, '\n') + 1
		if begin == 0 {
			return "", n > 0, nil
		}
		piece, o.skip = piece[begin:], false
	}
	return words(o.in.Feed(piece)), n > 0, nil
}

// line is where the line begins that is read next, or goes on being read.
func (o *follower) line() int64 { return o.at - int64(o.in.Unfinished()) }

// end returns what a last line without its end says.
func (o *follower) end() string { return words(o.in.End()) }

// words are notes as text. A browser would choke on a line of megabytes: it is cut.
func words(notes []agents.Note) string {
	var b strings.Builder
	for _, note := range notes {
		text := safetext.Output(strings.TrimSpace(note.Text))
		if more := len(text) - tailSize; more > 0 {
			text = fmt.Sprintf("%s… (cut: %d bytes more)", strings.ToValidUTF8(text[:tailSize], ""), more)
		}
		b.WriteString(strings.TrimSpace(string(note.Kind) + " " + text))
		b.WriteString("\n")
	}
	return b.String()
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
	out, o := newStream(w), newFollower(f, run.Agent, at)
	every := time.NewTicker(look)
	defer every.Stop()
	for look := 0; ; look++ {
		over := run.Over() // before the reading, so that nothing is missed
		text, moved, err := o.next()
		if err != nil {
			return nil
		}
		over = over && !moved
		if over {
			text += o.end()
		}
		if text != "" || look == 0 {
			if out.send(strconv.FormatInt(o.line(), 10), "output", text) != nil {
				return nil
			}
		}
		if over {
			_ = out.send(strconv.FormatInt(o.line(), 10), "end", "") // the browser may have gone
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
		if !isFile(name) || !strings.HasSuffix(name, ".log") {
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
