package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// A peer is another MCP server that keeps tasks in a project's files, of a fixed version, as npm has it.
type peer struct {
	Package, Version string
	Size             string // of an installation that is not small; only -all-peers makes it
	Program          string // among the programs of the package
	Args, Env        []string
	// New makes a project with that many items, numbered from 1. run runs a program of the package.
	New                  func(dir string, items int, run func(program string, args ...string) error) error
	Look                 func(dir string) call
	Create, Update, Done func(dir string, item int) call
	Made, Updated        func(item int) string // what Kept has of an item that was created, or updated
	Says                 string                // what the result of a write has in it when all went well
	Kept                 func(dir string) (string, error)
}

var peers = []peer{
	{
		Package: "backlog.md", Version: "1.52.0", Program: "backlog", Args: []string{"mcp", "start"},
		New:  newBacklog,
		Look: func(string) call { return call{Tool: "task_list"} },
		Create: func(_ string, item int) call {
			return call{"task_create", object{"title": made(item), "description": task}}
		},
		Update: func(_ string, item int) call {
			return call{"task_edit", object{"id": fmt.Sprint("TASK-", item), "notesAppend": []string{mark(item)}}}
		},
		Done: func(_ string, item int) call {
			return call{"task_edit", object{"id": fmt.Sprint("TASK-", item), "status": "Done", "finalSummary": summary}}
		},
		Made:    made,
		Updated: mark,
		Says:    "Task TASK-",
		Kept:    texts("backlog/tasks/*.md"),
	},
	{
		Package: "task-master-ai", Version: "0.43.1", Size: "1.4 GB", Program: "task-master-mcp",
		Env: []string{
			"TASK_MASTER_TOOLS=standard", // the default has no way to create a task without a model of its own
			// With telemetry off it says so on stdout, where a strict client expects messages alone.
			"NODE_OPTIONS=--import=data:text/javascript,console.log=console.error",
		},
		New:  newTaskMaster,
		Look: func(dir string) call { return call{"get_tasks", object{"projectRoot": dir}} },
		Create: func(dir string, item int) call {
			return call{"add_task", object{"projectRoot": dir, "title": made(item), "description": task}}
		},
		Update:  func(dir string, item int) call { return taskStatus(dir, item, "in-progress") },
		Done:    func(dir string, item int) call { return taskStatus(dir, item, "done") },
		Made:    made,
		Updated: func(item int) string { return fmt.Sprintf("task %d in-progress\n", item) },
		Says:    "Successfully",
		Kept:    keptTaskMaster,
	},
}

type object = map[string]any

// made is the title of an item that is created.
func made(item int) string { return fmt.Sprintf("made %d.", item) }

func newBacklog(dir string, items int, run func(string, ...string) error) error {
	// There is no network to look at remote branches in.
	if err := run("backlog", "init", "bench", "--defaults", "--include-remote", "false", "--agent-instructions", "none"); err != nil {
		return err
	}
	var errs error
	for i := 1; i <= items; i++ {
		text := fmt.Sprintf("---\nid: TASK-%d\ntitle: Given %d\nstatus: To Do\nassignee: []\ncreated_date: '2026-01-01 00:00'\nlabels: []\ndependencies: []\nordinal: %d\n---\n", i, i, i*1000)
		errs = errors.Join(errs, os.WriteFile(filepath.Join(dir, "backlog", "tasks", fmt.Sprintf("task-%d - Given-%d.md", i, i)), []byte(text), 0o600))
	}
	return errs
}

func taskStatus(dir string, item int, status string) call {
	return call{"set_task_status", object{"projectRoot": dir, "id": fmt.Sprint(item), "status": status}}
}

type taskMasterFile map[string]struct {
	Tasks    []taskMasterTask `json:"tasks"`
	Metadata object           `json:"metadata"`
}

type taskMasterTask struct {
	ID           any    `json:"id"`
	Title        string `json:"title"`
	Description  string `json:"description"`
	Status       string `json:"status"`
	Priority     string `json:"priority"`
	Dependencies []any  `json:"dependencies"`
	Subtasks     []any  `json:"subtasks"`
}

const tasksFile = ".taskmaster/tasks/tasks.json"

func newTaskMaster(dir string, items int, _ func(string, ...string) error) error {
	list := make([]taskMasterTask, items)
	for i := range list {
		list[i] = taskMasterTask{i + 1, fmt.Sprint("Given ", i+1), "Given.", "pending", "medium", []any{}, []any{}}
	}
	err := os.MkdirAll(filepath.Join(dir, ".taskmaster", "tasks"), 0o700)
	for name, v := range map[string]object{
		tasksFile: {"master": object{"tasks": list, "metadata": object{"created": "2026-01-01T00:00:00.000Z"}}},
		// Without this file its server prints a warning to stdout.
		".taskmaster/config.json": {"global": object{"anonymousTelemetry": false}},
	} {
		text, jsonErr := json.Marshal(v)
		err = errors.Join(err, jsonErr, os.WriteFile(filepath.Join(dir, name), text, 0o600))
	}
	return err
}

// keptTaskMaster has each task's title and status in a line.
func keptTaskMaster(dir string) (string, error) {
	var file taskMasterFile
	text, err := os.ReadFile(filepath.Join(dir, tasksFile))
	if err == nil {
		err = json.Unmarshal(text, &file)
	}
	var all strings.Builder
	for _, t := range file["master"].Tasks {
		fmt.Fprintf(&all, "%s\ntask %v %s\n", t.Title, t.ID, t.Status)
	}
	return all.String(), err
}

// name is how a peer is called in the table.
func (p peer) name() string { return p.Package + " " + p.Version }

// home is where a peer is installed below dir.
func (p peer) home(dir string) string { return filepath.Join(dir, p.Package+"-"+p.Version) }

func (p peer) program(dir, name string) string {
	return filepath.Join(p.home(dir), "node_modules", ".bin", name)
}

// install installs a peer with npm, unless it is there.
func (p peer) install(ctx context.Context, dir string) error {
	if _, err := os.Stat(p.program(dir, p.Program)); err == nil {
		return nil
	}
	home := p.home(dir)
	if err := os.MkdirAll(home, 0o755); err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "bench: npm installs %s into %s\n", p.name(), home)
	_, err := output(ctx, home, "npm", "install", "--prefix", home, "--no-audit", "--no-fund", "--ignore-scripts", p.Package+"@"+p.Version)
	return err
}

// system is the peer as it is installed below dir. Its processes see no home but their own, and no network.
func (p peer) system(dir, home string) system {
	env := append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "TMPDIR=" + home, "XDG_CONFIG_HOME=" + home, "XDG_CACHE_HOME=" + home,
		"XDG_DATA_HOME=" + home, "XDG_STATE_HOME=" + home, "GIT_CONFIG_NOSYSTEM=1", "DO_NOT_TRACK=1", "CI=1", "NO_COLOR=1"}, p.Env...)
	at := func(project, program string, args ...string) *exec.Cmd {
		cmd := exec.Command(p.program(dir, program), args...)
		cmd.Dir, cmd.Env, cmd.SysProcAttr = project, env, offline
		return cmd
	}
	mark := func(c func(string, int) call, mark func(int) string) writes {
		return func(project string, item int) (call, string) { return c(project, item), mark(item) }
	}
	return system{
		Name: p.name(),
		New: func(ctx context.Context, project string, items int) error {
			if err := repository(ctx, project); err != nil {
				return err
			}
			return p.New(project, items, func(program string, args ...string) error {
				if out, err := at(project, program, args...).CombinedOutput(); err != nil {
					return fmt.Errorf("%s %s: %w: %s", program, strings.Join(args, " "), err, out)
				}
				return nil
			})
		},
		Server: func(project string) *exec.Cmd { return at(project, p.Program, p.Args...) },
		Look:   p.Look,
		Kinds:  map[string]writes{"update": mark(p.Update, p.Updated), "create": mark(p.Create, p.Made)},
		Says:   p.Says,
		Kept:   p.Kept,
		Flow:   func(project string) []call { return []call{p.Create(project, 1), p.Done(project, 1)} },
	}
}
