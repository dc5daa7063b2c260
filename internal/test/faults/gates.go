package main

// gates try every way in: who may do what, over each transport, and what an identity that is not one's own is worth.
var gates = []Rig{
	{
		Name: "every tool, state, caller, transport", Promise: "only the table's role makes a move, on every transport, listed or not",
		Package: "./internal/server", Test: "TestEveryToolInEveryStateForEveryCaller",
	},
	{
		Name: "a role lent by a session", Promise: "an open session lends nobody its role",
		Package: "./internal/server", Test: "TestARoleIsNotLentByASession",
	},
	{
		Name: "following next over HTTP", Promise: "an agent that knows nothing but to follow next gets through, with and without a session",
		Package: "./internal/server", Test: "TestWhoeverFollowsNextGetsThroughOverHTTP", Plain: true,
	},
}
