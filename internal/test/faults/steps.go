package main

const stepPackage = "./internal/step"

// steps try the single decisions of a step: that they are made from the facts at its start, once for each.
var steps = []Rig{
	{
		Name: "steps: orders", Promise: "the order of the decisions of a step does not matter", Package: stepPackage,
		Test: "TestTheOrderOfAStepDoesNotMatter",
	},
	{
		Name: "steps: cut off", Promise: "the next step finishes one that was killed, and nobody is started twice", Package: stepPackage,
		Test: "TestAStepThatIsCutOffIsFinishedByTheNext",
	},
	{
		Name: "steps: what is shared", Promise: "places are taken by name, and at most one branch is merged", Package: stepPackage,
		Test: "TestPlacesAndTheMergeAreSharedByName", Plain: true,
	},
	{
		Name: "steps: one decision each", Promise: "the task, branches and pipelines move by one decision in each step", Package: stepPackage,
		Test: "TestAStepMovesEachByOneDecision", Plain: true,
	},
	{
		Name: "steps: old facts", Promise: "a decision from facts that have changed is not carried out", Package: stepPackage,
		Test: "TestWhatHasChangedSinceTheLookIsLeftToTheNextStep", Plain: true,
	},
	{
		Name: "steps: beside others", Promise: "a step leaves alone what a run or another step works on", Package: stepPackage,
		Test: "TestAStepIsMadeByOneAtATime", Plain: true,
	},
	{
		Name: "steps: merges that do not fit", Promise: "a merge that does not fit is tried once and stops nobody", Package: stepPackage,
		Test: "TestAMergeThatDoesNotFitStopsNobody", Plain: true,
	},
}
