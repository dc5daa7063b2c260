package main

const screenRoom = "./internal/ui"

// screen tries what a person sees and does on the terminal screen.
var screen = []Rig{
	{
		Name: "screen: hostile texts", Promise: "no text of others reaches the terminal with a character that it obeys", Package: screenRoom,
		Test: "TestHostileTextsStayText", Plain: true,
	},
	{
		Name: "screen: losses", Promise: "nothing is lost before a person has said yes", Package: screenRoom,
		Test: "TestWhatLosesSomethingIsAsked", Plain: true,
	},
	{
		Name: "screen: losses, line by line", Promise: "nothing is lost before a person has typed yes", Package: screenRoom,
		Test: "TestPlainAsksBeforeItLoses", Plain: true,
	},
	{
		Name: "screen: answers", Promise: "an answer is the option or the text that the person chose", Package: screenRoom,
		Test: "TestAnAnswerIsAnOptionByItsNumber", Plain: true,
	},
	{
		Name: "screen: entries", Promise: "a rollback returns to the entry under the cursor", Package: screenRoom,
		Test: "TestARollbackReturnsToTheEntryUnderTheCursor", Plain: true,
	},
	{
		Name: "screen: required fields", Promise: "nothing is sent without what it needs", Package: screenRoom,
		Test: "TestARequiredFieldIsAskedFor", Plain: true,
	},
	{
		Name: "screen: late answers", Promise: "what was read of one item is never shown as another's", Package: screenRoom,
		Test: "TestALateAnswerIsNotShown", Plain: true,
	},
	{
		Name: "screen: the selection", Promise: "the selection stays on its item while others come and go", Package: screenRoom,
		Test: "TestTheSelectionStaysOnItsItem", Plain: true,
	},
	{
		Name: "screen: readings", Promise: "changes that come fast are read once at a time, and none is missed", Package: screenRoom,
		Test: "TestAnOverviewIsReadOnceAtATime", Plain: true,
	},
	{
		Name: "screen: acts", Promise: "acts are done one at a time, and none is cut off by a key", Package: screenRoom,
		Test: "TestTheScreenIsNotClosedInAnAct", Plain: true,
	},
	{
		Name: "screen: sizes", Promise: "every view fills its window exactly", Package: screenRoom,
		Test: "TestEveryViewFillsItsWindow", Plain: true,
	},
	{
		Name: "screen: colours", Promise: "colour is never alone, and the focus is seen", Package: screenRoom,
		Test: "TestColourIsNeverAlone", Plain: true,
	},
	{
		Name: "screen: refusals", Promise: "a refusal is shown whole, and nothing that was typed is lost", Package: screenRoom,
		Test: "TestARefusalIsShownWhole", Plain: true,
	},
	{
		Name: "screen: errors", Promise: "what cannot be read is said", Package: screenRoom,
		Test: "TestAnErrorOfReadingIsSaid", Plain: true,
	},
}
