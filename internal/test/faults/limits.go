package main

// limits attack what a stranger's repository or text can do to the person who only looks, and how much one caller can take.
var limits = []Rig{
	{
		Name: "hostile: looking runs nothing", Promise: "no reading command starts a program that the repository names", Package: "./cmd/ferrus",
		Test: "TestLookingRunsNothing", Needs: "sh", Plain: true,
	},
	{
		Name: "hostile: every character of Unicode", Promise: "what cannot be seen is stored and shown as a mark", Package: "./internal/safetext",
		Test: "TestNoCharacterOfUnicodeIsHiddenAndRaw", Plain: true,
	},
	{
		Name: "page: hidden characters", Promise: "no character of a patch is invisible on the page, where it is approved", Package: "./internal/web",
		Test: "TestEveryHiddenCharacterIsMarkedOnThePage", Plain: true,
	},
	{
		Name: "review: hidden characters", Promise: "a reviewing agent reads what is there", Package: "./internal/tools",
		Test: "TestAReviewingAgentReadsEveryHiddenCharacterAsAMark", Needs: "sh", Plain: true,
	},
	{
		Name: "terminal: hidden characters", Promise: "what is printed is what is there", Package: "./cmd/ferrus",
		Test: "TestEveryHiddenCharacterIsMarkedOnATerminal", Plain: true,
	},
	{
		Name: "hostile: documents are cleaned", Promise: "what is stored, shown to models and shown to people is the same", Package: "./internal/tools",
		Test: "TestDocumentsAreCleanedWhenTheyAreAccepted", Plain: true,
	},
	{
		Name: "hostile: the journal is clean", Promise: "what is stored, shown to models and shown to people is the same", Package: "./internal/store/file",
		Test: "TestTextsAreKeptToTheByte", Plain: true,
	},
	{
		Name: "hostile: text of models is framed", Promise: "no line of a model's text looks like one of ferrus's own", Package: "./cmd/ferrus",
		Test: "TestNoTextOfAModelLooksLikeFerrus", Plain: true,
	},
	{
		Name: "hostile: resources by role", Promise: "a resource is read by the roles that have its tools", Package: "./internal/tools",
		Test: "TestAResourceIsReadByTheRolesThatHaveTheTools", Plain: true,
	},
	{
		Name: "hostile: notes are bounded", Promise: "no agent grows the journal for ever", Package: "./internal/tools", Test: "TestNotesAreBounded", Plain: true,
	},
	{
		Name: "hostile: messages are bounded", Promise: "two models that answer each other end", Package: "./internal/tools", Test: "TestMessagesAreBounded", Plain: true,
	},
	{
		Name: "messages: once to each reader", Promise: "a message reaches each agent it is for once, and nobody as a person's word", Package: "./internal/tools",
		Test: "TestAMessageIsDeliveredOnceToEachReader", Plain: true,
	},
	{
		Name: "messages: long ones", Promise: "a message is not lost because others are long", Package: "./internal/tools",
		Test: "TestLongMessagesArriveOneByOne", Plain: true,
	},
	{
		Name: "messages: to the other role", Promise: "an agent writes to no one but the agent that it works with", Package: "./internal/tools",
		Test: "TestAMessageGoesToTheOtherRole", Plain: true,
	},
	{
		Name: "messages: within a family", Promise: "an executor and its delegates read each other once, and nobody else's", Package: "./internal/delegate",
		Test: "TestMessagesGoWithinAFamily", Plain: true,
	},
	{
		Name: "messages: of another task", Promise: "an id that is given again is another delegate", Package: "./internal/delegate",
		Test: "TestMessagesOfAnotherTaskAreNotRead", Plain: true,
	},
	{
		Name: "hostile: the newest lines", Promise: "the end of the journal is read from the end, and is what the whole says", Package: "./internal/store/file",
		Test: "TestTheNewestLinesAreTheEndOfTheHistory", Plain: true,
	},
	{
		Name: "hostile: the newest lines are cheap", Promise: "what lies before the newest lines is not read", Package: "./internal/store/file",
		Test: "TestTheNewestLinesCostNothingOfTheRest", Plain: true,
	},
	{
		Name: "hostile: who lost the work", Promise: "an agent that calls in vain keeps nobody waiting: its refusal reads no history under the lock", Package: "./internal/engine",
		Test: "TestARefusalReadsNoHistoryUnderTheLock", Plain: true,
	},
	{
		Name: "hostile: a search is cheap", Promise: "a line is found without reading those before it", Package: "./internal/store/file", Test: "TestASearchReadsFewLines", Plain: true,
	},
	{
		Name: "hostile: shares of tokens", Promise: "other tokens lock no token out", Package: "./internal/server/web", Test: "TestEachTokenHasAShare", Plain: true,
	},
	{
		Name: "hostile: one message, each name once", Promise: "a message means the same to every reader", Package: "./internal/server/web",
		Test: "TestAMessageSaysEachThingOnce", Plain: true,
	},
	{
		Name: "hostile: stale locks of git", Promise: "a lock that a killed git has left is found, and no other", Package: "./internal/worktree",
		Test: "TestALockThatNobodyHoldsIsFound", Plain: true,
	},
}
