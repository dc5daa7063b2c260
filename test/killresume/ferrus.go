//go:build linux

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// ferrus is ferrus in files: one run works on two tasks at a time, a reviewer approves, and approved work is merged.
var ferrus = adapter{
	name:  "ferrus",
	about: "`ferrus run --parallel 2 --headless`; tasks in the queue, a work tree each, checks, a reviewer, `on_approve = \"merge\"`",
	prepare: func(ctx context.Context, w *world) error {
		agent := func(act string) string { return fmt.Sprintf("%s/scripted %s %s %s", w.bin, w.exe, act, w.record) }
		config := fmt.Sprintf("[checks]\ncommands = [%q]\n\n[branches]\non_approve = \"merge\"\n\n[hq.executor]\nagent = \"command\"\ncommand = %q\n\n"+
			"[hq.supervisor]\nagent = \"command\"\ncommand = %q\n", w.exe+" check "+string(w.record), agent("work"), agent("review"))
		if err := os.WriteFile(filepath.Join(w.dir, "ferrus.toml"), []byte(config), 0o644); err != nil {
			return err
		}
		if _, err := w.ferrus(ctx, "init", "--yes"); err != nil {
			return err
		}
		shown, err := w.ferrus(ctx, "trust", "--show", "--json")
		if err != nil {
			return err
		}
		var values struct{ Digest string }
		if err := json.Unmarshal(shown, &values); err != nil {
			return err
		}
		if _, err := w.ferrus(ctx, "trust", "--digest", values.Digest); err != nil {
			return err
		}
		for task := 1; task <= w.tasks; task++ {
			if _, err := w.ferrus(ctx, "queue", text(task), "--name", branch(task)); err != nil {
				return err
			}
		}
		return nil
	},
	main: func(w *world) *exec.Cmd {
		return exec.Command(filepath.Join(w.bin, "ferrus"), "run", "--parallel", "2", "--headless", "--unrehearsed")
	},
	states: func(ctx context.Context, w *world) (map[int]state, error) {
		shown, err := w.ferrus(ctx, "status", "--all", "--json")
		if err != nil {
			return nil, err
		}
		var all struct {
			Needs    []need `json:"needs_you"`
			Machines []struct {
				Branch, State string
				Merged        bool
			}
		}
		if err := json.Unmarshal(shown, &all); err != nil {
			return nil, err
		}
		states := map[int]state{}
		for _, m := range all.Machines {
			task, _ := strconv.Atoi(strings.TrimPrefix(m.Branch, "t"))
			switch {
			case m.State == "Complete" && m.Merged:
				states[task] = done
			case m.State == "Failed":
				states[task] = failed
			}
		}
		for _, need := range all.Needs {
			task, _ := strconv.Atoi(strings.TrimPrefix(need.Branch, "t"))
			if states[task] == waiting && !slices.Contains(ofRun, need.Kind) {
				states[task] = asking
			}
		}
		return states, nil
	},
	help: func(ctx context.Context, w *world, task int) error {
		shown, err := w.ferrus(ctx, "status", "--all", "--json")
		if err != nil {
			return err
		}
		var all struct {
			Needs []need `json:"needs_you"`
		}
		if err := json.Unmarshal(shown, &all); err != nil {
			return err
		}
		for _, need := range all.Needs {
			if need.Branch == branch(task) {
				_, err := w.run(ctx, "sh", "-c", "PATH=$0:$PATH; "+need.Command, w.bin)
				return err
			}
		}
		return nil
	},
	class: func(line string) string {
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
			case strings.HasPrefix(rest, "run "):
				return conductors
			case strings.HasPrefix(rest, "serve"):
				return servers
			}
		}
		return ""
	},
}

// A need is what ferrus asks a person for, with the command that helps.
type need struct{ Kind, Branch, Command string }

// ofRun are needs for what the main program does by itself when it runs again.
var ofRun = []string{"merge", "review", "stopped"}

// branch is the name of a task.
func branch(task int) string { return "t" + strconv.Itoa(task) }

// ferrus runs a command of ferrus in the project.
func (w *world) ferrus(ctx context.Context, args ...string) ([]byte, error) {
	return w.run(ctx, filepath.Join(w.bin, "ferrus"), args...)
}
