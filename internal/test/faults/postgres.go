package main

const postgresPackage = "./internal/store/postgres"

// servers try what networks, servers and their failovers may do to machines in PostgreSQL.
var servers = []Rig{
	{
		Name: "postgres: failovers", Promise: "whatever happens to a primary, nothing acknowledged is lost, and no epoch has two holders",
		Package: postgresPackage, Test: "TestFailoversLoseNothing", Needs: "PostgreSQL",
	},
	{
		Name: "postgres: answers lost at any byte", Promise: "an attempt stands exactly once or not at all, wherever its connection breaks",
		Package: postgresPackage, Test: "TestAnAnswerLostAtAnyByte", Needs: "PostgreSQL",
	},
	{
		Name: "postgres: answers that never come", Promise: "nobody is told that nothing was changed when a line stands or will stand",
		Package: postgresPackage, Test: "TestAnAnswerThatNeverComes", Needs: "PostgreSQL", Plain: true,
	},
	{
		Name: "postgres: a failure after a lost answer", Promise: "an event that may stand is never called unchanged",
		Package: postgresPackage, Test: "TestAFailureAfterALostAnswer", Needs: "PostgreSQL", Plain: true,
	},
	{
		Name: "postgres: without the standby", Promise: "nothing is acknowledged that no standby has, however the waiting of a commit ends",
		Package: postgresPackage, Test: "TestNothingIsAcknowledgedWithoutTheStandby", Needs: "PostgreSQL", Plain: true,
	},
	{
		Name: "postgres: a standby that is away", Promise: "no computer is lost and no ring is late because a standby is away",
		Package: postgresPackage, Test: "TestRingsAndBeatsDoNotWaitForTheStandby", Needs: "PostgreSQL", Plain: true,
	},
	{
		Name: "postgres: a late writer", Promise: "a holder that falls silent while it decides is replaced, and writes nothing when it comes back",
		Package: postgresPackage, Test: "TestALateWriterOfAnOldEpoch", Needs: "PostgreSQL", Plain: true,
	},
	{
		Name: "postgres: old heads", Promise: "a write of an old head changes nothing, even without the lock",
		Package: postgresPackage, Test: "TestTheHeadIsAFenceWithoutTheLock", Needs: "PostgreSQL", Plain: true,
	},
	{
		Name: "postgres: rings that are lost", Promise: "a watcher misses no change, though rings are lost and connections end",
		Package: postgresPackage, Test: "TestRingsThatAreLost", Needs: "PostgreSQL", Plain: true,
	},
	{
		Name: "postgres: a project that is moved", Promise: "nothing is written to a project that was moved to files, and no branch is made while it is moved",
		Package: postgresPackage, Test: "TestAProjectThatWasMoved", Needs: "PostgreSQL", Plain: true,
	},
	{
		Name: "postgres: restored backups", Promise: "who has read newer lines goes on from the restored machine, and is not its holder",
		Package: postgresPackage, Test: "TestARestoredBackup", Needs: "PostgreSQL", Plain: true,
	},
	{
		Name: "postgres: settings", Promise: "a server that could lose acknowledged events is refused",
		Package: postgresPackage, Test: "TestSettingsThatAreRefused", Needs: "PostgreSQL", Plain: true,
	},
	{
		Name: "postgres: an older format", Promise: "tables of an older format are made new, and what was closed stays closed",
		Package: postgresPackage, Test: "TestTablesOfAnOlderFormat", Needs: "PostgreSQL", Plain: true,
	},
	{
		Name: "postgres: URLs", Promise: "no URL with a password, and none of a server that is not verified",
		Package: postgresPackage, Test: "TestURLsThatAreRefused", Plain: true,
	},
}
