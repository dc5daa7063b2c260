package main

// pipelines kill who conducts a run, and go forth and back in a task.
var pipelines = []Rig{
	{
		Name: "deaths of a pipeline's conductor", Promise: "at whatever point it dies: the same outputs, nobody started twice, one delivery",
		Package: "./internal/pipeline/run", Test: "TestTheConductorMayDieAtEveryPoint",
		Mutants: []Mutant{
			{"who was started is not adopted", "internal/pipeline/reconcile.go", "if s.Status == Pending && seen.Alive || seen.Attempt > s.Attempt {", "if s.Status == Pending && seen.Alive {"},
			{"an output that was put aside has vanished", "internal/pipeline/reconcile.go", "!ended && s.Reason == Unclean:", "!ended && s.Reason == Late:"},
			{"what was being sent was sent", "internal/pipeline/run/deliver.go", "if !t.repeats() || text == nil {\n\t\td.State = pipeline.Uncertain", "if !t.repeats() || text == nil {\n\t\td.State = pipeline.Delivered"},
		},
	},
	{
		Name: "fuzz workflows.json", Promise: "it is read, or refused with the place of each mistake", Package: "./internal/pipeline", Test: "FuzzParse",
		Mutants: []Mutant{
			{"a workflow is kept under another name", "internal/pipeline/workflow.go", "map[string]Workflow{w.Name: w}", "map[string]Workflow{w.Name + w.Name: w}"},
		},
	},
	{
		Name: "fuzz status.json", Promise: "it is read as it was written, or not at all", Package: "./internal/pipeline", Test: "FuzzDecode",
		Mutants: []Mutant{
			{"workers are called otherwise", "internal/pipeline/codec.go", "k.Role = role", "k.Role = role + role"},
		},
	},
	{
		Name: "fuzz turns of a dialogue", Promise: "nothing that an agent leaves changes what was said before", Package: "./internal/pipeline", Test: "FuzzJudge",
		Mutants: []Mutant{
			{"an empty turn is one", "internal/pipeline/judge.go", "v.Empty = v.Dialogue.Open()", "v.Empty = false"},
		},
	},
	{
		Name: "walks forth and back", Promise: "a rollback brings back the task, its documents and its files, and touches nothing of the user's",
		Package: "./internal/engine", Test: "TestWalksForthAndBack",
		Mutants: []Mutant{
			{"documents stay as they are", "internal/engine/rollback.go", "*next = next.Recall(was.State)", "docs := next.Docs\n\t\t\t*next = next.Recall(was.State)\n\t\t\tnext.Docs = docs"},
			{"the files before are brought back", "internal/engine/kept.go", "err == nil && n <= seq", "err == nil && n < seq"},
			{"files stay as they are", "internal/engine/rollback.go", "return tree.Restore(ctx, from, to, e.editsOf(snap))", "return tree.Restore(ctx, from, from, e.editsOf(snap))"},
		},
	},
}
