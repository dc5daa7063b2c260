package ui

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/ferrus-go/ferrus/internal/agents"
	"github.com/ferrus-go/ferrus/internal/agents/process"
	"github.com/ferrus-go/ferrus/internal/cli"
	"github.com/ferrus-go/ferrus/internal/conductor"
	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/platform/rootfs"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/status"
	"github.com/ferrus-go/ferrus/internal/status/review"
	"github.com/ferrus-go/ferrus/internal/ui/terminal"
)

// A reader reads a project for a screen.
type reader struct {
	app     *cli.App
	root    string
	changes *project.Watcher // ends with the process
	may     func() error     // why nothing may be done in it
	reviews *review.Reader

	mu       sync.Mutex
	rejected review.Draft // of the newest rejection, for its undo
}

func newReader(a *cli.App, root string) *reader {
	return &reader{app: a, root: root, changes: project.NewWatcher(root), may: func() error { return nil },
		reviews: review.NewReader(filepath.Join(root, project.DirName))}
}

// Changed returns when something may have changed.
func (r *reader) Changed(ctx context.Context) error {
	_, err := r.changes.Changed(ctx)
	return err
}

// at opens the machine of a key for reading. The caller closes it.
func (r *reader) at(key terminal.Key) (*engine.Engine, error) {
	return r.app.OpenToReadAt(project.At(r.root, key.Name))
}

// Overview reads the project at a glance.
func (r *reader) Overview(ctx context.Context, quickly bool) (*status.Overview, error) {
	return status.ReadOverview(ctx, r.root, status.Options{Open: r.app.OpenToReadAt, Newest: newest, Sizes: !quickly, Today: !quickly})
}

const (
	newest  = 20  // archived tasks that are shown
	entries = 500 // of a journal that are shown
)

// Detail reads one item.
func (r *reader) Detail(ctx context.Context, key terminal.Key) (*terminal.Detail, error) {
	switch key.Kind {
	case terminal.Task:
		e, err := r.at(key)
		if err != nil {
			return nil, err
		}
		defer e.Close()
		task, err := r.task(ctx, e)
		return &terminal.Detail{Task: task}, err
	case terminal.Pipeline:
		l, err := r.run(key.Name)
		return &terminal.Detail{Run: l}, err
	case terminal.Queued:
		return r.queued(key.Name), nil
	}
	return &terminal.Detail{Text: r.past(ctx, key.Name)}, nil
}

// run reads a run of a pipeline.
func (r *reader) run(name string) (*status.RunStatus, error) {
	e, err := r.at(terminal.Key{})
	if err != nil {
		return nil, err
	}
	defer e.Close()
	return status.ReadRunNamed(e, name, time.Now())
}

// queued is what is known of a task that waits in the queue.
func (r *reader) queued(name string) *terminal.Detail {
	e, err := r.at(terminal.Key{})
	if err == nil {
		defer e.Close()
	}
	list := status.Queue(project.At(r.root, "").Dir(), e)
	for _, q := range list {
		if q.Name != name {
			continue
		}
		text := q.Title + "\n\nIt waits in the queue. It becomes the branch " + name + " when branches and queue are run."
		if q.Waits != "" {
			text += "\n\nNow: " + q.Waits + "."
		}
		for _, s := range q.Steps() {
			text += "\n" + s.Command + "  " + s.Why
		}
		if g := status.GraphOf(list); g.Arrows() {
			text += "\n\n" + g.Text()
		}
		return &terminal.Detail{Text: text, Can: q.Acts()}
	}
	return &terminal.Detail{Text: "It is no longer in the queue."}
}

// past is what is known of a task that is over.
func (r *reader) past(ctx context.Context, id string) string {
	o, err := status.ReadOverview(ctx, r.root, status.Options{Open: r.app.OpenToReadAt, Newest: newest})
	if err != nil {
		return err.Error()
	}
	for _, t := range o.Archived {
		if t.TaskID == id {
			return t.Title + "\n\n" + t.Outcome() + ", " + t.At.Local().Format(time.DateTime) + "\n\nferrus log --all shows what happened."
		}
	}
	return "It is not among the newest archived tasks; ferrus status --all shows more."
}

// Diff reads what a task has changed.
func (r *reader) Diff(ctx context.Context, key terminal.Key) (string, error) {
	if key.Kind != terminal.Task {
		return "", nil
	}
	e, err := r.at(key)
	if err != nil {
		return "", err
	}
	defer e.Close()
	var text bytes.Buffer
	err = status.WriteDiff(ctx, e, "", &text)
	return text.String(), err
}

// Outputs reads what the newest agents of a task have printed.
func (r *reader) Outputs(_ context.Context, key terminal.Key) ([]terminal.Output, error) {
	if key.Kind != terminal.Task {
		return nil, nil
	}
	e, err := r.at(key)
	if err != nil {
		return nil, err
	}
	defer e.Close()
	now, err := e.View()
	if err != nil {
		return nil, err
	}
	runs, err := process.Runs(conductor.Runs(e, now.Task.TaskID))
	if err != nil {
		return nil, err
	}
	const most = 4
	var list []terminal.Output
	for i := len(runs) - 1; i >= max(0, len(runs)-most); i-- {
		one := runs[i]
		text, err := endOf(one.Log)
		if err != nil {
			return nil, err
		}
		list = append(list, terminal.Output{Name: one.Name, About: one.Agent, Live: !one.Over(), Lines: words(one.Agent, text)})
	}
	return list, nil
}

// outputTail is how many bytes of a log are read.
const outputTail = 64 << 10

// words are what the output of an agent says, a line each.
func words(agent string, text []byte) []string {
	in := agents.ReaderOf(agent)
	var lines []string
	for _, n := range append(in.Feed(text), in.End()...) {
		lines = append(lines, cmp.Or(string(n.Kind), "said")+"  "+n.Text)
	}
	return lines
}

// endOf reads the last bytes of a log.
func endOf(path string) ([]byte, error) {
	text, err := rootfs.ReadOwnTail(path, outputTail)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	return text, err
}

// CheckLog reads the end of the log of the newest check.
func (r *reader) CheckLog(_ context.Context, key terminal.Key) (string, error) {
	if key.Kind != terminal.Task {
		return "", nil
	}
	e, err := r.at(key)
	if err != nil {
		return "", err
	}
	defer e.Close()
	report, err := status.Read(e)
	if err != nil || report.Check == nil || report.Check.Log == "" {
		return "", err
	}
	text, err := endOf(report.Check.Log)
	return string(text), err
}

// Do carries out an act that is still among those of its item or of the project.
func (r *reader) Do(ctx context.Context, key terminal.Key, shown status.Act, values map[string]string) (status.Outcome, error) {
	if err := r.may(); err != nil {
		return r.app.Outcome(err), nil
	}
	list, err := r.acts(ctx, key)
	if err != nil {
		return status.Outcome{}, err
	}
	what, err := status.FindAct(list, shown)
	var done status.Outcome
	if err == nil {
		done, err = r.app.Do(ctx, r.root, "ui", what, values)
	}
	if err != nil {
		done = r.app.Outcome(err)
	}
	if what.Report != nil {
		done.Before = what.Report.Seq
	}
	if err == nil && !done.Failed() {
		r.settle(what)
	}
	return done, nil
}

// acts are those that a person can do now, with an item or with the project. The zero key is that of the project.
func (r *reader) acts(ctx context.Context, key terminal.Key) ([]status.Act, error) {
	if key != (terminal.Key{}) {
		d, err := r.Detail(ctx, key)
		return d.Acts(), err
	}
	e, err := r.at(key)
	if err != nil {
		return nil, err
	}
	defer e.Close()
	return status.ProjectActs(e)
}
