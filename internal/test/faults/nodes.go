package main

// nodes try what may happen to several computers that conduct the tasks of one project.
var nodes = []Rig{
	{
		Name: "nodes: one conductor", Promise: "one conductor has the post of a task, of all that try at once",
		Package: postgresPackage, Test: "TestOneConductorHasThePost", Needs: "PostgreSQL", Plain: true,
	},
	{
		Name: "nodes: a lost computer", Promise: "a computer that others take for lost starts nothing, and knows that it is lost",
		Package: postgresPackage, Test: "TestALostComputerStartsNothing", Needs: "PostgreSQL", Plain: true,
	},
	{
		Name: "nodes: a dead conductor", Promise: "a conductor that ends without a word is followed by one of its own computer at once, and of another one after a while",
		Package: postgresPackage, Test: "TestAConductorThatEndsWithoutAWord", Needs: "PostgreSQL", Plain: true,
	},
	{
		Name: "nodes: files", Promise: "the newest files of a task have one home, also when a computer ends on the way",
		Package: postgresPackage, Test: "TestTheFilesOfATaskHaveOneHome", Needs: "PostgreSQL", Plain: true,
	},
	{
		Name: "nodes: newer files", Promise: "no agent starts on files that are older than those another computer has made",
		Package: postgresPackage, Test: "TestWhoMakesATreeHasTheFiles", Needs: "PostgreSQL", Plain: true,
	},
	{
		Name: "nodes: claims", Promise: "work is claimed and reviewed on the newest files, whatever computer has made them",
		Package: "./internal/branch", Test: "TestWorkIsClaimedOnTheNewestFiles", Needs: "PostgreSQL", Plain: true,
	},
	{
		Name: "nodes: fences", Promise: "an agent ends before another computer continues its task",
		Package: "./internal/agents/process", Test: "TestAFenceEndsAnAgentThatOthersMayContinue", Plain: true,
	},
	{
		Name: "nodes: unplugged", Promise: "the task of a computer that was unplugged is continued by another one, with its files",
		Package: nodesPackage, Test: "TestANodeIsUnplugged", Needs: "PostgreSQL", Plain: true,
	},
	{
		Name: "nodes: drained", Promise: "a node that is drained hands its files over as they are",
		Package: nodesPackage, Test: "TestADrainedNodeHandsItsTaskOver", Needs: "PostgreSQL", Plain: true,
	},
	{
		Name: "nodes: late", Promise: "what an agent of a lost computer does later is refused, pushes included",
		Package: nodesPackage, Test: "TestWhatComesLateIsRefused", Needs: "PostgreSQL", Plain: true,
	},
	{
		Name: "nodes: two judges", Promise: "no reviewer starts on another computer before a clean gate has passed there too",
		Package: nodesPackage, Test: "TestTheReviewersComputerJudgesToo", Needs: "PostgreSQL", Plain: true,
	},
	{
		Name: "nodes: idle", Promise: "a node is listed while it runs, also without a task",
		Package: nodesPackage, Test: "TestANodeWithoutATask", Needs: "PostgreSQL", Plain: true,
	},
	{
		Name: "nodes: away", Promise: "a node waits for a database that is away when it starts, and can be ended meanwhile",
		Package: nodesPackage, Test: "TestANodeWaitsForTheDatabase", Needs: "PostgreSQL", Plain: true,
	},
	{
		Name: "nodes: queue", Promise: "a task of the queue is claimed by one of all computers that try at once",
		Package: postgresPackage, Test: "TestATaskIsTakenByOneComputer", Needs: "PostgreSQL", Plain: true,
	},
	{
		Name: "nodes: queue, claims", Promise: "the claim of a process that has ended or of a lost computer is void, and no other",
		Package: postgresPackage, Test: "TestAClaimEndsWithItsProcess", Needs: "PostgreSQL", Plain: true,
	},
	{
		Name: "nodes: queue, branches", Promise: "a computer that has lost its claim makes no branch, and the next one knows what was made",
		Package: postgresPackage, Test: "TestTheBranchOfATaskIsMadeByItsClaimant", Needs: "PostgreSQL", Plain: true,
	},
	{
		Name: "nodes: queue, cut off", Promise: "a task whose taking was cut off is finished by the next computer, and begun once",
		Package: "./internal/fleet", Test: "TestATaskThatIsCutOffIsFinishedOnAnyComputer", Needs: "PostgreSQL", Plain: true,
	},
	{
		Name: "nodes: queue, moves", Promise: "a move of the queue there or back that was cut off loses no task and doubles none",
		Package: "./internal/queue", Test: "TestAQueueMovesThereAndBackAlsoIfCutOff", Needs: "PostgreSQL",
	},
}

const nodesPackage = "./internal/e2e/nodes"
