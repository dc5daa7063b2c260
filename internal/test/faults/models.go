package main

// models try every road through the rules of the machine.
var models = []Rig{
	{
		Name:    "a model check of the machine",
		Promise: "no road of two executors, a supervisor, a person and bad luck leads to a state that breaks a promise or that nobody can leave",
		Package: "./internal/engine",
		Test:    "TestNoRoadOfTheModelBreaksAPromise",
	},
}
