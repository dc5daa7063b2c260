package main

// soaks let ferrus run on, to see what wears out.
var soaks = []Rig{
	{
		Name:    "soak",
		Promise: "nothing that was acknowledged is lost and nothing grows, however long agents and servers come and go",
		Package: "./internal/e2e",
		Test:    "TestNothingWearsOut",
		Needs:   "Linux",
		Mutants: []Mutant{
			{"a wait leaves its watch behind", "internal/engine/await.go", "\tdefer bell.Close()\n", ""},
			{"an inotify instance is not closed", "internal/store/watch.go", "go b.watcher.Close()", "_ = b.watcher.Close"},
		},
	},
}
