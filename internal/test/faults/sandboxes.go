package main

// sandboxed try what is promised of the sandbox of checks.
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
}
