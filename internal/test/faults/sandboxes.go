package main

// sandboxed try what is promised of the sandboxes of checks and of executors.
var sandboxed = []Rig{
	{
		Name: "sandbox: attacks", Promise: "no attack goes through that the documentation says is stopped", Package: "./internal/sandbox/attack",
		Test: "TestNoAttackGoesThroughThatTheDocumentationSaysIsStopped", Plain: true, Needs: "Linux with Landlock",
	},
	{
		Name: "sandbox: policies", Promise: "a policy that would give away what it protects is refused", Package: "./internal/sandbox",
		Test: "TestAPolicyThatGivesItsSecretsAwayIsRefused", Plain: true,
	},
	{
		Name: "sandbox: a proof", Promise: "a sandbox that does not hold starts nothing", Package: "./internal/sandbox",
		Test: "TestAStageThatCannotBeProvedStartsNothing", Plain: true, Needs: "Linux with Landlock",
	},
	{
		Name: "sandbox: checks", Promise: "what an executor wrote reaches nothing outside when the checks run it", Package: "./internal/checkrun",
		Test: "TestAHostileCheckReachesNothing", Plain: true, Needs: "Linux with Landlock",
	},
	{
		Name: "sandbox: left by checks", Promise: "a check finds no files that the one before it left", Package: "./internal/checkrun",
		Test: "TestNoCheckLosesItsTemporaryFiles", Plain: true, Needs: "Linux with Landlock",
	},
	{
		Name: "sandbox: suites", Promise: "test suites pass in a sandbox as documented", Package: "./internal/checkrun/suites",
		Test: "TestCargoInASandbox", Plain: true, Needs: "Linux with Landlock, cargo",
	},
	{
		Name: "sandbox: databases", Promise: "a check reaches services of the machine with a network, and not without", Package: "./internal/checkrun/suites",
		Test: "TestADatabaseIsReachedOnTheLoopback", Plain: true, Needs: "Linux with bubblewrap, PostgreSQL",
	},
	{
		Name: "sandbox: executors", Promise: "an executor in a sandbox reaches nothing outside", Package: "./internal/confine",
		Test: "TestAHostileExecutorReachesNothing", Plain: true, Needs: "Linux with Landlock",
	},
	{
		Name: "sandbox: work", Promise: "an executor in a sandbox works as ever", Package: "./internal/confine",
		Test: "TestAnExecutorWorksInASandbox", Plain: true, Needs: "Linux with Landlock",
	},
	{
		Name: "sandbox: git of an executor", Promise: "what an executor makes of its git directory runs nothing outside", Package: "./internal/confine",
		Test: "TestNoGitOfAnExecutorRunsOutside", Plain: true, Needs: "Linux with Landlock",
	},
	{
		Name: "sandbox: what an executor wrote", Promise: "what an executor in a sandbox wrote runs nowhere outside of one", Package: "./internal/confine",
		Test: "TestWhatAnExecutorWroteRunsNowhereOutside", Plain: true, Needs: "Linux with Landlock",
	},
	{
		Name: "sandbox: fetched work trees", Promise: "what an executor in a sandbox wrote sets up nothing on another computer", Package: "./internal/branch",
		Test: "TestWhatAnExecutorWroteSetsNothingUpElsewhere", Plain: true, Needs: "PostgreSQL",
	},
	{
		Name: "sandbox: terminals", Promise: "nothing in a sandbox types into the terminal of a person", Package: "./internal/sandbox",
		Test: "TestNothingTypesIntoTheTerminal", Plain: true, Needs: "Linux with Landlock",
	},
	{
		Name: "sandbox: submodules", Promise: "what an executor makes of a submodule runs nothing outside", Package: "./internal/confine",
		Test: "TestNoSubmoduleOfAnExecutorRunsOutside", Plain: true, Needs: "Linux with Landlock",
	},
	{
		Name: "sandbox: folders of .ferrus", Promise: "an executor does not move the folders in which .ferrus lies", Package: "./internal/confine",
		Test: "TestTheProjectIsNotMovedAway", Plain: true, Needs: "Linux with bubblewrap",
	},
	{
		Name: "sandbox: others within", Promise: "an executor sees no other project's records and no other work tree in its own", Package: "./internal/confine",
		Test: "TestWhatLiesInTheWorkTreeOfAnotherIsHidden", Plain: true, Needs: "Linux with bubblewrap",
	},
	{
		Name: "sandbox: submodules of checks", Promise: "a check leaves no submodule that git outside would obey", Package: "./internal/confine",
		Test: "TestACheckLeavesNoSubmodule", Plain: true, Needs: "Linux with Landlock",
	},
	{
		Name: "sandbox: links", Promise: "no file is read through a link that an executor makes meanwhile", Package: "./internal/worktree/filestat",
		Test: "TestNothingIsReadThroughALink", Plain: true, Needs: "Linux",
	},
	{
		Name: "sandbox: deaths", Promise: "the claim ends with each process of an executor, and nothing is left behind", Package: "./internal/confine",
		Test: "TestTheClaimEndsWithTheClient", Plain: true, Needs: "Linux with Landlock",
	},
	{
		Name: "sandbox: an end", Promise: "an executor in a sandbox is asked to end, and may do so in its own way", Package: "./internal/confine",
		Test: "TestAnExecutorIsAskedToEnd", Plain: true, Needs: "Linux with bubblewrap",
	},
	{
		Name: "sandbox: first use", Promise: "checks that fail in their sandbox alone are one question before an agent starts", Package: "./internal/confine",
		Test: "TestChecksThatNeedANetworkAreOneQuestion", Plain: true, Needs: "Linux with bubblewrap",
	},
	{
		Name: "sandbox: auto", Promise: "an executor has a sandbox where its client can work in one, or says why it has none", Package: "./internal/confine/plan",
		Test: "TestAutoFindsASandboxOrSaysWhyNot", Plain: true, Needs: "Linux with Landlock",
	},
	{
		Name: "sandbox: checks of auto", Promise: "the checks run in a sandbox from the first executor on that does", Package: "./internal/confine",
		Test: "TestChecksFollowTheirExecutor", Plain: true, Needs: "Linux with Landlock",
	},
	{
		Name: "sandbox: refusals", Promise: "a sandbox of an executor that would give away what it protects is refused", Package: "./internal/confine/plan",
		Test: "TestASandboxThatCannotBeIsRefused", Plain: true, Needs: "Linux with Landlock",
	},
	{
		Name: "sandbox: guests", Promise: "an agent uses git in a directory of its own", Package: "./internal/worktree/guest",
		Test: "TestAnAgentUsesGitThere", Plain: true,
	},
	{
		Name: "sandbox: what guests leave", Promise: "nothing that an agent leaves in the place of .git is trusted", Package: "./internal/worktree/guest",
		Test: "TestNothingThatAnAgentLeavesIsTrusted", Plain: true,
	},
	{
		Name: "sandbox: relay", Promise: "only the token of a run leads to a server", Package: "./internal/relay",
		Test: "TestNobodyConnectsWithoutTheToken", Plain: true, Needs: "Linux",
	},
}
