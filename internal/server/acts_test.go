//go:build unix

package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ferrus-go/ferrus/internal/tools"
	"github.com/ferrus-go/ferrus/test/kit"
	"github.com/ferrus-go/ferrus/test/sharedtest"
)

// try calls a tool as a part.
func (c *cast) try(name, tool string, args map[string]any) (tools.Result, error) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), kit.Patience)
	defer cancel()
	var r tools.Result
	res, err := c.client(name).CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		return r, err
	}
	text, err := json.Marshal(res.StructuredContent)
	if err == nil {
		err = json.Unmarshal(text, &r)
	}
	if err == nil && res.IsError != (r.Code != "") {
		err = errors.New("isError is not as the code: " + string(text))
	}
	if n := r.Next; err == nil && n != "stop" && n != "choose" && !slices.Contains(r.Allowed, n) {
		err = fmt.Errorf("next %s is not among the allowed: %s", n, text)
	}
	if r.Claim != "" && args["claim"] == nil {
		c.claims[name] = claimed{r.Claim, r.Epoch}
	}
	return r, err
}

// act plays one act of a scene.
func (c *cast) act(line string) {
	c.t.Helper()
	who, what, _ := strings.Cut(line, " ")
	red := filepath.Join(c.dir, "red")
	var err error
	switch line {
	case "person release":
		_, err = c.person.Release(c.t.Context(), "")
	case "person reset":
		_, err = c.person.Reset(c.t.Context(), "")
	case "tree red":
		err = os.WriteFile(red, nil, 0o600)
	case "tree green":
		err = os.Remove(red)
	case "tree hold":
		err = syscall.Mkfifo(c.pipe, 0o600)
	default:
		err = c.do(who, what)
	}
	if err != nil {
		c.t.Fatalf("%s: %v", line, err)
	}
}

// do calls a tool that must succeed, again while it is running.
func (c *cast) do(who, tool string) error {
	c.t.Helper()
	begin := tool == "begin"
	if begin {
		tool = "check"
	}
	args := maps.Clone(earlier[tool])
	if args == nil {
		args = map[string]any{}
	}
	if own := c.claims[who].claim; own != "" && slices.Contains([]string{"check", "submit", "consult", "ask_human"}, tool) {
		args["claim"] = own // needless where there are sessions
	}
	for over := time.Now().Add(kit.Patience); time.Now().Before(over); {
		r, err := c.try(who, tool, args)
		switch {
		case err != nil:
			return err
		case r.Code != "":
			return errors.New(r.Message)
		case begin && r.CheckID != "", !begin && r.Status != "running":
			return nil
		}
	}
	return errors.New("it does not end")
}

// disk is what is on the disk but for what a renewal may rewrite.
func (c *cast) disk() string {
	c.t.Helper()
	var keys map[string]json.RawMessage
	journal := sharedtest.Journal(c.t, c.dir, "")
	view, err := os.ReadFile(filepath.Join(c.dir, ".ferrus", "STATE.json"))
	if err == nil {
		err = json.Unmarshal(view, &keys)
	}
	for _, volatile := range []string{"lease_until", "last_heartbeat", "lease"} {
		delete(keys, volatile)
	}
	rest, bad := json.Marshal(keys)
	if err := errors.Join(err, bad); err != nil {
		c.t.Fatal(err)
	}
	return journal + "\n--\n" + string(rest)
}
