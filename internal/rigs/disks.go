package main

// disks try what a disk may do to the store.
var disks = []Rig{
	{
		Name:    "a fault at every operation",
		Promise: "a transition happens whole or not at all, and is not lost when it was acknowledged",
		Package: "./internal/store",
		Test:    "TestEveryFaultLeavesTheOldStateOrTheNew",
		Mutants: []Mutant{
			{"no fdatasync", "internal/store/commit.go", "err = journal.datasync()\n\t}\n\tif err == nil {\n\t\treturn nil", "err = nil\n\t}\n\tif err == nil {\n\t\treturn nil"},
			{"a failed append is left standing", "internal/store/commit.go", "back := journal.Truncate(off)", "back := error(nil)"},
			{"an unknown outcome is called a failure", "internal/store/commit.go", "Code: OutcomeUnknown", "Code: StoreError"},
		},
	},
}
