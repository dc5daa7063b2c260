//go:build linux

package main

import (
	"context"
	_ "embed" // the graph
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

//go:embed langgraph.cjs
var graph string

var saidDone = regexp.MustCompile(`(?m)^done (\d+)$`)

// langGraph is a program of LangGraph: its agent is a function of the graph, so it lives and dies with the program.
var langGraph = adapter{
	name: "langgraph",
	about: "LangGraph JS 1.7.3 with SqliteSaver 1.0.4: a thread per task, a node per line, one that checks and commits; `durability: \"sync\"`, " +
		"`retryPolicy`, and `invoke(null)` to resume",
	without: []string{"two agents at one task"},
	prepare: func(_ context.Context, w *world) error {
		var list strings.Builder
		for task := 1; task <= w.tasks; task++ {
			fmt.Fprintf(&list, "%d\t%s\n", task, text(task))
		}
		return os.WriteFile(w.beside("tasks"), []byte(list.String()), 0o644)
	},
	mains: func(w *world) []*service {
		return []*service{w.service("node", "-e", graph, w.exe, string(w.record), w.beside("checkpoints.db"), w.beside("tasks"),
			strconv.Itoa(lines), strconv.FormatInt(think.Milliseconds(), 10))}
	},
	states: func(_ context.Context, w *world) (map[int]state, error) { return w.printed() },
	help:   func(context.Context, *world, int) error { return nil },
	class: func(line string) string {
		switch program, _, _ := strings.Cut(line, " "); {
		case filepath.Base(program) == "node":
			return conductors
		case strings.Contains(line, " finish "):
			return checks
		}
		return ""
	},
}

// beside is a file of a system that is not in the project.
func (w *world) beside(name string) string { return filepath.Join(filepath.Dir(w.dir), name) }

// printed are the tasks that the main program has printed to be done.
func (w *world) printed() (map[int]state, error) {
	log, err := os.ReadFile(filepath.Join(string(w.record), "main.log"))
	all := map[int]state{}
	for _, m := range saidDone.FindAllSubmatch(log, -1) {
		task, _ := strconv.Atoi(string(m[1]))
		all[task] = done
	}
	return all, err
}
