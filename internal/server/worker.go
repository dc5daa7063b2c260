package server

import (
	"flag"
	"log/slog"
	"path/filepath"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/tools/worker"
)

// workerRole is the role of a pipeline's worker. It has a run instead of a machine.
const workerRole state.Role = "worker"

// A Worker names the worker that a server is for.
type Worker struct {
	Run     string // absolute path of the folder of its run
	Name    string // its role in the pipeline
	Attempt int    // number of the attempt, from 1
}

func (w *Worker) flags(fs *flag.FlagSet) {
	fs.StringVar(&w.Run, "run", "", "`DIR` of the run that a worker works in")
	fs.StringVar(&w.Name, "worker", "", "`NAME` of the worker in its pipeline")
	fs.IntVar(&w.Attempt, "attempt", 1, "`N` of the worker's attempt, from 1")
}

// check makes the path of the run absolute. It returns what is wrong with the flags, "" if nothing
// is.
func (w *Worker) check(role state.Role, fs *flag.FlagSet) string {
	given := map[string]bool{}
	fs.Visit(func(f *flag.Flag) { given[f.Name] = true })
	if role != workerRole {
		for _, name := range []string{"run", "worker", "attempt"} {
			if given[name] {
				return "--" + name + " belongs to --role worker, which ferrus pipeline starts; leave it out"
			}
		}
		return ""
	}
	for _, name := range []string{"root", "branch", "agent-index"} {
		if given[name] {
			return "--" + name + ": a worker has --run, --worker and --attempt instead; leave it out"
		}
	}
	switch {
	case w.Run == "" || w.Name == "":
		return "--role worker needs --run DIR and --worker NAME; ferrus pipeline starts it with both"
	case !agentName.MatchString(w.Name):
		return "--worker is a role of the pipeline: letters, digits, dash and underscore only"
	case w.Attempt < 1:
		return "--attempt counts from 1"
	}
	path, err := filepath.Abs(w.Run)
	if err != nil {
		return "--run: " + err.Error()
	}
	w.Run = path
	return ""
}

// workerServer creates the server of a worker.
func (c Config) workerServer(log *slog.Logger) *mcp.Server {
	return worker.NewServer(worker.Options{Run: c.Worker.Run, Worker: c.Worker.Name, Attempt: c.Worker.Attempt, Wait: c.Wait, Version: Version(), Log: log})
}
