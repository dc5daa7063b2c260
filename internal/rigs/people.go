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
}
