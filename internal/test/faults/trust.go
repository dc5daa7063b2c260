package main

// agreements try what a repository can make run before a person has agreed.
var agreements = []Rig{
	{
		Name: "trust: records", Promise: "a record that is damaged or of another project agrees to nothing", Package: "./internal/trust",
		Test: "TestADamagedRecordAgreesToNothing",
	},
	{
		Name: "trust: the state folder", Promise: "no repository and no other user decides where records lie", Package: "./internal/trust",
		Test: "TestAFolderThatSomebodyElseDecidesIsRefused",
	},
	{
		Name: "trust: commands of pipelines", Promise: "no command of workflows.json runs before a person has agreed", Package: "./internal/pipeline/workflow",
		Test: "TestEveryValueThatStartsSomethingIsExecutable", Plain: true,
	},
	{
		Name: "trust: old values", Promise: "a value that stands in no agreement is named", Package: "./internal/trust",
		Test: "TestWhatNobodyAgreedToIsNamed", Plain: true,
	},
	{
		Name: "trust: a clone", Promise: "nothing of a clone runs by a tool before a person has agreed", Package: "./internal/server",
		Test: "TestNothingOfACloneRunsByATool",
	},
}
