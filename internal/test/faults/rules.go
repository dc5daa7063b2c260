package main

// ruled try what is promised of the rules of ferrus.toml: they take a step that somebody could have taken, once, and widen nothing.
var ruled = []Rig{
	{
		Name: "rules: the order", Promise: "the first rule that matches counts, and the defaults come before all others", Package: "./internal/rules",
		Test: "TestTheFirstRuleThatMatchesCounts", Plain: true,
	},
	{
		Name: "rules: what a rule may do", Promise: "a rule neither answers for a person nor decides what only agents and people decide", Package: "./internal/rules",
		Test: "TestTheEngineMayTakeEveryAction", Plain: true,
	},
	{
		Name: "rules: without a meaning", Promise: "a rule does only what is possible after its event, and approves only files that it names", Package: "./internal/rules",
		Test: "TestARuleWithoutAMeaningIsRefused", Plain: true,
	},
	{
		Name: "rules: a mistake", Promise: "a rule that can never match is refused, and every mistake has its line", Package: "./internal/config",
		Test: "TestAMistakeInARuleHasItsOwnLine", Plain: true,
	},
	{
		Name: "rules: what is frozen", Promise: "rules are frozen with the task, and each is a value that a person agrees to", Package: "./internal/config",
		Test: "TestRulesAreFrozenAndAgreedTo", Plain: true,
	},
	{
		Name: "rules: what is approved", Promise: "a rule approves only files that it names, all of them", Package: "./internal/engine",
		Test: "TestARuleApproves", Plain: true,
	},
	{
		Name: "rules: the files since", Promise: "a rule approves only checked files that are as submitted", Package: "./internal/engine",
		Test: "TestAnApprovalByARuleNeedsTheCheckedFiles", Plain: true,
	},
	{
		Name: "rules: the notices", Promise: "no rule approves what a reviewer would have a notice of, whatever it is", Package: "./internal/engine",
		Test: "TestNoRuleApprovesWhatAReviewerHasANoticeOf", Plain: true,
	},
	{
		Name: "rules: an event and its rule", Promise: "a kill between an event and its rule loses neither", Package: "./internal/engine",
		Test: "TestAKillBetweenEventAndRuleLosesNeither", Plain: true,
	},
	{
		Name: "rules: once", Promise: "a rule is followed once, and starts no other rule", Package: "./internal/rules",
		Test: "TestNoActionStartsARule", Plain: true,
	},
	{
		Name: "rules: another executor", Promise: "an executor that a rule replaces is fenced, and the named one is started", Package: "./internal/engine",
		Test: "TestARuleGivesTheWorkToAnother", Plain: true,
	},
	{
		Name: "rules: those of the work tree", Promise: "an executor gains nothing by rules that it writes", Package: "./internal/engine",
		Test: "TestAnExecutorGainsNothingFromItsOwnRules", Plain: true,
	},
	{
		Name: "rules: the limits", Promise: "the questions of the limits are rules, and each entry names its rule", Package: "./internal/engine",
		Test: "TestTheDefaultRulesAreTheLimits", Plain: true,
	},
	{
		Name: "rules: a simulation", Promise: "a simulation shows which rule follows an event", Package: "./internal/simulate",
		Test: "TestASimulationShowsWhichRuleFollows", Plain: true,
	},
	{
		Name: "rules: who is started", Promise: "the conductor ends the replaced executor and starts the named one", Package: "./internal/e2e",
		Test: "TestARuleStartsAnotherExecutor", Plain: true,
	},
	{
		Name: "rules: a killed server", Promise: "a submission whose server was killed before the rule is approved by the next process that looks", Package: "./internal/e2e",
		Test: "TestAServerKilledBetweenASubmissionAndItsRule", Plain: true,
	},
	{
		Name: "rules: a delegate", Promise: "no rule decides about a delegate in place of its parent", Package: "./internal/delegate",
		Test: "TestNoRuleApprovesADelegate", Plain: true,
	},
	{
		Name: "rules: an attempt", Promise: "the agent of an attempt is its own, whatever a rule did before", Package: "./internal/branch",
		Test: "TestTheAgentOfAnAttemptIsNotThatOfARule", Plain: true,
	},
}
