//go:build linux

package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/ferrus-go/ferrus/test/model"
)

// Real clients work behind a fixed model. It has the executor run the scripted agent in its shell, so that all systems are measured by the same
// events, and does otherwise what the tools of ferrus say. Nobody kills the model.

// ferrusClients is ferrus with Claude Code as the executor and Codex as the reviewer.
var ferrusClients = withClients(ferrus, adapter{
	name:  "ferrus+clients",
	about: "as ferrus, with Claude Code as the executor and Codex as the reviewer",
	prepare: func(ctx context.Context, w *world) error {
		codex := filepath.Join(w.home(), ".codex")
		if err := os.Mkdir(codex, 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(codex, "config.toml"), []byte(model.CodexConfig(w.url())), 0o600); err != nil {
			return err
		}
		return inFiles(func(*world) string {
			return "[hq.executor]\nagent = \"claude-code\"\n\n[hq.supervisor]\nagent = \"codex\"\n"
		}, "")(ctx, w)
	},
	mains: ferrus.mains,
})

// loopClaude is the plain loop with Claude Code, which asks it for one task after another.
var loopClaude = withClients(loop, adapter{
	name:    "loop+claude",
	about:   "`until claude -p says COMPLETE`; its model does what the agent of the loop does",
	prepare: loop.prepare,
	mains: func(w *world) []*service {
		const until = `until [ "$(claude -p "$0" --allowedTools Bash </dev/null)" = ` + complete + ` ]; do :; done`
		return []*service{w.service("sh", "-c", until, "Do the next task of TODO.md.")}
	},
})

// withClients is a system with real clients, as it is set up.
func withClients(system, a adapter) adapter {
	system.name, system.about, system.prepare, system.mains = a.name, a.about, a.prepare, a.mains
	class := system.class
	system.class = func(line string) string {
		program, rest, _ := strings.Cut(line, " ")
		switch base := filepath.Base(program); {
		case base == "claude", base == "codex", base == "node" && strings.Contains(rest, "/codex"), base == "killresume" && strings.HasPrefix(rest, "work "):
			return agents
		}
		return class(line)
	}
	return system
}

// url is where the model is for the clients of this run.
func (w *world) url() string { return w.model.URL(filepath.Base(w.home())) }

// answers is the fixed model of all runs. The key of a request names the run.
func (l *lab) answers(r model.Request) model.Reply {
	home := filepath.Join(l.dir, r.Key)
	scripted := func(act string) string {
		return fmt.Sprintf("%s %s %s", filepath.Join(l.bin, "killresume"), act, filepath.Join(home, "record"))
	}
	if !r.Executor() && !r.Supervisor() {
		if calls := r.Calls(); len(calls) > 0 {
			return model.Say(calls[len(calls)-1].Result.Text)
		}
		return model.Reply{Calls: r.Shell(scripted("ralph"))}
	}
	return model.Diligent(model.Continued(), model.ReadPatch(), model.Work(func(r model.Request, work model.Told) []model.Call {
		return r.Shell(fmt.Sprintf("echo '%s' | %s", text(taskOfText(work.Task)), scripted("work")))
	}))(r)
}

// listen starts the model.
func (l *lab) listen(ctx context.Context) {
	l.model = model.Listen(l.answers, func(string) {}) // a client that is killed may ask anything
	context.AfterFunc(ctx, l.model.Close)
}
