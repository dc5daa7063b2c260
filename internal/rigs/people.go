package main

// people try what a person reads and types: answers, and the commands that ferrus suggests.
var people = []Rig{
	{
		Name: "people: answers by number", Promise: "a number that no option has is no answer", Package: engineRoom, Test: "TestANumberPicksItsOption", Plain: true,
		Mutants: []Mutant{
			{"any number is an answer", inEngine + "text.go", "if m == nil || len(options) == 0 {", "if m == nil || len(options) < 9 {"},
			{"a number in a sentence is one", inEngine + "text.go", "^([+-]?[0-9]+)[.)]?$", "([+-]?[0-9]+)[.)]?"},
			{"a consultation offers nothing", inEngine + "text.go", `return "\n" + options`, `return options[:0]`},
		},
	},
	{
		Name: "people: commands of a branch", Promise: "every command that is suggested for a branch acts on it", Package: "./cmd/ferrus",
		Test: "TestEveryCommandThatIsSuggestedForABranchActsOnIt", Needs: "a Unix system", Plain: true,
		Mutants: []Mutant{
			{"status names no branch", "cmd/ferrus/next.go", "engine.Commands(r.Branch, list[i].Command)", `engine.Commands("", list[i].Command)`},
			{"errors name no branch", "cmd/ferrus/errors.go", "f.Remedy = a.commands(f.Remedy)", "_ = a.commands"},
			{"questions of ferrus name none", inEngine + "ask.go", "question = Commands(s.e.place.Branch, question)", `question = Commands("", question)`},
			{"approved work is not to be merged", "cmd/ferrus/next.go", `"ferrus merge " + r.Branch`, `"ferrus branches"`},
		},
	},
}
