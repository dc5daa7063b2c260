//go:build linux

package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// loop is the plain loop of a shell that starts an agent until nothing is left to do. The tasks are a list in a file of the repository,
// and the agent ticks them off.
var loop = over(adapter{
	name:  "loop",
	about: "`until agent says COMPLETE`; the agent takes a task of `TODO.md`, checks, ticks it off and commits",
	prepare: func(ctx context.Context, w *world) error {
		var list strings.Builder
		for task := 1; task <= w.tasks; task++ {
			fmt.Fprintf(&list, "- [ ] %s\n", text(task))
		}
		return os.WriteFile(filepath.Join(w.dir, "TODO.md"), []byte(list.String()), 0o644)
	},
	states: func(_ context.Context, w *world) (map[int]state, error) {
		list, err := os.ReadFile(filepath.Join(w.dir, "TODO.md"))
		all := map[int]state{}
		for task := 1; task <= w.tasks; task++ {
			if strings.Contains(string(list), "- [x] "+text(task)+"\n") {
				all[task] = done
			}
		}
		return all, err
	},
}, "ralph", "")

// over adds what all loops have in common. The agent acts by a tracker; the program of the tracker, if it has one, stores the tasks, so it is
// killed as a server.
func over(a adapter, act, program string) adapter {
	prepare := a.prepare
	a.prepare = func(ctx context.Context, w *world) error {
		if err := prepare(ctx, w); err != nil {
			return err
		}
		_, err := w.run(ctx, "sh", "-c", commits, "the tasks")
		return err
	}
	a.mains = func(w *world) []*service {
		return []*service{w.service("sh", "-c", `until [ "$("$0" "$1" "$2")" = `+complete+` ]; do :; done`, w.exe, act, string(w.record))}
	}
	a.help = func(context.Context, *world, int) error { return nil }
	a.class = func(line string) string {
		switch first, _, _ := strings.Cut(line, " "); {
		case strings.HasPrefix(line, "sh -c until"):
			return conductors
		case strings.Contains(line, " "+act+" "):
			return agents
		case program != "" && (filepath.Base(first) == program || filepath.Base(first) == "node" && strings.Contains(line, "/"+program+" ")):
			return servers
		}
		return ""
	}
	return a
}

// takeTodo takes the first open task of TODO.md.
func takeTodo() (id, text string, err error) {
	todo, err := os.ReadFile("TODO.md")
	_, rest, _ := strings.Cut(string(todo), "- [ ] ")
	line, _, _ := strings.Cut(rest, "\n")
	return line, line, err
}

func tickTodo(line string) error {
	todo, err := os.ReadFile("TODO.md")
	if err != nil {
		return err
	}
	ticked := strings.Replace(string(todo), "- [ ] "+line+"\n", "- [x] "+line+"\n", 1)
	return os.WriteFile("TODO.md", []byte(ticked), 0o644)
}
