//go:build linux

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// A pack is the program of a peer, of a fixed version. It is installed in the user's cache, beside the peers of test/bench.
type pack struct {
	name, version string
	folder        string   // in the cache of ferrus; "" for one of its name
	program       string   // what is there when it is installed, below its folder; that of its folder are on the path
	npm           []string // the packages, which npm installs
	scripts       bool     // they build something when they are installed
	module, tags  string   // the program of a Go module, and the tags to build it with
	requires      []string // what source needs besides
	source        string   // of a program of ours that uses it, which is named worker
}

// clients are those of test/e2e/clients, in its folder.
var clients = pack{folder: "clients-2.1.329-0.169.0", program: "node_modules/.bin/claude", scripts: true,
	npm: []string{"@anthropic-ai/claude-code@2.1.329", "@openai/codex@0.169.0"}}

// packs are all peers that are installed.
var packs = map[string]pack{
	"ferrus+clients":   clients,
	"loop+claude":      clients,
	"loop+beads":       {name: "beads", version: "1.0.5", program: "bd", module: "github.com/steveyegge/beads/cmd/bd", tags: "gms_pure_go"},
	"loop+backlog":     {name: "backlog.md", version: "1.52.0", program: "node_modules/.bin/backlog", npm: []string{"backlog.md@1.52.0"}},
	"loop+task-master": {name: "task-master-ai", version: "0.43.1", program: "node_modules/.bin/task-master", npm: []string{"task-master-ai@0.43.1"}},
	"temporal": {name: "temporal", version: "1.5.1", program: "temporal", module: "github.com/temporalio/cli/cmd/temporal",
		requires: []string{"go.temporal.io/sdk v1.37.0", "go.temporal.io/api v1.53.0"}, source: worker},
	"langgraph": {name: "langgraph", version: "1.7.3", program: "node_modules/better-sqlite3/build/Release/better_sqlite3.node", scripts: true,
		npm: []string{"@langchain/langgraph@1.7.3", "@langchain/langgraph-checkpoint-sqlite@1.0.4", "@langchain/core@1.4.0"}},
}

// install installs a pack, unless it is there, and returns the folder of its program.
func (p pack) install(ctx context.Context) (string, error) {
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	folder := filepath.Join(dir, "ferrus", p.path())
	program := filepath.Join(folder, p.program)
	if _, err := os.Stat(program); err == nil {
		return filepath.Dir(program), p.ours(ctx, folder)
	} else if !errors.Is(err, os.ErrNotExist) {
		return "", err
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return "", err
	}
	fmt.Fprintf(os.Stderr, "killresume: %s is installed\n", folder)
	if len(p.npm) > 0 {
		err = p.fromNpm(ctx, folder)
	} else {
		err = p.fromModule(ctx, folder)
	}
	if err != nil {
		return "", err
	}
	return filepath.Dir(program), p.ours(ctx, folder)
}

// path is where a pack is in the cache of ferrus.
func (p pack) path() string { return cmp.Or(p.folder, filepath.Join("peers", p.name+"-"+p.version)) }

// ours builds the program that uses a pack.
func (p pack) ours(ctx context.Context, folder string) error {
	if p.source == "" {
		return nil
	}
	dir := filepath.Join(folder, "source")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "main.go"), []byte(p.source), 0o644); err != nil {
		return err
	}
	return outside(ctx, folder, os.Environ(), "go", "build", "-mod=mod", "-o", "worker", "./source")
}

// install installs what a system needs.
func (l *lab) install(ctx context.Context, system string) error {
	p, ok := packs[system]
	if !ok {
		return nil
	}
	var err error
	l.packs[system], err = p.install(ctx)
	return err
}

func (p pack) fromNpm(ctx context.Context, folder string) error {
	args := append([]string{"install", "--prefix", folder, "--no-audit", "--no-fund"}, p.npm...)
	env := os.Environ()
	if !p.scripts {
		args = append(args, "--ignore-scripts")
	} else if node, err := exec.LookPath("node"); err == nil {
		// Where the headers of Node are installed nothing is downloaded to build with.
		prefix := filepath.Dir(filepath.Dir(node))
		if _, err := os.Stat(filepath.Join(prefix, "include", "node")); err == nil {
			env = append(env, "npm_config_nodedir="+prefix)
		}
	}
	return outside(ctx, folder, env, "npm", args...)
}

// fromModule builds a program in a module of its own.
func (p pack) fromModule(ctx context.Context, folder string) error {
	module, _, _ := strings.Cut(p.module, "/cmd/")
	mod := "module peer\n\ngo 1.26\n"
	for _, m := range append([]string{module + " v" + p.version}, p.requires...) {
		mod += "\nrequire " + m + "\n"
	}
	if err := os.WriteFile(filepath.Join(folder, "go.mod"), []byte(mod), 0o644); err != nil {
		return err
	}
	return outside(ctx, folder, append(os.Environ(), "CGO_ENABLED=1"), "go", "build", "-mod=mod", "-tags", p.tags, "-o", p.program, p.module)
}

// outside runs a command in a folder that is not of a run.
func outside(ctx context.Context, dir string, env []string, name string, args ...string) error {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env = dir, env
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s %v: %w\n%s", name, args, err, out)
	}
	return nil
}

// modules is where Node finds the packages of a peer.
func (w *world) modules() string {
	folder, _, ok := strings.Cut(w.pack, "/node_modules")
	if !ok {
		return ""
	}
	return folder + "/node_modules"
}
