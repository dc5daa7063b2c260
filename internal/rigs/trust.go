package main

const inTrust = "internal/trust/"

// agreements try what a repository can make run before a person has agreed.
var agreements = []Rig{
	{
		Name: "trust: records", Promise: "a record that is damaged or of another project agrees to nothing", Package: "./internal/trust",
		Test: "TestADamagedRecordAgreesToNothing",
		Mutants: []Mutant{
			{"values are not compared with the digest", inTrust + "file.go", "if a.Digest == \"\" || a.Digest != Digest(a.Values) {", "if a.Digest == \"\" {"},
			{"another project's record counts", inTrust + "trust.go", "if r.Path != p.root {", "if r.Path == \"\" {"},
		},
	},
	{
		Name: "trust: the state folder", Promise: "no repository and no other user decides where records lie", Package: "./internal/trust",
		Test: "TestAFolderThatSomebodyElseDecidesIsRefused",
		Mutants: []Mutant{
			{"work trees are not looked for", inTrust + "dir.go", "if tree, ok := workTree(path); ok {", "if tree, ok := workTree(path); ok && tree == \"\" {"},
			{"only the name is looked at", inTrust + "dir.go", "range slices.Compact([]string{dir, real}) {", "range slices.Compact([]string{dir}) {"},
		},
	},
	{
		Name: "trust: a clone", Promise: "nothing of a clone runs by a tool before a person has agreed", Package: "./internal/server",
		Test: "TestNothingOfACloneRunsByATool",
		Mutants: []Mutant{
			{"tools do not look", "internal/tools/call.go", "c.unknown != nil && c.tool.Name != \"status\"", "c.unknown != nil && c.tool.Name == \"\""},
			{"nothing of a project is known", inTrust + "agree.go", "return len(agreed) > 0, err", "return len(agreed) >= 0, err"},
		},
	},
}
