package main

const screenPackage = "./internal/ui"

// screen tries what a person sees and does on the terminal screen.
var screen = []Rig{
	{
		Name: "screen: hostile texts", Promise: "no text of others reaches the terminal with a character that it obeys", Package: screenPackage,
		Test: "TestHostileTextsStayText", Plain: true,
	},
	{
		Name: "screen: losses", Promise: "nothing is lost before a person has said yes", Package: screenPackage,
		Test: "TestWhatLosesSomethingIsAsked", Plain: true,
	},
	{
		Name: "screen: losses, line by line", Promise: "nothing is lost before a person has typed yes", Package: screenPackage,
		Test: "TestPlainAsksBeforeItLoses", Plain: true,
	},
	{
		Name: "screen: answers", Promise: "an answer is the option or the text that the person chose", Package: screenPackage,
		Test: "TestAnAnswerIsAnOptionByItsNumber", Plain: true,
	},
	{
		Name: "screen: entries", Promise: "a rollback returns to the entry under the cursor", Package: screenPackage,
		Test: "TestARollbackReturnsToTheEntryUnderTheCursor", Plain: true,
	},
	{
		Name: "screen: required fields", Promise: "nothing is sent without what it needs", Package: screenPackage,
		Test: "TestARequiredFieldIsAskedFor", Plain: true,
	},
	{
		Name: "screen: late answers", Promise: "what was read of one item is never shown as another's", Package: screenPackage,
		Test: "TestALateAnswerIsNotShown", Plain: true,
	},
	{
		Name: "screen: the selection", Promise: "the selection stays on its item while others come and go", Package: screenPackage,
		Test: "TestTheSelectionStaysOnItsItem", Plain: true,
	},
	{
		Name: "screen: readings", Promise: "changes that come fast are read once at a time, and none is missed", Package: screenPackage,
		Test: "TestAnOverviewIsReadOnceAtATime", Plain: true,
	},
	{
		Name: "screen: acts", Promise: "acts are done one at a time, and none is cut off by a key", Package: screenPackage,
		Test: "TestTheScreenIsNotClosedInAnAct", Plain: true,
	},
	{
		Name: "screen: sizes", Promise: "every view fills its window exactly", Package: screenPackage,
		Test: "TestEveryViewFillsItsWindow", Plain: true,
	},
	{
		Name: "screen: colours", Promise: "colour is never alone, and the focus is seen", Package: screenPackage,
		Test: "TestColourIsNeverAlone", Plain: true,
	},
	{
		Name: "screen: refusals", Promise: "a refusal is shown whole, and nothing that was typed is lost", Package: screenPackage,
		Test: "TestARefusalIsShownWhole", Plain: true,
	},
	{
		Name: "screen: errors", Promise: "what cannot be read is said", Package: screenPackage,
		Test: "TestAnErrorOfReadingIsSaid", Plain: true,
	},
}
