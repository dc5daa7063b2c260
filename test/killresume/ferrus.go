//go:build linux

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/ferrus-go/ferrus/test/postgrestest"
)

// ferrus is ferrus in files: one run works on two tasks at a time, a reviewer approves, and approved work is merged.
var ferrus = adapter{
	name:    "ferrus",
	about:   "`ferrus run --parallel 2 --headless`; tasks in the queue, a work tree each, checks, a reviewer, `on_approve = \"merge\"`",
	prepare: inFiles((*world).scripted, "[lease]\nttl_secs = 6\nheartbeat_interval_secs = 2\nmax_silence_secs = 6\n"), // agents that hang are silent
	mains: func(w *world) []*service {
		run := w.service(filepath.Join(w.bin, "ferrus"), "run", "--parallel", "2", "--headless", "--unrehearsed")
		run.asks = 6
		return []*service{run}
	},
	states: func(ctx context.Context, w *world) (map[int]state, error) {
		return w.ferrusStates(ctx, func(m machine) bool { return m.State == "Complete" && m.Merged })
	},
	help:  helpFerrus,
	class: classOfFerrus,
}

// inFiles prepares a project in files, with these agents.
func inFiles(agents func(*world) string, lease string) func(context.Context, *world) error {
	return func(ctx context.Context, w *world) error {
		more := "[branches]\non_approve = \"merge\"\n\n" + lease
		if w.wild { // limits that agents exceed
			more += "\n[limits]\nmax_check_retries = 3\nmax_task_minutes = 1\n"
		}
		if err := w.configure(agents(w), more); err != nil {
			return err
		}
		if _, err := w.ferrus(ctx, "init", "--yes"); err != nil {
			return err
		}
		if err := w.trust(ctx, w.dir, w.home()); err != nil {
			return err
		}
		return w.enqueue(ctx)
	}
}

// ferrusOn is ferrus on some computers with a database: a node on each, and a git remote by which the files travel. What is approved is
// merged in the end, as a person does.
func ferrusOn(n int) adapter {
	home := func(w *world, i int) string { return filepath.Join(w.home(), fmt.Sprintf("computer-%d", i)) }
	dir := func(w *world, i int) string {
		if i == 0 {
			return w.dir
		}
		return filepath.Join(home(w, i), "project")
	}
	return adapter{
		name:  fmt.Sprintf("ferrus-%d", n),
		about: fmt.Sprintf("`ferrus node --max 2` on %d computers, PostgreSQL, `[store] trees`; checks and a reviewer; the person merges in the end", n),
		prepare: func(ctx context.Context, w *world) error {
			database, err := postgrestest.NewDatabase()
			if err != nil {
				return err
			}
			remote := filepath.Join(w.home(), "remote.git")
			if err := w.configure(w.scripted(), ""); err != nil {
				return err
			}
			for i := range n {
				config := filepath.Join(home(w, i), ".config", "ferrus")
				if err := os.MkdirAll(config, 0o700); err != nil {
					return err
				}
				if err := os.WriteFile(filepath.Join(config, "config.toml"), fmt.Appendf(nil, "[store]\ntrees = %q\n", remote), 0o600); err != nil {
					return err
				}
				do := func(args ...string) error {
					_, err := w.runIn(ctx, dir(w, i), home(w, i), args[0], args[1:]...)
					return err
				}
				program := filepath.Join(w.bin, "ferrus")
				if i == 0 {
					err = errors.Join(do(program, "init", "--yes"), do("git", "add", "-A"), do("git", "commit", "-qm", "ferrus"),
						do("git", "init", "-q", "--bare", "-b", "main", remote), do("git", "push", "-q", remote, "main"), w.trust(ctx, dir(w, i), home(w, i)), do(program, "store", "move", database))
				} else if _, err = w.run(ctx, "git", "clone", "-q", remote, dir(w, i)); err == nil {
					err = errors.Join(do(program, "store", "join", database, "--project", "project"), w.trust(ctx, dir(w, i), home(w, i)))
				}
				if err != nil {
					return err
				}
			}
			return w.enqueue(ctx)
		},
		mains: func(w *world) (all []*service) {
			for i := range n {
				all = append(all, &service{dir: dir(w, i), home: home(w, i), args: []string{filepath.Join(w.bin, "ferrus"), "node", "--max", "2"}})
			}
			return all
		},
		states: func(ctx context.Context, w *world) (map[int]state, error) {
			return w.ferrusStates(ctx, func(m machine) bool { return m.State == "Complete" })
		},
		help: helpFerrus,
		collect: func(ctx context.Context, w *world) error {
			for task := 1; task <= w.tasks; task++ {
				if w.states[task] != done {
					continue
				}
				for _, args := range [][]string{{"branch", "--fetch", branch(task)}, {"merge", branch(task)}} {
					if _, err := w.ferrus(ctx, args...); err != nil {
						return err
					}
				}
			}
			return nil
		},
		class: classOfFerrus,
	}
}

// configure writes the checks and the agents of the project.
func (w *world) configure(agents, more string) error {
	config := fmt.Sprintf("[checks]\ncommands = [%q]\n\n%s\n%s", w.exe+" check "+string(w.record), agents, more)
	return os.WriteFile(filepath.Join(w.dir, "ferrus.toml"), []byte(config), 0o644)
}

// scripted are the agents that are scripts.
func (w *world) scripted() string {
	agent := func(act string) string { return fmt.Sprintf("%s/scripted %s %s %s", w.bin, w.exe, act, w.record) }
	return fmt.Sprintf("[hq.executor]\nagent = \"command\"\ncommand = %q\n\n[hq.supervisor]\nagent = \"command\"\ncommand = %q\n", agent("work"), agent("review"))
}

// trust agrees to what the project makes run, on one computer.
func (w *world) trust(ctx context.Context, dir, home string) error {
	program := filepath.Join(w.bin, "ferrus")
	shown, err := w.runIn(ctx, dir, home, program, "trust", "--show", "--json")
	if err != nil {
		return err
	}
	var values struct{ Digest string }
	if err := json.Unmarshal(shown, &values); err != nil {
		return err
	}
	_, err = w.runIn(ctx, dir, home, program, "trust", "--digest", values.Digest)
	return err
}

// enqueue adds the tasks.
func (w *world) enqueue(ctx context.Context) error {
	for task := 1; task <= w.tasks; task++ {
		if _, err := w.ferrus(ctx, "queue", text(task), "--name", branch(task)); err != nil {
			return err
		}
	}
	return nil
}

// A machine is a task in a status of ferrus.
type machine struct {
	Branch, State string
	Merged        bool
}

// A need is what ferrus asks a person for, with the command that helps.
type need struct{ Kind, Branch, Command string }

// ofRun are needs for what the main program does by itself when it runs again, and for the merge in the end.
var ofRun = []string{"merge", "review", "stopped"}

// shown is what ferrus says of all tasks.
type shown struct {
	Needs    []need `json:"needs_you"`
	Machines []machine
}

func (w *world) status(ctx context.Context) (all shown, err error) {
	out, err := w.ferrus(ctx, "status", "--all", "--json")
	if err != nil {
		return all, err
	}
	return all, json.Unmarshal(out, &all)
}

func (w *world) ferrusStates(ctx context.Context, over func(machine) bool) (map[int]state, error) {
	all, err := w.status(ctx)
	if err != nil {
		return nil, err
	}
	states := map[int]state{}
	for _, m := range all.Machines {
		switch {
		case over(m):
			states[taskOn(m.Branch)] = done
		case m.State == "Failed":
			states[taskOn(m.Branch)] = failed
		}
	}
	for _, need := range all.Needs {
		if task := taskOn(need.Branch); states[task] == waiting && !slices.Contains(ofRun, need.Kind) {
			states[task] = asking
		}
	}
	return states, nil
}

// helpFerrus runs the command that ferrus names.
func helpFerrus(ctx context.Context, w *world, task int) error {
	all, err := w.status(ctx)
	if err != nil {
		return err
	}
	for _, need := range all.Needs {
		if task > 0 && need.Branch == branch(task) {
			_, err := w.run(ctx, "sh", "-c", "PATH=$0:$PATH; "+need.Command, w.bin)
			return err
		}
	}
	return nil
}

func classOfFerrus(line string) string {
	program, rest, _ := strings.Cut(line, " ")
	switch filepath.Base(program) {
	case "ferrusd":
		return servers
	case "scripted":
		return agents
	case "killresume":
		if strings.HasPrefix(rest, "check ") {
			return checks
		}
	case "ferrus":
		switch {
		case strings.HasPrefix(rest, "run "), strings.HasPrefix(rest, "node "):
			return conductors
		case strings.HasPrefix(rest, "serve"):
			return servers
		}
	}
	return ""
}

// branch is the name of a task.
func branch(task int) string { return "t" + strconv.Itoa(task) }

// taskOn is the task of a branch; 0 for another one.
func taskOn(branch string) int {
	task, _ := strconv.Atoi(strings.TrimPrefix(branch, "t"))
	return task
}

// ferrus runs a command of ferrus in the project, on the first computer.
func (w *world) ferrus(ctx context.Context, args ...string) ([]byte, error) {
	return w.run(ctx, filepath.Join(w.bin, "ferrus"), args...)
}
