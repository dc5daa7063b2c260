package main

const scorePackage = "./internal/score"

// scores try what decides which of several attempts is the best: a number that belongs to one tree and one gate.
var scores = []Rig{
	{
		Name: "scores: of which work", Promise: "a score counts for the tree and the gate that it was taken of", Package: scorePackage,
		Test: "TestAScoreOfAnotherTreeIsVoid", Plain: true,
	},
	{
		Name: "scores: by which command", Promise: "a branch cannot loosen its score: the command is frozen with the gate", Package: scorePackage,
		Test: "TestABranchCannotLoosenItsScore", Plain: true,
	},
	{
		Name: "scores: what is a number", Promise: "what is not a finite number of a command that passed is no score", Package: scorePackage,
		Test: "TestWhatIsNoNumberIsRefused", Plain: true,
	},
	{
		Name: "scores: which work has one", Promise: "only checked work is scored, as it was checked", Package: scorePackage,
		Test: "TestOnlyCheckedWorkIsScored", Plain: true,
	},
	{
		Name: "scores: the best", Promise: "the attempt with the highest score is the best one", Package: scorePackage,
		Test: "TestTheBestOfThreeIsTheOneWithTheHighestScore", Plain: true,
	},
	{
		Name: "scores: of different gates", Promise: "scores that different gates have given are not compared", Package: scorePackage,
		Test: "TestScoresOfDifferentGatesAreNotCompared", Plain: true,
	},
	{
		Name: "variants: of a task", Promise: "the agent of an attempt is frozen on its branch", Package: "./internal/branch",
		Test: "TestTheAgentOfAnAttemptIsFrozenOnItsBranch", Plain: true,
	},
	{
		Name: "variants: of a run", Promise: "the workers of a variant of a run are its agent", Package: "./internal/pipeline/run",
		Test: "TestAVariantOfARunHasAnotherAgent", Plain: true,
	},
}
