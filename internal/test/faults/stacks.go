package main

const stackPackage = "./internal/stack"

// stacks try what is said of an agent's past: that its records become one list, in order.
var stacks = []Rig{
	{
		Name: "stack: the steps of a command", Promise: "a step of a command in the wrong place is refused", Package: stackPackage,
		Test: "TestStepsOfACommandAreOursToRefuse", Plain: true,
	},
	{
		Name: "stack: the end of an agent", Promise: "an agent that ends without handing in its work is marked", Package: stackPackage,
		Test: "TestAnAgentThatEndsWithoutHandingInIsMarked", Plain: true,
	},
	{
		Name: "stack: one call in several records", Promise: "a call is shown once, with its own entries of the journal", Package: stackPackage,
		Test: "TestFourRecordsBecomeOneStack", Plain: true,
	},
	{
		Name: "stack: an open request", Promise: "a request stays on top until it is answered, by an answer to it", Package: stackPackage,
		Test: "TestACallThatWaitsIsNoStep", Plain: true,
	},
	{
		Name: "stack: arguments in a log", Promise: "the log of a server has a digest of the arguments, the same for the same arguments", Package: "./internal/callog",
		Test: "TestADigestIsThatOfTheSameArguments", Plain: true,
	},
}
