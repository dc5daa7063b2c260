package main

const publishedPackage = "./internal/published"

// publications are work trees of two computers on one database, through real git hosts.
var publications = []Rig{
	{
		Name: "published: a host that does not answer", Promise: "a host that does not answer ends no task and no check, and nobody waits for files that are nowhere",
		Package: publishedPackage, Test: "TestAHostThatDoesNotAnswer", Plain: true, Needs: "PostgreSQL",
	},
	{
		Name: "published: deleted refs", Promise: "refs that somebody deleted are published again by whoever publishes next",
		Package: publishedPackage, Test: "TestRefsThatSomebodyDeleted", Plain: true, Needs: "PostgreSQL",
	},
	{
		Name: "published: a later epoch", Promise: "who has lost the task overwrites nothing, and the journal decides what a later epoch is",
		Package: publishedPackage, Test: "TestALaterEpochIsNotOverwritten", Plain: true, Needs: "PostgreSQL",
	},
	{
		Name: "published: what nobody needs", Promise: "refs of old epochs and ended tasks are deleted, and no other",
		Package: publishedPackage, Test: "TestWhatNobodyNeedsIsDeleted", Plain: true, Needs: "PostgreSQL",
	},
	{
		Name: "published: older files", Promise: "where the newest files were not published, those before them are taken, and not what was rolled back",
		Package: "./internal/branch", Test: "TestOlderFilesThatWerePublished", Plain: true, Needs: "PostgreSQL",
	},
	{
		Name: "published: attempts at one task", Promise: "attempts at one task do not overwrite each other's files",
		Package: publishedPackage, Test: "TestAttemptsAtOneTask", Plain: true, Needs: "PostgreSQL",
	},
	{
		Name: "published: off", Promise: "nothing is published unless a person says so",
		Package: publishedPackage, Test: "TestNothingIsPublishedUnlessAPersonSaysSo", Plain: true, Needs: "PostgreSQL",
	},
	{
		Name: "published: unfinished files", Promise: "unfinished files move between computers as they are, and no edit is lost",
		Package: "./internal/branch", Test: "TestUnfinishedFilesMove", Plain: true, Needs: "PostgreSQL",
	},
	{
		Name: "published: killed fetches", Promise: "nobody works in a work tree that was not fetched completely, and the same call finishes it",
		Package: "./internal/branch", Test: "TestAKilledFetchIsFinishedByTheSame", Plain: true, Needs: "PostgreSQL",
	},
}
