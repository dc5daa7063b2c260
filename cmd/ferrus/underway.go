package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/pipeline"
	"github.com/ferrus-go/ferrus/internal/pipeline/run"
)

// Underway is a run of a pipeline in a line.
type underway struct {
	Run     string         `json:"run"`
	Topic   string         `json:"topic"`
	State   pipeline.State `json:"state"`
	Waiting string         `json:"waiting"`
	Next    string         `json:"next"` // the command that moves it on

	person, deserted bool
}

func (u underway) words() string {
	return fmt.Sprintf("%s  %s, waits %s  →  %s", u.Run, u.State, u.Waiting, u.Next)
}

// pipelines are the runs under way. What cannot be read is left to those who are asked about pipelines.
func pipelines(e *engine.Engine) []underway {
	conf, err := e.Config()
	if err != nil {
		return nil
	}
	at := run.At(e.Place().Root, conf.Pipelines)
	names, _ := at.Names()
	var list []underway
	for _, name := range names {
		f, err := at.Open(name)
		if err != nil {
			continue
		}
		l, err := look(at, f, time.Now())
		if err != nil {
			continue
		}
		list = append(list, underway{name, l.Topic, l.Status.State, l.waitWords(time.Now()), l.Next[0].Command, l.view.Action.Person, l.deserted()})
	}
	return list
}

// lookPipelines looks whether a run under way waits for what will not come by itself.
func lookPipelines(p *patient) finding {
	e, err := p.engine()
	if err != nil {
		return finding{} // other exams say why
	}
	var waiting, mends []string
	list := pipelines(e)
	for _, u := range list {
		if u.person || u.deserted {
			waiting = append(waiting, fmt.Sprintf("%s is %s and waits %s", u.Run, u.State, u.Waiting))
			mends = append(mends, u.Next)
		}
	}
	switch {
	case len(waiting) > 0:
		return noted(strings.Join(waiting, "; "), strings.Join(mends, ", or "))
	case len(list) > 0:
		return fine(count(len(list), "run of a pipeline is", "runs of pipelines are") + " under way")
	}
	return finding{}
}

// lookWorkflows looks whether the pipelines are sound.
func lookWorkflows(p *patient) finding {
	here := *p.a
	here.dir = p.place.Root
	all, path, err := here.workflows(p.ctx)
	switch {
	case engine.CodeOf(err) == engine.NotInitialised:
		return finding{} // nobody must have pipelines
	case err != nil:
		f := explain(err)
		return bad(f.Message, "ferrus pipeline validate says which")
	}
	return fine(path + " has " + count(len(all), "pipeline", "pipelines"))
}
