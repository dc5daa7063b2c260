package main

const exchangePackage = "./internal/worktree/exchange"

// exchanges carry work trees between machines through real git hosts, which are killed, refuse, forget and lie.
var exchanges = []Rig{
	{
		Name: "exchange: size of a push", Promise: "one changed file among 5,000 costs less than 4 KB up, and as little to fetch",
		Package: exchangePackage, Test: "TestAPushSendsOnlyTheChange", Plain: true,
	},
	{
		Name: "exchange: eight pushes", Promise: "of eight pushes that expect the same commit, one wins and seven are told",
		Package: exchangePackage, Test: "TestOneOfEightPushesWins", Plain: true,
	},
	{
		Name: "exchange: a lost race", Promise: "a push that another one overtakes overwrites nothing",
		Package: exchangePackage, Test: "TestAPushThatLosesTheRaceOverwritesNothing", Plain: true,
	},
	{
		Name: "exchange: an old epoch", Promise: "the holder of an old epoch publishes nothing, and its refs are swept",
		Package: exchangePackage, Test: "TestAnOldEpochIsNotPublished", Plain: true,
	},
	{
		Name: "exchange: a mirror", Promise: "refs that somebody's push --mirror deleted are restored",
		Package: exchangePackage, Test: "TestRefsDeletedByAMirrorAreRestored", Plain: true,
	},
	{
		Name: "exchange: what is fetched", Promise: "what is fetched is the commit that the journal names, made by ferrus on the base of the task",
		Package: exchangePackage, Test: "TestWhatIsFetchedIsTheCommit", Plain: true,
	},
	{
		Name: "exchange: killed pushes", Promise: "a push that was killed at any moment can be repeated",
		Package: exchangePackage, Test: "TestAKilledPushIsRepeated", Plain: true,
	},
	{
		Name: "exchange: programs of the repository", Promise: "no hook and no setting of the repository runs a program when trees are exchanged",
		Package: exchangePackage, Test: "TestNoProgramOfTheRepositoryRuns", Plain: true,
	},
	{
		Name: "exchange: programs in the work tree", Promise: "no program in the work tree is started when trees are exchanged, though it is on PATH",
		Package: exchangePackage, Test: "TestAProgramInTheWorkTreeIsNotStarted", Plain: true,
	},
	{
		Name: "exchange: settings of the person", Promise: "addresses, credentials and programs that a person configured are used, and shown to nobody",
		Package: exchangePackage, Test: "TestThePersonsConfigurationIsUsed", Plain: true,
	},
	{
		Name: "exchange: a host that refuses", Promise: "a host that refuses the namespace is named, and the other namespace works",
		Package: exchangePackage, Test: "TestAHostThatRefusesTheNamespace", Plain: true,
	},
	{
		Name: "exchange: kinds of work trees", Promise: "work trees of shallow clones, sub-folders, filters and submodules travel as they are counted",
		Package: exchangePackage, Test: "TestWorkTreesOfEveryKind", Plain: true,
	},
	{
		Name: "exchange: an empty clone", Promise: "a machine without the history continues the work",
		Package: exchangePackage, Test: "TestAnEmptyCloneContinues", Plain: true,
	},
	{
		Name: "exchange: errors", Promise: "a call ends in bounded time and says what helps",
		Package: exchangePackage, Test: "TestAnErrorSaysWhatHelps", Plain: true,
	},
	{
		Name: "exchange: programs that hang", Promise: "what git started for a remote ends with the call",
		Package: exchangePackage, Test: "TestWhatGitStartedEndsWithTheCall", Plain: true,
	},
}
