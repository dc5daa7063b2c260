package main

const runPackage = "./internal/pipeline/run"

// runs try what goes wrong with pipelines: deaths, races, halves of files, clocks, disks, and agents that mean no good.
var runs = []Rig{
	{
		Name: "run: two ends at once", Promise: "workers that end at once are both seen, and the next phase begins once", Package: runPackage, Test: "TestWorkersThatEndAtOnceAreBothSeen",
	},
	{
		Name: "run: fifty ticks", Promise: "many ticks at once are as good as one", Package: runPackage, Test: "TestFiftyTicksAreAsOne",
	},
	{
		Name: "run: fifty ends at once", Promise: "no call fails because many ask at once", Package: runPackage, Test: "TestFiftyWorkersMayEndAtOnce",
	},
	{
		Name: "run: senders at once", Promise: "a result is sent once, however many want to send it", Package: runPackage, Test: "TestAResultIsSentOnce",
	},
	{
		Name: "run: deaths around a sending", Promise: "what cannot be known is asked, what can be sent twice is verified", Package: runPackage, Test: "TestADeathBetweenSendingAndItsNote",
	},
	{
		Name: "run: nobody conducts", Promise: "where all are started at once the pipeline ends without a conductor", Package: runPackage, Test: "TestAPipelineGoesOnAlone",
	},
	{
		Name: "run: markers", Promise: "what says that it was sent is not sent again", Package: runPackage, Test: "TestAMarkerIsADelivery",
	},
	{
		Name: "run: other workers' deliveries", Promise: "only the final worker sends", Package: runPackage, Test: "TestNobodyElseDelivers",
	},
	{
		Name: "run: archives elsewhere", Promise: "a run is archived whole on any disk, beside whatever is there", Package: runPackage, Test: "TestAnArchiveElsewhere",
	},
	{
		Name: "run: moves that are killed", Promise: "a run is under way or archived, never half of both", Package: runPackage, Test: "TestAMoveThatIsKilledIsDoneAgain",
	},
	{
		Name: "run: ticks in the archive", Promise: "a run that is over stays as it is", Package: runPackage, Test: "TestATickInTheArchiveLeavesItAlone",
	},
	{
		Name: "run: silent workers", Promise: "a worker has its time and the grace, and no more", Package: runPackage, Test: "TestASilentWorkerHasItsTimeAndTheGrace",
	},
	{
		Name: "run: clocks of runs", Promise: "a clock that is set back or forward, and a sleep, fail nobody who works", Package: runPackage, Test: "TestAClockThatIsSetHarmsNobody",
	},
	{
		Name: "run: places", Promise: "so many agents run at a time and no more, and no place stays empty", Package: runPackage, Test: "TestSoManyAgentsRunAtATimeAndNoMore",
	},
	{
		Name: "run: pauses of runs", Promise: "nothing goes on behind a pause before a person says so", Package: runPackage, Test: "TestAPauseLastsUntilAPersonEndsIt",
	},
	{
		Name: "run: workers that are killed", Promise: "a death is seen at once, and a retry starts who died", Package: runPackage, Test: "TestAKilledWorkerIsSeenAndStartedAnewAlone",
	},
	{
		Name: "run: commands as workers", Promise: "nobody sees the output of a command before the command has ended", Package: runPackage, Test: "TestACommandIsAWorkerLikeAnAgent", Plain: true,
	},
	{
		Name: "run: commands that fail", Promise: "the output of a command counts when the command ended well, and only then", Package: runPackage, Test: "TestACommandThatFailsHasNoOutput", Plain: true,
	},
	{
		Name: "run: shims of commands", Promise: "an output of a command is there whole, or the command is run again", Package: runPackage, Test: "TestTheShimOfACommandMayDieAtEveryPoint",
	},
	{
		Name: "run: commands and their time", Promise: "a command that is ended has no output", Package: runPackage, Test: "TestACommandHasItsTime", Plain: true,
	},
	{
		Name: "run: reruns", Promise: "a run is repeated from outputs that have not changed, or not at all", Package: runPackage, Test: "TestARerunIsRefusedWithItsReason", Plain: true,
	},
	{
		Name: "run: archives of reruns", Promise: "the run that is repeated stays byte for byte as it was", Package: runPackage, Test: "TestARerunLeavesTheArchiveAsItIs", Plain: true,
	},
	{
		Name: "run: copies of reruns", Promise: "a copied output is guarded like any other", Package: runPackage, Test: "TestACopiedOutputIsGuardedLikeAnyOther", Plain: true,
	},
	{
		Name: "run: reruns that are killed", Promise: "a rerun leaves a run that goes on, or nothing that counts", Package: runPackage, Test: "TestARerunMayDieAtEveryPoint",
	},
	{
		Name: "run: everything is killed", Promise: "kill all there is, at any moment, and the run ends as it would have", Package: runPackage, Test: "TestWhateverIsKilledTheRestIsTheSame",
	},
	{
		Name: "run: deaths around a start", Promise: "who was started is found, who was not is started", Package: runPackage, Test: "TestAConductorThatDiesAroundAStartStartsOnce",
	},
	{
		Name: "run: ends that nobody saw", Promise: "one look is enough, whatever was missed", Package: runPackage, Test: "TestNobodyNeedsToBeTold",
	},
	{
		Name: "run: workers without memory", Promise: "the prompt and its files are all that a worker needs, and all that it gets", Package: runPackage, Test: "TestAPromptIsAllThatAWorkerNeeds",
	},
	{
		Name: "run: agents that are not there", Promise: "an agent that cannot be started is reported, and a retry continues", Package: runPackage, Test: "TestAnAgentThatIsNotThereIsToldAndRetried",
	},
	{
		Name: "run: halves of files", Promise: "half a file is fed to nobody", Package: runPackage, Test: "TestHalfAFileIsFedToNobody",
	},
	{
		Name: "run: looks at runs at rest", Promise: "where there is nothing to do nothing is written", Package: runPackage, Test: "TestLookingAgainChangesNothing",
	},
	{
		Name: "run: late outputs", Promise: "what comes late heals, until the run is over", Package: runPackage, Test: "TestALateOutputHeals",
	},
	{
		Name: "run: status.json by hand", Promise: "files count, whatever status.json says", Package: runPackage, Test: "TestFilesCountAndNotStatus",
	},
	{
		Name: "run: outputs that vanish", Promise: "no success without its file", Package: runPackage, Test: "TestAnOutputThatVanishesIsAFailure",
	},
	{
		Name: "run: inputs that vanish", Promise: "nobody is started without what it reads", Package: runPackage, Test: "TestAWorkerIsNotStartedWithoutItsInputs",
	},
	{
		Name: "run: files of others", Promise: "what somebody changes that is not his is put back, told and kept", Package: runPackage, Test: "TestNobodyWritesWhatIsNotHis",
	},
	{
		Name: "run: forged outputs", Promise: "nobody does another's work before its turn", Package: runPackage, Test: "TestAForgedOutputDoesNotStandForItsWorker",
	},
	{
		Name: "run: edits of a person", Promise: "what a person edits while nobody works counts", Package: runPackage, Test: "TestAPersonMayEditWhileNobodyWorks",
	},
	{
		Name: "run: offences in a dialogue", Promise: "who has the turn changes its own words alone, and has one turn more", Package: runPackage, Test: "TestWhoOffendsInADialogueHasOneMoreTurn",
	},
	{
		Name: "run: turns by path", Promise: "nothing of a dialogue passes through a command", Package: runPackage, Test: "TestADialogueIsNotToldByACommand",
	},
	{
		Name: "run: full disks of runs", Promise: "a full disk is said, halves nothing, and is forgotten when there is space", Package: runPackage, Test: "TestAFullDiskHalvesNothing",
		Needs: "Linux and the right to mount",
	},
}
