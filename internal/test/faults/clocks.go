package main

// clocks try what clocks may do to a lease.
var clocks = []Rig{
	{
		Name:    "terms by clocks, boots and probes",
		Promise: "a lease that runs stays, one that cannot be measured is judged by the process, and none is for ever",
		Package: "./internal/lease",
		Test:    "TestWhoMayBeReplaced",
	},
	{
		Name:    "jumps of the wall clock",
		Promise: "the wall clock is for display alone",
		Package: "./internal/engine",
		Test:    "TestTheWallClockIsForDisplayAlone",
	},
	{
		Name:    "a restart of the machine",
		Promise: "no lease outlives a boot",
		Package: "./internal/engine",
		Test:    "TestARestartEndsEveryLease",
	},
	{
		Name:    "two sessions by any clocks",
		Promise: "one holder at most, a live one keeps its term, and no lease is for ever",
		Package: "./internal/engine",
		Test:    "TestTwoSessionsByAnyClocks",
	},
	{
		Name:    "processes in time namespaces",
		Promise: "a live holder keeps the work whatever its clock says, and a dead one is replaced at once",
		Package: "./internal/e2e",
		Test:    "TestAHolderByAnotherClock",
		Needs:   "Linux, root and unshare(1)",
	},
}
