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
var loop = adapter{
	name:  "loop",
	about: "`while grep -q open TODO.md; do agent; done`; the agent takes a task, checks, ticks it off and commits",
	prepare: func(ctx context.Context, w *world) error {
		var list strings.Builder
		for task := 1; task <= w.tasks; task++ {
			fmt.Fprintf(&list, "- [ ] %s\n", text(task))
		}
		if err := os.WriteFile(filepath.Join(w.dir, "TODO.md"), []byte(list.String()), 0o644); err != nil {
			return err
		}
		_, err := w.run(ctx, "sh", "-c", "git add -A && git commit -qm 'the tasks'")
		return err
	},
	mains: func(w *world) []*service {
		script := `while grep -q '^- \[ \]' TODO.md; do "$0" ralph "$1"; done`
		return []*service{{dir: w.dir, home: w.home(), args: []string{"sh", "-c", script, w.exe, string(w.record)}}}
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
	help: func(context.Context, *world, int) error { return nil },
	class: func(line string) string {
		switch {
		case strings.Contains(line, " ralph "):
			return agents
		case strings.HasPrefix(line, "sh -c while"):
			return conductors
		}
		return ""
	},
}
