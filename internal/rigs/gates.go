package main

// gates try every way in: who may do what, over each transport, and what an identity that is not one's own is worth.
var gates = []Rig{
	{
		Name: "every tool, state, caller, transport", Promise: "only the table's role makes a move, on every transport, listed or not",
		Package: "./internal/server", Test: "TestEveryToolInEveryStateForEveryCaller",
		Mutants: []Mutant{
			{"every role has every tool", "internal/tools/tools.go", "if t.For(opts.Role) {", "if true {"},
			{"over HTTP all are executors", "internal/server/http.go", "Role: role, Remote: true", "Role: state.Executor, Remote: true"},
			{"/mcp serves one role to all", "internal/server/web/streamable.go", "return s.opts.Servers[v.token.Role]", `return s.opts.Servers["supervisor"+v.token.Role[:0]]`},
			{"/sse serves one role to all", "internal/server/web/sse.go", "s.opts.Servers[v.token.Role].Connect", `s.opts.Servers["executor"].Connect`},
			{"callers without a session share one", "internal/server/seats.go", `if c.Session == "" {`, `if c.Session == "-" {`},
			{"a claim is good with any token", "internal/engine/remote.go", `[]byte(token + "\x00" + secret)`, `[]byte("\x00" + secret)`},
			{"an executor need not hold the work", "internal/engine/session.go", "if s.Role == state.Executor && s.Holds(t) {", "if s.Role == state.Executor {"},
			{"who lost the work is not told", "internal/engine/standing.go", "if held != 0 && now.Task.Epoch > held {", "if held != 0 && now.Task.Epoch < held {"},
			{"a reviewer need not have been shown", "internal/engine/consult.go", `case named == "" && shown, named == present:`, `case named == "", named == present:`},
			{"a failed task names no way out", "internal/tools/call.go", "task.State == state.Failed && slices", "task.State == state.Idle && slices"},
			{"allowed forgets that a check runs", "internal/tools/situation.go", "return in.task.Check.Status != state.CheckRunning", "return true || in.task.Check.Status != state.CheckRunning"},
		},
	},
	{
		Name: "a role lent by a session", Promise: "an open session lends nobody its role",
		Package: "./internal/server", Test: "TestARoleIsNotLentByASession",
		Mutants: []Mutant{
			{"a session is whoever's names it", "internal/server/web/sessions.go", "case one.bearer.token.ID != b.token.ID:", "case one.bearer == nil:"},
			{"a role comes with the session", "internal/server/web/streamable.go", "return s.opts.Servers[v.token.Role]",
				"if one := s.sessions.find(r.Header.Get(\"Mcp-Session-Id\")); one != nil {\n\t\treturn s.opts.Servers[one.bearer.token.Role]\n\t}\n\treturn s.opts.Servers[v.token.Role]"},
		},
	},
	{
		Name: "following next over HTTP", Promise: "an agent that knows nothing but to follow next gets through, with and without a session",
		Package: "./internal/server", Test: "TestWhoeverFollowsNextGetsThroughOverHTTP", Plain: true,
		Mutants: []Mutant{
			{"allowed lacks what comes next", "internal/tools/situation.go", "|| t.Name == next {", "{"},
			{"one that names no claim is sent to wait", "internal/tools/call.go", "	c.lacks = c.nameless()\n", ""},
		},
	},
}
