package main

import (
	"context"
	"io"
	"os/exec"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/ferrus-go/ferrus/internal/platform/format"
	"github.com/ferrus-go/ferrus/internal/server/mcpclient"
)

// A cast is the agents of a script, each with its server process, by name.
type cast map[string]*mcpclient.Client

type castKey struct{}

func (c cast) leave() {
	for _, client := range c {
		client.Kill()
	}
}

// agentCommand drives an agent: agent NAME TOOL [ARG=TEXT ...]. The name begins with its role; its server starts with
// its first call, in the script's folder, and lives until the script ends. A text @FILE is that file's, and one that holds |
// is a list. A check or a submission is called again while it runs. With ! the tool must refuse. The result is the command's stdout.
//
// agent NAME kill ends its server with SIGKILL; agent NAME leave lets it go.
func agentCommand(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: agent NAME TOOL [ARG=TEXT ...]")
	}
	name, tool := args[0], args[1]
	members := ts.Value(castKey{}).(cast)
	client := members[name]
	switch {
	case client == nil:
		client = enter(ts, name)
		members[name] = client
	case tool == "kill":
		client.Kill()
		delete(members, name)
		return
	case tool == "leave":
		ts.Check(client.Close())
		delete(members, name)
		return
	}
	given := map[string]any{}
	for _, arg := range args[2:] {
		key, text, _ := strings.Cut(arg, "=")
		if file, ok := strings.CutPrefix(text, "@"); ok {
			text = ts.ReadFile(file)
		}
		given[key] = text
		if list := strings.Split(text, "|"); len(list) > 1 {
			given[key] = list
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for {
		r, err := client.Call(ctx, tool, given)
		ts.Check(err)
		if r.Status == "running" {
			continue
		}
		text, err := format.JSON(r, "")
		ts.Check(err)
		_, err = ts.Stdout().Write(text)
		ts.Check(err)
		if (r.Code != "") != neg {
			ts.Fatalf("%s %s: code %q: %s", name, tool, r.Code, r.Message)
		}
		return
	}
}

// enter starts an agent's server.
func enter(ts *testscript.TestScript, name string) *mcpclient.Client {
	role, index := strings.TrimRight(name, "0123456789"), "1"
	if n := strings.TrimPrefix(name, role); n != "" {
		index = n
	}
	cmd := exec.Command("ferrus", "serve", "--role", role, "--agent-name", "scripted", "--agent-index", index, "--wait", "5")
	cmd.Dir, cmd.Stderr = ts.MkAbs("."), io.Discard
	cmd.Env = environOf(ts, "FERRUS_AGENT="+name, "PWD="+cmd.Dir)
	client, err := mcpclient.Start(context.Background(), "scripted", cmd)
	ts.Check(err)
	return client
}
