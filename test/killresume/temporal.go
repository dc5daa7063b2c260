//go:build linux

package main

import (
	_ "embed" // the worker
	"path/filepath"
	"strconv"
	"strings"
)

//go:embed temporal.go.txt
var worker string

// temporal is a server of Temporal with a worker: its agent is an activity, so it lives and dies with the worker.
var temporal = adapter{
	name: "temporal",
	about: "Temporal CLI 1.5.1, `server start-dev --db-filename`, with a worker in Go (SDK 1.37.0): a workflow per task, an activity per line, " +
		"`StartToCloseTimeout` 2 s, the default policy of retries",
	without: langGraph.without,
	prepare: langGraph.prepare,
	mains: func(w *world) []*service {
		return []*service{
			w.service(filepath.Join(w.pack, "worker"), w.exe, string(w.record), "127.0.0.1:"+strconv.Itoa(w.port), w.beside("tasks"),
				strconv.Itoa(lines), strconv.FormatInt(think.Milliseconds(), 10)),
			w.service(filepath.Join(w.pack, "temporal"), "server", "start-dev", "--headless", "--log-level", "error",
				"--port", strconv.Itoa(w.port), "--db-filename", w.beside("temporal.db")),
		}
	},
	states: langGraph.states,
	help:   langGraph.help,
	class: func(line string) string {
		switch program, _, _ := strings.Cut(line, " "); {
		case filepath.Base(program) == "temporal":
			return servers
		case filepath.Base(program) == "worker":
			return conductors
		case strings.Contains(line, " finish "):
			return checks
		}
		return ""
	},
}
