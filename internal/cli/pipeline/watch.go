package pipeline

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/ferrus-go/ferrus/internal/cli"
	"github.com/ferrus-go/ferrus/internal/pipeline"
	"github.com/ferrus-go/ferrus/internal/pipeline/run"
	"github.com/ferrus-go/ferrus/internal/platform/format"
	"github.com/ferrus-go/ferrus/internal/platform/safetext"
	"github.com/ferrus-go/ferrus/internal/status"
)

// A progress shows a run of a pipeline while it goes: a line of what happens, and on a terminal, below, a table that is
// drawn anew. It is the stdout of a result as well, which stands alone there unless that is a terminal.
type progress struct {
	cli.Footer
	a       *cli.App
	to      *cli.App // where everything but the result goes
	run     string
	dir     string
	cancels bool // that the run ends without a result is what was asked for

	mu      sync.Mutex
	printed bool          // the result was printed here
	news    chan struct{} // the table is no longer true
	over    chan struct{}
	done    sync.WaitGroup
}

// NewProgress shows the progress of a run on the terminal. The caller closes it.
func NewProgress(a *cli.App, f *run.Folder) *progress {
	p := &progress{a: a, to: a, run: f.Name(), dir: f.Dir, news: make(chan struct{}, 1), over: make(chan struct{})}
	if !a.OutTTY && !a.JSON {
		aside := *a
		aside.Out, aside.Colour = a.Err, false
		p.to = &aside
	}
	p.Footer.On = p.to
	return p
}

// Options are what the run is driven with.
func (p *progress) Options() (run.Options, error) {
	self, err := os.Executable() // by which agents start their servers
	if err != nil {
		return run.Options{}, err
	}
	return run.Options{Ferrus: self, Environ: os.Environ(), Out: p, Report: p.tell, Log: cli.Warnings(aboveFooter{p})}, nil
}

// Write prints the result.
func (p *progress) Write(text []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.printed = true
	var err error
	switch {
	case p.a.JSON:
		err = p.a.PrintJSONLine(map[string]string{"kind": "result", "run": p.run, "text": string(text)})
	case p.a.OutTTY:
		p.Erase()
		_, err = io.WriteString(p.a.Out, format.Wrap(format.Frame(safetext.Mark(string(text)), "")+"\n", p.a.Width()))
	default:
		_, err = p.a.Out.Write(text)
	}
	return len(text), err
}

// aboveFooter is stderr for those who know nothing of the table that is drawn.
type aboveFooter struct{ p *progress }

func (w aboveFooter) Write(text []byte) (int, error) {
	w.p.mu.Lock()
	defer w.p.mu.Unlock()
	w.p.Erase()
	return w.p.a.Err.Write(text)
}

// tell shows what was done.
func (p *progress) tell(l run.Line) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.a.JSON {
		_ = p.a.PrintJSONLine(deedOf(p.run, l))
		return
	}
	text := eventText(l)
	if text == "" {
		return
	}
	first, rest, more := strings.Cut(strings.TrimRight(text, "\n"), "\n")
	p.Erase()
	p.to.Say("%s  %s\n", format.Clock(l.At), p.to.Paint(cli.RunColour[l.Status.State], first))
	if more {
		p.to.Say("%s\n", format.Frame(rest, "          "))
	}
	select {
	case p.news <- struct{}{}:
	default:
	}
}

// redraws is how often the table is redrawn.
const redraws = time.Second

// follow draws the table until close, if there is a terminal for it.
func (p *progress) follow() {
	if !p.a.OutTTY || p.a.JSON {
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
	p.Erase()
}

// table draws how the run stands. Where it cannot be read just now the next look will do.
func (p *progress) table(f *run.Folder, now time.Time) {
	v, err := f.View(now)
	if err != nil {
		return
	}
	s := v.Facts.Status
	rows, colours := []string{fmt.Sprintf("%s  %s  %s, for %s", p.run, format.Clip(format.Line(s.Topic), 50), s.State, format.Duration(now.Sub(s.CreatedAt)))}, []string{cli.Bold}
	for i, ps := range s.Phases {
		rows, colours = append(rows, "  "+status.PhaseWords(i, ps)), append(colours, cli.PhaseColour[ps.Status])
		if ps.Status == pipeline.Pending || ps.Status == pipeline.Completed {
			continue
		}
		for _, k := range ps.Workers {
			rows, colours = append(rows, "    "+status.WorkerWords(v, k, now)), append(colours, cli.PhaseColour[k.Status])
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.Draw(rows, colours)
}
