package main

const outboxPackage = "./internal/outbox"

// notices try what a person is notified of, and where to.
var notices = []Rig{
	{
		Name: "notices: kills", Promise: "a kill at any point loses no notification, and repeats only what was not recorded", Package: outboxPackage,
		Test: "TestAKillLosesNothing", Plain: true,
	},
	{
		Name: "notices: once", Promise: "each channel gets each item once, also from another process", Package: outboxPackage,
		Test: "TestEachItemIsSentOnce", Plain: true,
	},
	{
		Name: "notices: at once", Promise: "of many processes one sends an item", Package: outboxPackage,
		Test: "TestManyProcessesSendAnItemOnce", Plain: true,
	},
	{
		Name: "notices: tries", Promise: "a channel that fails is tried again, and the others are not", Package: outboxPackage,
		Test: "TestAChannelThatFailsIsTriedAgain", Plain: true,
	},
	{
		Name: "notices: the end", Promise: "no service holds the end of a command up", Package: outboxPackage,
		Test: "TestACommandWaitsForServicesAShortTime", Plain: true,
	},
	{
		Name: "notices: the rest", Promise: "what was cut at the end of a command is sent by the next one", Package: outboxPackage,
		Test: "TestWhatWasCutIsSentByTheNextCommand", Plain: true,
	},
	{
		Name: "notices: whose text it is", Promise: "no line of an agent looks like ferrus's own in a notification", Package: outboxPackage,
		Test: "TestNoLineOfAnotherIsFerrus", Plain: true,
	},
	{
		Name: "notices: too late", Promise: "what needs nobody any longer is not sent", Package: outboxPackage,
		Test: "TestWhatNeedsNobodyIsNotSent", Plain: true,
	},
	{
		Name: "notices: strangers", Promise: "nothing is sent to an address that no person has agreed to", Package: outboxPackage,
		Test: "TestACloneSendsNothing", Plain: true,
	},
	{
		Name: "notices: secrets of a file", Promise: "what is frozen, agreed to, explained or refused has no secret of a URL", Package: "./internal/config",
		Test: "TestSecretsOfURLsStayInTheFile", Plain: true,
	},
	{
		Name: "notices: another URL", Promise: "another URL needs another agreement, and none is frozen", Package: "./internal/config",
		Test: "TestAnotherURLIsAnotherValue", Plain: true,
	},
	{
		Name: "notices: what may be named", Promise: "no variable but those for it can be sent away", Package: "./internal/config",
		Test: "TestNoKeyTakesWhatCannotWork", Plain: true,
	},
	{
		Name: "notices: secrets of a failure", Promise: "no failure names a secret of a URL", Package: "./internal/platform/notify",
		Test: "TestAFailureNamesNoSecret", Plain: true,
	},
	{
		Name: "notices: words of a failure", Promise: "a failure names no credential and is a short line", Package: "./internal/platform/notify",
		Test: "TestAReasonIsShort", Plain: true,
	},
	{
		Name: "notices: the desktop", Promise: "no program of the project shows a notification, and no markup of an agent", Package: "./internal/platform/notify",
		Test: "TestTheDesktopShowsTheText", Plain: true,
	},
	{
		Name: "notices: checks", Promise: "no check gets the URL", Package: "./internal/checks",
		Test: "TestCommandsDoNotSeeWhatIsDenied", Plain: true,
	},
}
