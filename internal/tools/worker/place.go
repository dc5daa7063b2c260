package worker

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"sync"
	"time"

	"github.com/ferrus-go/ferrus/internal/config"
	"github.com/ferrus-go/ferrus/internal/config/workflow"
	"github.com/ferrus-go/ferrus/internal/pipeline"
	"github.com/ferrus-go/ferrus/internal/pipeline/run"
)

// A place gives a server access to the run of its worker. It opens the run on first use: a server
// that is started for a finished run answers that instead of failing to start.
type place struct {
	opts Options

	mu sync.Mutex
	f  *run.Folder // nil until it is opened
	d  *run.WorkerSession
}

// open makes sure that the run is open.
func (p *place) open() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.d != nil {
		return nil
	}
	f, err := run.Open(p.opts.Run)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return p.gone()
	case err != nil:
		return refuse(Corrupt, err.Error(), "stop: a person must look at the run", "stop")
	}
	d, err := f.WorkerSession(p.opts.Worker, p.opts.Attempt)
	if err != nil {
		return refuse(ForbiddenRole, err.Error(), "stop: this server must be started with one of them as --worker", "stop")
	}
	p.f, p.d = f, d
	return nil
}

// rev returns the revision of the run's status, 0 if it cannot be read.
func (p *place) rev() int {
	if p.open() != nil {
		return 0
	}
	s, err := p.f.Status()
	if err != nil {
		return 0
	}
	return s.Rev
}

// gone returns the refusal for a run that no longer exists.
func (p *place) gone() *refused {
	return refuse(StoreGone, fmt.Sprintf("the run %s does not exist: it has ended and is archived, or it was removed", filepath.Base(p.opts.Run)),
		"stop: there is nothing left to do", "stop")
}

// binding returns the binding of the worker, the zero one if the run cannot be opened.
func (p *place) binding() binding {
	if p.open() != nil {
		return binding{}
	}
	k, phase := p.f.Workflow.Worker(p.opts.Worker)
	speaks := p.f.Workflow.Phases[phase].How() == workflow.Talking
	return binding{terminal: p.deliverer() == p.opts.Worker, speaks: speaks, asks: k.Asks}
}

// deliverer returns the worker that delivers, "" when ferrus does. ferrus itself delivers the
// transcript of a dialogue, which it writes after the last turn.
func (p *place) deliverer() string {
	final, _ := p.f.Workflow.Final()
	if _, phase := p.f.Workflow.Worker(final); !p.f.Workflow.ByTerminal() || p.f.Workflow.Phases[phase].How() == workflow.Talking {
		return ""
	}
	return final
}

// wait returns how long a call may wait.
func (p *place) wait() time.Duration {
	if p.opts.Wait > 0 {
		return p.opts.Wait
	}
	conf, err := config.Load(filepath.Join(p.f.Settings.Root, "ferrus.toml"))
	if err != nil {
		conf = config.Default()
	}
	return conf.Server.WaitTimeout()
}

// wait returns how long this call may wait.
func (c *call) wait() time.Duration {
	most := c.place.wait()
	c.waits(most)
	return most
}

// over returns the refusal for an attempt that no longer counts.
func (p *place) over() *refused {
	v, err := p.f.View(time.Now())
	if err != nil {
		return p.gone()
	}
	s := v.Facts.Status.Worker(p.opts.Worker)
	why := run.ErrReplaced.Error()
	switch newest := v.Facts.Workers[p.opts.Worker].Attempt; {
	case v.Facts.Status.ResultDelivered:
		why = "the result of the run is delivered"
	case v.Facts.Status.State == pipeline.IsCancelled:
		why = "a person has cancelled the run"
	case newest > p.opts.Attempt:
		why = fmt.Sprintf("attempt %d does this work now, and this is attempt %d", newest, p.opts.Attempt)
	case s.Status == pipeline.Failed:
		why = fmt.Sprintf("this worker was given up (%s)", s.Reason)
	}
	return refuse(LeaseLost, why, "stop: write nothing more, and exit", "stop")
}
