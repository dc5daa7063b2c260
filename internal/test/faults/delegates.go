package main

const delegateRoom = "./internal/delegate"

// delegates try what passes between the machine of an executor and those of its delegates.
var delegates = []Rig{
	{
		Name: "delegates: work that moves in", Promise: "approved work of a delegate moves in once, the executor keeps its claim, and nothing is submitted before",
		Package: delegateRoom, Test: "TestTheWorkOfADelegateMovesIn", Plain: true,
	},
	{
		Name: "delegates: nobody waits for the dead", Promise: "a delegate that failed, was removed or needs a person has ended", Package: delegateRoom,
		Test: "TestNobodyWaitsForADeadDelegate", Plain: true,
	},
	{
		Name: "delegates: a stale executor", Promise: "only the executor that has the claim decides, and on what it was shown", Package: delegateRoom,
		Test: "TestAStaleExecutorDecidesNothing", Plain: true,
	},
	{
		Name: "delegates: work that does not fit", Promise: "it goes back with both sides, and nothing is lost", Package: delegateRoom, Test: "TestWorkThatDoesNotFitGoesBack", Plain: true,
	},
	{
		Name: "delegates: limits", Promise: "a task has no more delegates than it may, and a delegate has none", Package: delegateRoom, Test: "TestADelegateCannotDelegate", Plain: true,
	},
	{
		Name: "delegates: questions", Promise: "a delegate asks its executor, and nobody else", Package: delegateRoom, Test: "TestADelegateAsksItsExecutor", Plain: true,
	},
}
