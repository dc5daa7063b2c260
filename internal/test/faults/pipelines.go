package main

// pipelines kill who conducts a run, and go forth and back in a task.
var pipelines = []Rig{
	{
		Name: "deaths of a pipeline's conductor", Promise: "at whatever point it dies: the same outputs, nobody started twice, one delivery",
		Package: "./internal/pipeline/run", Test: "TestTheConductorMayDieAtEveryPoint",
	},
	{
		Name: "fuzz workflows.json", Promise: "it is read, or refused with the place of each mistake", Package: "./internal/pipeline/workflow", Test: "FuzzParse",
	},
	{
		Name: "fuzz status.json", Promise: "it is read as it was written, or not at all", Package: "./internal/pipeline", Test: "FuzzDecode",
	},
	{
		Name: "fuzz turns of a dialogue", Promise: "nothing that an agent leaves changes what was said before", Package: "./internal/pipeline", Test: "FuzzJudge",
	},
	{
		Name: "walks forth and back", Promise: "a rollback brings back the task, its documents and its files, and touches nothing of the user's",
		Package: "./internal/engine", Test: "TestWalksForthAndBack",
	},
}
