package main

// rootfiles are the tests that lay links, FIFOs, devices and huge files in place of files of a project, and write into
// these files what ferrus does not.
var rootfiles = []Rig{
	{
		Name: "hostile: entries in place of an agent's files", Promise: "no entry in place of a lock, record, log or settings of an agent leads outside, hangs or fills the memory",
		Package: "./internal/agents/process", Test: "TestNoEntryLeadsASlotOutside",
	},
	{
		Name: "hostile: records of runs that nobody wrote", Promise: "a line with a field that no run can have is left out, and a run's log is where logs are",
		Package: "./internal/agents/process", Test: "TestARecordThatNobodyWroteIsLeftOut",
	},
	{
		Name: "hostile: a lock file from elsewhere", Promise: "a record that a repository brings along ends no process of others", Needs: "Linux",
		Package: "./internal/agents/process", Test: "TestAForeignRecordEndsNobody", Plain: true,
	},
	{
		Name: "hostile: entries in place of the conductor's files", Promise: "no entry in place of the conductor's lock and record leads outside, hangs or fills the memory",
		Package: "./internal/conductor", Test: "TestNoEntryLeadsAConductorOutside",
	},
	{
		Name: "hostile: a hard link in the queue", Promise: "the text of a file that is not the queue's alone is no task",
		Package: "./internal/queue", Test: "TestAHardLinkIsNoTask", Plain: true,
	},
	{
		Name: "hostile: entries in place of the tokens", Promise: "a link to tokens that are good elsewhere lets nobody in",
		Package: "./internal/server/tokens", Test: "TestNoEntryLetsAnybodyIn",
	},
	{
		Name: "hostile: entries in place of ferrus.toml", Promise: "a configuration is read of a regular file alone, bounded",
		Package: "./internal/config", Test: "TestNoEntryIsReadAsAConfiguration",
	},
	{
		Name: "hostile: entries in place of the clients' files", Promise: "register writes nothing outside of the project, and nothing of git's",
		Package: "./internal/agents/register", Test: "TestNoEntryLeadsRegisterOutside",
	},
	{
		Name: "hostile: a client's file that is git's", Promise: "no client's file is written in place of what git and ferrus keep",
		Package: "./internal/agents/register", Test: "TestALinkToWhatGitKeepsIsRefused", Plain: true,
	},
	{
		Name: "hostile: entries in place of a pipeline's files", Promise: "no entry in place of the files and folders of a run leads outside, hangs or fills the memory",
		Package: "./internal/pipeline/run", Test: "TestNoEntryLeadsARunOutside",
	},
	{
		Name: "hostile: fields of a run that nobody wrote", Promise: "a field that no run of a pipeline can have is refused by its name",
		Package: "./internal/pipeline/run", Test: "TestAFieldThatNoRunHasIsRefused",
	},
	{
		Name: "hostile: a run's files that its workers wrote", Promise: "status.json, delivery.json and intent.json are checked as the journal is",
		Package: "./internal/pipeline/run", Test: "TestAStrangersStatusIsNotBelieved", Plain: true,
	},
	{
		Name: "hostile: a project that was moved", Promise: "a run is of the project that it lies in, whatever its journal says",
		Package: "./internal/pipeline/run", Test: "TestAProjectThatWasMovedGoesOn", Plain: true,
	},
	{
		Name: "hostile: entries in place of what commands read", Promise: "no entry in place of what the commands read and write leads outside, hangs or fills the memory",
		Package: "./cmd/ferrus", Test: "TestNoEntryLeadsACommandOutside",
	},
	{
		Name: "hostile: a run from a commit", Promise: "no command of a run that git tracks is run",
		Package: "./cmd/ferrus", Test: "TestARunFromACommitIsNotGoneOnWith", Plain: true,
	},
}
