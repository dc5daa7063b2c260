package main

// foreign are the tests of what was not made here: processes below an agent, and state from elsewhere.
var foreign = []Rig{
	{
		Name: "a decision below an executor", Promise: "nothing below an executor of the project serves a supervisor, or speaks for a person",
		Package: "./internal/ancestry", Test: "TestWhoDescendsFromAnExecutor", Plain: true,
		Mutants: []Mutant{
			{"a shim is not looked for", "internal/ancestry/ancestry.go", "if len(p.args) != 4 || p.args[1] != Shim ||", "if true ||"},
			{"the agent's own environment is not looked at", "internal/ancestry/ancestry.go", `!ok || role == "" || project == ""`, `!ok || role != "" || project == ""`},
			{"a client is known by its server alone where that is its parent", "internal/ancestry/ancestry.go", "if depth > 0 && !shimmed", "if !shimmed"},
			{"every shell is an executor's", "internal/ancestry/ancestry.go", "return slices.Contains(shells, name)", `return name == "" && slices.Contains(shells, name)`},
			{"agents of other projects count", "internal/ancestry/ancestry.go", "real(project) != root", "real(project) == \"\""},
		},
	},
}
