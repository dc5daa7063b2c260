package web

import (
	"errors"
	"io/fs"
	"net/http"
	"time"

	"github.com/ferrus-go/ferrus/internal/platform/format"
	"github.com/ferrus-go/ferrus/internal/platform/rootfs"
	"github.com/ferrus-go/ferrus/internal/platform/safetext"
	"github.com/ferrus-go/ferrus/internal/status"
)

// A pipelineRun is the page of a run of a pipeline.
type pipelineRun struct {
	*status.RunStatus
	Place   string
	Wait    string
	Acts    []status.Act
	Outputs []output
	Graph   graph
}

// An output is what a worker has written.
type output struct {
	Role, Name, Text string
	Cut              bool
}

// maxOutput is how much of an output a page shows.
const maxOutput = 64 << 10

// readRun reads a run that is active or archived.
func (s *Site) readRun(name string) (*status.RunStatus, error) {
	if !isFile(name) {
		return nil, errNotFound
	}
	e, err := s.open("")
	if err != nil {
		return nil, err
	}
	defer e.Close()
	r, err := status.ReadRunNamed(e, name, time.Now())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errNotFound
	}
	return r, err
}

func (s *Site) run(w http.ResponseWriter, r *http.Request) error {
	l, err := s.readRun(r.PathValue("run"))
	if err != nil {
		return err
	}
	p := s.page(r, format.Line(l.Topic))
	p.Live = s.base + "/events?run=" + l.Run
	v := pipelineRun{RunStatus: l, Place: runPlace + l.Run, Wait: l.WaitText(time.Now()), Acts: l.Acts(), Graph: drawn(l)}
	root, err := rootfs.Open(l.Dir)
	if err != nil {
		return err
	}
	defer root.Close()
	for _, phase := range l.Status.Phases {
		for _, k := range phase.Workers {
			if k.Output == "" {
				continue
			}
			o := output{Role: k.Role, Name: k.Output}
			text, err := root.ReadFile(k.Output, 16<<20)
			if err != nil {
				continue // it is not written yet, or the table of workers says what became of it
			}
			if o.Cut = len(text) > maxOutput; o.Cut {
				text = text[:maxOutput]
			}
			o.Text = safetext.Mark(string(text))
			v.Outputs = append(v.Outputs, o)
		}
	}
	p.Data = v
	return s.show(w, http.StatusOK, "run", p)
}
