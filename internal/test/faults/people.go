package main

// people try what a person reads and types: answers, and the commands that ferrus suggests.
var people = []Rig{
	{
		Name: "people: answers by number", Promise: "a number that no option has is no answer", Package: enginePackage, Test: "TestANumberPicksItsOption", Plain: true,
	},
	{
		Name: "people: commands of a branch", Promise: "every command that is suggested for a branch acts on it", Package: "./cmd/ferrus",
		Test: "TestEveryCommandThatIsSuggestedForABranchActsOnIt", Needs: "a Unix system", Plain: true,
	},
}
