//go:build unix

package server

import (
	"fmt"
	"io"
	"maps"

	"github.com/ferrus-go/ferrus/internal/store"
	"github.com/ferrus-go/ferrus/internal/tools"
)

// A caller is a row of the matrix: a part, and what it names with its calls.
type caller struct {
	name  string
	part  string
	claim string   // whose claim it names, "" for none
	id    string   // what it names as the submission and the consultation: present, wrong or nothing
	about []string // the arguments that make the row another one; tools with none of them are left out
}

// tries reports whether the row has a cell for the tool.
func (who caller) tries(tool tools.Tool) bool { return who.about == nil || takes(tool, who.about...) }

var (
	decided = []string{"submission", "consultation"}
	claims  = []string{"claim"}
)

// callers are those of each transport. Without a session a client names what it means; with one it need not.
var callers = map[string][]caller{
	"stdio": {
		{name: "supervisor", part: "supervisor"}, {name: "holder", part: "holder"}, {name: "other", part: "other"},
		{name: "lost", part: "lost"}, {name: "none", part: "none"},
		{name: "mistaken", part: "supervisor", id: "wrong", about: decided},
		{name: "thief", part: "thief", claim: "holder", about: claims},
	},
	"modern": {
		{name: "supervisor", part: "supervisor", id: "present"}, {name: "holder", part: "holder", claim: "holder"}, {name: "other", part: "other"},
		{name: "lost", part: "lost", claim: "lost"}, {name: "none", part: "none"},
		{name: "mistaken", part: "supervisor", id: "wrong", about: decided},
		{name: "mute", part: "supervisor", about: decided},
		{name: "forgetful", part: "holder", about: claims},
		{name: "thief", part: "thief", claim: "holder", about: claims},
	},
	"legacy": sessions,
	"sse":    sessions,
}

var sessions = []caller{
	{name: "supervisor", part: "supervisor"}, {name: "holder", part: "holder"}, {name: "other", part: "other"},
	{name: "lost", part: "lost"}, {name: "none", part: "none"},
	{name: "mistaken", part: "supervisor", id: "wrong", about: decided},
	{name: "elsewhere", part: "elsewhere", claim: "holder", about: claims},
	{name: "thief", part: "thief", claim: "holder", about: claims},
}

// stance is who a caller is in the eyes of the machine; named tells that its call takes the claim that it names.
func (c *cast) stance(s scene, snap store.Snapshot, who caller, named bool) stance {
	as := stance{role: parts[who.part].role, id: who.id, shown: s.seen() && c.transport != "modern"}
	claim, own := c.claims[who.part], true // what its connection has
	if c.transport == "modern" {
		claim = claimed{}
	}
	if theirs := c.claims[who.claim]; named && theirs.epoch != 0 {
		own = parts[who.part].token == parts[who.claim].token
		if as.barred = c.office == nil && theirs != claim; !as.barred {
			claim = theirs
		}
	}
	as.held = claim.epoch
	as.holds = own && claim.epoch != 0 && claim.epoch == snap.Task.Epoch && snap.Task.ClaimedBy != ""
	return as
}

// args are what a caller says with a call.
func (c *cast) args(tool tools.Tool, who caller) map[string]any {
	args := maps.Clone(samples[tool.Name])
	if args == nil {
		args = map[string]any{}
	}
	if claim := c.claims[who.claim].claim; claim != "" && takes(tool, "claim") {
		args["claim"] = claim
	}
	for arg, ids := range map[string]map[string]string{"submission": {"present": "s1", "wrong": "s9"}, "consultation": {"present": "c1", "wrong": "c9"}} {
		if takes(tool, arg) && who.id != "" {
			args[arg] = ids[who.id]
		}
	}
	return args
}

// stranger calls a tool without a token, and returns the status.
func (c *cast) stranger(tool tools.Tool) int {
	path := map[string]string{"modern": "/mcp", "legacy": "/mcp", "sse": "/sse?sessionid=x"}[c.transport]
	headers := map[string]string{"Authorization": ""}
	if c.transport == "modern" {
		headers["Mcp-Protocol-Version"] = "2026-07-28"
	}
	resp := c.office.raw(c.t, "POST", path, "", fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":{}}}`, tool.Name), headers)
	_, _ = io.Copy(io.Discard, resp.Body)
	return resp.StatusCode
}

// lacks reports whether a caller names nothing where it must: its claim, or without a session what it decides about.
func (c *cast) lacks(tool tools.Tool, who caller) bool {
	return c.office != nil && takes(tool, "claim") && who.claim == "" || c.transport == "modern" && takes(tool, decided...) && who.id == ""
}
