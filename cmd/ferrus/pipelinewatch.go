package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/ferrus-go/ferrus/internal/pipeline"
	"github.com/ferrus-go/ferrus/internal/pipeline/run"
	"github.com/ferrus-go/ferrus/internal/safetext"
)

// A progress shows a run of a pipeline while it goes: a line of what happens, and on a terminal, below, a table that is
// drawn anew. It is the stdout of a result as well, which stands alone there unless that is a terminal.
type progress struct {
	footer
	a       *app
	to      *app // where everything but the result goes
	run     string
	dir     string
	cancels bool // that the run ends without a result is what was asked for

	mu      sync.Mutex
	printed bool          // the result was printed here
	news    chan struct{} // the table is no longer true
	over    chan struct{}
	done    sync.WaitGroup
}

func (a *app) progress(f *run.Folder) *progress {
	p := &progress{a: a, to: a, run: f.Name(), dir: f.Dir, news: make(chan struct{}, 1), over: make(chan struct{})}
	if !a.outTTY && !a.json {
		aside := *a
		aside.out, aside.colour = a.err, false
		p.to = &aside
	}
	p.footer.on = p.to
	return p
}

// options are what the run is driven with.
func (p *progress) options() (run.Options, error) {
	self, err := os.Executable() // by which agents start their servers
	if err != nil {
		return run.Options{}, err
	}
	return run.Options{Ferrus: self, Environ: os.Environ(), Out: p, Told: p.tell, Log: warnings(aboveFooter{p})}, nil
}

// Write prints the result.
func (p *progress) Write(text []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.printed = true
	var err error
	switch {
	case p.a.json:
		err = p.a.printLine(map[string]string{"kind": "result", "run": p.run, "text": string(text)})
	case p.a.outTTY:
		p.erase()
		_, err = io.WriteString(p.a.out, wrapped(framed(safetext.Clean(string(text)), "")+"\n", p.a.width()))
	default:
		_, err = p.a.out.Write(text)
	}
	return len(text), err
}

// aboveFooter is stderr for those who know nothing of the table that is drawn.
type aboveFooter struct{ p *progress }

func (w aboveFooter) Write(text []byte) (int, error) {
	w.p.mu.Lock()
	defer w.p.mu.Unlock()
	w.p.erase()
	return w.p.a.err.Write(text)
}

// tell shows what was done.
func (p *progress) tell(l run.Line) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.a.json {
		_ = p.a.printLine(deedOf(p.run, l))
		return
	}
	text := chronicle(l)
	if text == "" {
		return
	}
	first, rest, more := strings.Cut(strings.TrimRight(text, "\n"), "\n")
	p.erase()
	p.to.say("%s  %s\n", clock(l.At), p.to.paint(colourOf[l.Status.State], first))
	if more {
		p.to.say("%s\n", framed(rest, "          "))
	}
	select {
	case p.news <- struct{}{}:
	default:
	}
}

// redraws is how often the table is drawn anew.
const redraws = time.Second

// follow draws the table until close, if there is a terminal for it.
func (p *progress) follow() {
	if !p.a.outTTY || p.a.json {
		return
	}
	// One of its own: the folder that is conducted moves.
	f, err := run.Open(p.dir)
	if err != nil {
		return
	}
	p.done.Add(1)
	go func() {
		defer p.done.Done()
		for {
			p.table(f, time.Now())
			select {
			case <-p.over:
				return
			case <-p.news:
			case <-time.After(redraws):
			}
		}
	}()
}

// close takes the table away.
func (p *progress) close() {
	close(p.over)
	p.done.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.erase()
}

// table draws how the run stands. Where it cannot be read just now the next look will do.
func (p *progress) table(f *run.Folder, now time.Time) {
	v, err := f.View(now)
	if err != nil {
		return
	}
	s := v.Facts.Status
	rows, colours := []string{fmt.Sprintf("%s  %s  %s, for %s", p.run, clip(line(s.Topic), 50), s.State, span(now.Sub(s.CreatedAt)))}, []string{bold}
	for i, ps := range s.Phases {
		rows, colours = append(rows, "  "+phaseWords(i, ps)), append(colours, phaseColour[ps.Status])
		if ps.Status == pipeline.Pending || ps.Status == pipeline.Completed {
			continue
		}
		for _, k := range ps.Workers {
			rows, colours = append(rows, "    "+workerWords(v, k, now)), append(colours, phaseColour[k.Status])
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.draw(rows, colours)
}
