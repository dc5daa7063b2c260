package stack

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/ferrus-go/ferrus/internal/agents"
	"github.com/ferrus-go/ferrus/internal/agents/process"
	"github.com/ferrus-go/ferrus/internal/config/workflow"
	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/pipeline/run"
	"github.com/ferrus-go/ferrus/internal/platform/safetext"
	"github.com/ferrus-go/ferrus/internal/tools/gate"
)

// Folders opens the runs of the project's pipelines, active and archived. One that cannot be opened
// is left out.
func Folders(e *engine.Engine) ([]*run.Folder, error) {
	conf, err := e.Config()
	if err != nil {
		return nil, err
	}
	at := run.At(e.Place().Root, conf.Pipelines)
	active, err := at.Names()
	if err != nil {
		return nil, err
	}
	archived, err := at.Archived()
	if err != nil {
		return nil, err
	}
	var all []*run.Folder
	for _, name := range append(archived, active...) {
		if f, err := at.Open(name); err == nil {
			all = append(all, f)
		}
	}
	return all, nil
}

// pipelines returns the records of the workers of all runs.
func pipelines(e *engine.Engine) (Records, error) {
	folders, err := Folders(e)
	if err != nil {
		return nil, err
	}
	var list Records
	for _, f := range folders {
		more, err := workers(f)
		if err != nil {
			return list, err
		}
		list = append(list, more...)
	}
	return list, nil
}

// workers returns the records of all attempts in a run.
func workers(f *run.Folder) (Records, error) {
	calls, err := gate.ReadLog(f.Path("logs"))
	if err != nil {
		return nil, err
	}
	var list Records
	for _, p := range f.Workflow.Phases {
		for _, k := range p.Workers {
			runs, err := f.Runs(k.Role)
			if err != nil {
				return nil, err
			}
			told, err := f.Prompt(k.Role)
			if err != nil {
				return nil, err
			}
			for _, r := range runs {
				list = append(list, worker(f, k, r, told, calls))
			}
		}
	}
	return list, nil
}

// worker returns the records of one attempt.
func worker(f *run.Folder, k workflow.Worker, r process.Run, told string, calls []gate.LoggedCall) *Facts {
	number := strings.TrimPrefix(r.Name, k.Role+"-")
	a := factsOf(r, f.Name(), fmt.Sprintf("%s:%s:%s", k.Role, r.Agent, number))
	a.Told, a.Done = safetext.Clean(told), r.Over() && r.Exit == 0
	if r.Agent == agents.CommandWorker {
		a.Command, a.Told = safetext.Clean(k.Run), k.Role
	}
	for _, c := range calls {
		if c.Worker == k.Role && fmt.Sprint(c.Attempt) == number {
			a.Calls = append(a.Calls, c)
		}
	}
	log := f.Path("logs", filepath.Base(r.Log)) // the folder may have been moved
	a.read = func() ([]agents.Note, error) { return notes(r.Agent, log) }
	return a
}
