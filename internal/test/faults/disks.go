package main

// disks try what a disk may do to the store.
var disks = []Rig{
	{
		Name: "journal: two copies", Promise: "whatever happens to the journal and its copy, no valid one is lost", Package: "./internal/doctor", Test: "TestNoValidJournalIsLost", Plain: true,
	},
	{
		Name: "journal: remedies", Promise: "what the doctor says helps", Package: "./internal/doctor", Test: "TestNoRemedyLeadsInACircle", Plain: true,
	},
	{
		Name:    "a fault at every operation",
		Promise: "a transition happens whole or not at all, and is not lost when it was acknowledged",
		Package: "./internal/store/file",
		Test:    "TestEveryFaultLeavesTheOldStateOrTheNew",
	},
	{
		Name:    "a power cut of a simulated disk",
		Promise: "what was acknowledged is on every disk that a power cut may leave, and the rest is whole or absent",
		Package: "./internal/store/file",
		Test:    "TestAPowerCutOfASimulatedDiskLosesNothing",
	},
	{
		Name:    "a torn line at every byte",
		Promise: "the newest line, cut anywhere, is the state before it, and its remains are saved",
		Package: "./internal/store/file",
		Test:    "TestATornLineAtEveryByteIsThePreviousState",
	},
	{
		Name:    "a flipped bit at every byte",
		Promise: "a line that was altered is found, never believed and never repaired in silence",
		Package: "./internal/store/file",
		Test:    "TestAFlippedBitInAnyLineIsFound",
	},
	{
		Name:    "every damaged STATE.json",
		Promise: "whatever became of STATE.json, the state is the journal's, and STATE.json is made again",
		Package: "./internal/store/file",
		Test:    "TestEveryDamagedStateFileIsMadeAgain",
	},
}
