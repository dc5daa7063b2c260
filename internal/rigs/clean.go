package main

// clean attack what a verdict rests on: the files that the gate looks at, and the programs that it runs.
var clean = []Rig{
	{
		Name: "hostile: a good file swapped in", Promise: "a clean gate judges the files that are submitted, whatever is done to the work tree meanwhile",
		Package: "./internal/engine", Test: "TestAGoodFileIsSwappedIn", Plain: true,
		Mutants: []Mutant{
			{"the gate runs in the work tree all the same", "internal/engine/gate.go", "checks.Start(at.on(spec))", "checks.Start(spec)"},
		},
	},
	{
		Name: "hostile: what a check leaves", Promise: "nothing that a gate's own commands wrote is there when the next one runs, and what they changed is not judged",
		Package: "./internal/engine", Test: "TestACheckLeavesNothingForTheNext", Plain: true,
		Mutants: []Mutant{
			{"what the tree has not stays", "internal/worktree/checkout.go", "			default:\n				if err := c.removeAll(", "			default:\n				if name != \"\" {\n					continue\n				}\n				if err := c.removeAll("},
			{"the commands may change what they judge", "internal/engine/gate.go", "if j.moved, err = at.moved(); err != nil {", "if _, err = at.moved(); err != nil {"},
		},
	},
	{
		Name: "hostile: a checkout that was tampered with", Promise: "a checkout is exactly its tree, by the times of its files and by their content",
		Package: "./internal/worktree", Test: "TestACheckoutIsTheTree", Plain: true,
		Mutants: []Mutant{
			{"a change time is not looked at", "internal/worktree/checkoutfile.go", "if ok && c.honest && was.identity.same(now) {", "if ok && c.honest && was.identity.ino == now.ino && was.identity.size == now.size && was.identity.mtime == now.mtime {"},
			{"content is compared by its size", "internal/worktree/checkoutfile.go", "return err == nil && got == id\n", `return err == nil && got != ""` + "\n"},
			{"what was compared once is believed", "internal/worktree/checkoutfile.go", "if ok && c.honest && was.identity.same(now) {", "if ok {"},
		},
	},
	{
		Name: "hostile: an object that is another", Promise: "no object that somebody put in the place of another is laid out",
		Package: "./internal/worktree", Test: "TestAnObjectThatIsAnotherIsRefused", Plain: true,
		Mutants: []Mutant{
			{"a patch shows what stands under an id", "internal/worktree/objects.go", "if hex.EncodeToString(h.Sum(nil)) != id {", `if hex.EncodeToString(h.Sum(nil)) == "" {`},
			{"what a filter made need not be compared", "internal/worktree/checkoutfile.go", "if ids[i] != c.want.at[name].id {", `if ids[i] == "" {`},
		},
	},
	{
		Name: "hostile: a layout that is cut off", Promise: "after a layout that was killed at any of its changes, the next one is whole",
		Package: "./internal/worktree", Test: "TestACutLayoutIsFinishedByTheNext", Plain: true,
		Mutants: []Mutant{
			{"the list of what the set-up made is written first", "internal/worktree/checkoutmade.go", "	m, err := c.harvest(l.Key)\n	if err == nil {", "	_ = (&manifest{key: l.Key}).write(c.madeList())\n	m, err := c.harvest(l.Key)\n	if err == nil {"},
		},
	},
	{
		Name: "hostile: what the set-up made", Promise: "what the set-up made comes back from a copy that is not believed either",
		Package: "./internal/worktree", Test: "TestWhatTheSetUpMadeComesBack", Plain: true,
		Mutants: []Mutant{
			{"the copy is believed", "internal/worktree/checkoutmade.go", "err == nil && (mode != r.Mode || id != r.ID)", `err == nil && (mode == "" || id == "" || r.Mode == "")`},
			{"a file of the set-up comes before one of the tree", "internal/worktree/checkout.go", "if !room(r.path) || p.dirs[r.path] && !r.dir() {", "if p.dirs[r.path] && !r.dir() {"},
		},
	},
	{
		Name: "hostile: a server with other programs", Promise: "checks run with what was frozen with the task from a person's environment",
		Package: "./internal/engine", Test: "TestAServersEnvironmentJudgesNothing", Plain: true,
		Mutants: []Mutant{
			{"checks run with the server's", "internal/engine/gate.go", "spec.Environ, err = e.Environment(snap)", "_, err = e.Environment(snap)"},
			{"a rollback brings an earlier one back", "internal/engine/rollback.go", "if delete(next.Docs, store.EnvironDoc); ok {", "if ok && was.Seq == 0 {"},
			{"PATH is not frozen", "internal/environ/table.go", `"PATH", "PATHEXT"`, `"PATHEXT"`},
		},
	},
}
