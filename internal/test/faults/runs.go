package main

const runRoom = "./internal/pipeline/run"

// runs try what goes wrong with pipelines: deaths, races, halves of files, clocks, disks, and agents that mean no good.
var runs = []Rig{
	{
		Name: "run: two ends at once", Promise: "workers that end at once are both seen, and the next phase begins once", Package: runRoom, Test: "TestWorkersThatEndAtOnceAreBothSeen",
	},
	{
		Name: "run: fifty ticks", Promise: "many ticks at once are as good as one", Package: runRoom, Test: "TestFiftyTicksAreAsOne",
	},
	{
		Name: "run: fifty ends at once", Promise: "no call fails because many ask at once", Package: runRoom, Test: "TestFiftyWorkersMayEndAtOnce",
	},
	{
		Name: "run: senders at once", Promise: "a result is sent once, whoever wants to send it", Package: runRoom, Test: "TestAResultIsSentOnce",
	},
	{
		Name: "run: deaths around a sending", Promise: "what cannot be known is asked, what can be sent twice is verified", Package: runRoom, Test: "TestADeathBetweenSendingAndItsNote",
	},
	{
		Name: "run: nobody conducts", Promise: "where all are started at once the pipeline ends without a conductor", Package: runRoom, Test: "TestAPipelineGoesOnAlone",
	},
	{
		Name: "run: markers", Promise: "what says that it was sent is not sent again", Package: runRoom, Test: "TestAMarkerIsADelivery",
	},
	{
		Name: "run: other workers' deliveries", Promise: "only the final worker sends", Package: runRoom, Test: "TestNobodyElseDelivers",
	},
	{
		Name: "run: archives elsewhere", Promise: "a run is archived whole on any disk, beside whatever is there", Package: runRoom, Test: "TestAnArchiveElsewhere",
	},
	{
		Name: "run: moves that are killed", Promise: "a run is under way or archived, never half of both", Package: runRoom, Test: "TestAMoveThatIsKilledIsDoneAgain",
	},
	{
		Name: "run: ticks in the archive", Promise: "a run that is over stays as it is", Package: runRoom, Test: "TestATickInTheArchiveLeavesItAlone",
	},
	{
		Name: "run: silent workers", Promise: "a worker has its time and the grace, and no more", Package: runRoom, Test: "TestASilentWorkerHasItsTimeAndTheGrace",
	},
	{
		Name: "run: clocks of runs", Promise: "a clock that is set back or forward, and a sleep, fail nobody who works", Package: runRoom, Test: "TestAClockThatIsSetHarmsNobody",
	},
	{
		Name: "run: places", Promise: "so many agents run at a time and no more, and no place stays empty", Package: runRoom, Test: "TestSoManyAgentsRunAtATimeAndNoMore",
	},
	{
		Name: "run: pauses of runs", Promise: "nothing goes on behind a pause before a person says so", Package: runRoom, Test: "TestAPauseLastsUntilAPersonEndsIt",
	},
	{
		Name: "run: workers that are killed", Promise: "a death is seen at once, and a retry starts who died", Package: runRoom, Test: "TestAKilledWorkerIsSeenAndStartedAnewAlone",
	},
	{
		Name: "run: commands as workers", Promise: "nobody sees the output of a command before the command has ended", Package: runRoom, Test: "TestACommandIsAWorkerLikeAnAgent", Plain: true,
	},
	{
		Name: "run: commands that fail", Promise: "the output of a command counts when the command ended well, and only then", Package: runRoom, Test: "TestACommandThatFailsHasNoOutput", Plain: true,
	},
	{
		Name: "run: shims of commands", Promise: "an output of a command is there whole, or the command is run again", Package: runRoom, Test: "TestTheShimOfACommandMayDieAtEveryPoint",
	},
	{
		Name: "run: commands and their time", Promise: "a command that is ended has no output", Package: runRoom, Test: "TestACommandHasItsTime", Plain: true,
	},
	{
		Name: "run: reruns", Promise: "a run is taken up again from outputs that are as they were, or not at all", Package: runRoom, Test: "TestARerunIsRefusedWithItsReason", Plain: true,
	},
	{
		Name: "run: archives of reruns", Promise: "the run that is taken up again stays byte for byte as it was", Package: runRoom, Test: "TestARerunLeavesTheArchiveAsItIs", Plain: true,
	},
	{
		Name: "run: copies of reruns", Promise: "a copied output is guarded like any other", Package: runRoom, Test: "TestACopiedOutputIsGuardedLikeAnyOther", Plain: true,
	},
	{
		Name: "run: reruns that are killed", Promise: "a rerun leaves a run that goes on, or nothing that counts", Package: runRoom, Test: "TestARerunMayDieAtEveryPoint",
	},
	{
		Name: "run: everything is killed", Promise: "kill all there is, at any moment, and the run ends as it would have", Package: runRoom, Test: "TestWhateverIsKilledTheRestIsTheSame",
	},
	{
		Name: "run: deaths around a start", Promise: "who was started is found, who was not is started", Package: runRoom, Test: "TestAConductorThatDiesAroundAStartStartsOnce",
	},
	{
		Name: "run: ends that nobody saw", Promise: "one look is enough, whatever was missed", Package: runRoom, Test: "TestNobodyNeedsToBeTold",
	},
	{
		Name: "run: workers without memory", Promise: "the prompt and its files are all that a worker needs, and all it is told", Package: runRoom, Test: "TestAPromptIsAllThatAWorkerNeeds",
	},
	{
		Name: "run: agents that are not there", Promise: "an agent that cannot be started is told, and a retry goes on", Package: runRoom, Test: "TestAnAgentThatIsNotThereIsToldAndRetried",
	},
	{
		Name: "run: halves of files", Promise: "half a file is fed to nobody", Package: runRoom, Test: "TestHalfAFileIsFedToNobody",
	},
	{
		Name: "run: looks at runs at rest", Promise: "where there is nothing to do nothing is written", Package: runRoom, Test: "TestLookingAgainChangesNothing",
	},
	{
		Name: "run: late outputs", Promise: "what comes late heals, until the run is over", Package: runRoom, Test: "TestALateOutputHeals",
	},
	{
		Name: "run: status.json by hand", Promise: "files count, whatever status.json says", Package: runRoom, Test: "TestFilesCountAndNotStatus",
	},
	{
		Name: "run: outputs that vanish", Promise: "no success without its file", Package: runRoom, Test: "TestAnOutputThatVanishesIsAFailure",
	},
	{
		Name: "run: inputs that vanish", Promise: "nobody is started without what it reads", Package: runRoom, Test: "TestAWorkerIsNotStartedWithoutItsInputs",
	},
	{
		Name: "run: files of others", Promise: "what somebody changes that is not his is put back, told and kept", Package: runRoom, Test: "TestNobodyWritesWhatIsNotHis",
	},
	{
		Name: "run: forged outputs", Promise: "nobody does another's work before its turn", Package: runRoom, Test: "TestAForgedOutputDoesNotStandForItsWorker",
	},
	{
		Name: "run: edits of a person", Promise: "what a person edits while nobody works counts", Package: runRoom, Test: "TestAPersonMayEditWhileNobodyWorks",
	},
	{
		Name: "run: offences in a dialogue", Promise: "who has the turn changes its own words alone, and has one turn more", Package: runRoom, Test: "TestWhoOffendsInADialogueHasOneMoreTurn",
	},
	{
		Name: "run: turns by path", Promise: "nothing of a dialogue passes through a command", Package: runRoom, Test: "TestADialogueIsNotToldByACommand",
	},
	{
		Name: "run: full disks of runs", Promise: "a full disk is said, halves nothing, and is forgotten when there is room", Package: runRoom, Test: "TestAFullDiskHalvesNothing",
		Needs: "Linux and the right to mount",
	},
}
