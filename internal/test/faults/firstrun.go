package main

// firstruns attack what a new user meets: agents that are missing, logged out or broken, and values that cannot work.
var firstruns = []Rig{
	{
		Name: "conductor: an agent that ends at once", Promise: "a broken agent is tried twice, and then a person is asked", Package: "./internal/conductor",
		Test: "TestWhatRunsCountFor", Plain: true,
	},
	{
		Name: "conductor: a session is continued", Promise: "an executor continues only what is its own and ended well", Package: "./internal/conductor",
		Test: "TestAnExecutorContinuesItsOwnSession", Plain: true,
	},
	{
		Name: "ferrus.toml: no value that cannot work", Promise: "a value that would fail later is refused when the file is read", Package: "./internal/config",
		Test: "TestNoKeyTakesWhatCannotWork", Plain: true,
	},
	{
		Name: "register: ferrus run starts the same pair", Promise: "[hq] is edited and every other byte stays", Package: "./internal/agents/register",
		Test: "TestTheConductorStartsWhoIsRegistered", Plain: true,
	},
	{
		Name: "trust: a first run that cannot end well", Promise: "without checks or agents nothing is started", Package: "./cmd/ferrus",
		Test: "TestAFirstRun", Needs: "sh", Plain: true,
	},
}
