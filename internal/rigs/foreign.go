package main

// foreign are the tests of what was not made here: processes below an agent, and state from elsewhere.
var foreign = []Rig{
	{
		Name: "hostile: a decision below an executor", Promise: "nothing below an executor of the project serves a supervisor, or speaks for a person",
		Package: "./internal/ancestry", Test: "TestWhoDescendsFromAnExecutor", Plain: true,
		Mutants: []Mutant{
			{"a shim is not looked for", "internal/ancestry/ancestry.go", "if len(p.args) != 4 || p.args[1] != Shim ||", "if true ||"},
			{"the agent's own environment is not looked at", "internal/ancestry/ancestry.go", `!ok || role == "" || project == ""`, `!ok || role != "" || project == ""`},
			{"a client is known by its server alone where that is its parent", "internal/ancestry/ancestry.go", "if depth > 0 && !shimmed", "if !shimmed"},
			{"every shell is an executor's", "internal/ancestry/ancestry.go", "return slices.Contains(shells, name)", `return name == "" && slices.Contains(shells, name)`},
			{"agents of other projects count", "internal/ancestry/ancestry.go", "real(project) != root", "real(project) == \"\""},
		},
	},
	{
		Name: "hostile: state from elsewhere", Promise: "a journal that was not written on this machine is refused, wherever it comes from",
		Package: "./internal/engine", Test: "TestStateFromElsewhereIsNotUsed", Plain: true,
		Mutants: []Mutant{
			{"a journal is not judged", "internal/engine/engine.go", "disk.Judge, disk.Begin = o.journal, o.begin", "disk.Begin = o.begin"},
			{"any first line is ours", "internal/trust/journal.go", "return h != \"\" && (j.First == h", "return h != \"\" && (true"},
			{"only the first line counts", "internal/engine/origin.go", `if o.place.Branch != "" || r.Journal.H == "" {`, "if true {"},
			{"a damaged first line is ours", "internal/engine/origin.go", "case !sound:\n\t\treturn damagedAt(0)", "case false:\n\t\treturn damagedAt(0)"},
			{"a file is judged once for ever", "internal/store/judge.go", "os.SameFile(j.info, info) && info.Size() >= j.size", "true"},
			{"what is looked at is written", "internal/engine/engine.go", "disk.ReadOnly = strange != nil", "disk.ReadOnly = false"},
		},
	},
	{
		Name: "hostile: what git tracks", Promise: "a commit brings no control file",
		Package: "./internal/engine", Test: "TestWhatGitTracksIsNotState", Plain: true,
		Mutants: []Mutant{
			{"the index is not looked at", "internal/engine/origin.go", "if o.index.MayTrack(home) {", "if false {"},
			{"it is looked at once", "internal/engine/origin.go", "if o.looked && o.index.Unchanged() {", "if o.looked {"},
			{"only the journal is control", "internal/engine/origin.go", "return !strings.HasPrefix(strings.ToLower(name), \"skills/\")", `return name == "journal.jsonl"`},
		},
	},
	{
		Name: "hostile: another user's folders", Promise: "what another user owns is neither found nor used, unless git's safe.directory accepts it",
		Package: "./internal/engine", Test: "TestAnotherUsersStateIsNotUsed", Plain: true,
		Mutants: []Mutant{
			{"the owner is not asked", "internal/engine/origin.go", "if err := checkOwner(o.ctx, o.place); err != nil {", "if err := checkOwner(o.ctx, Place{}); err != nil {"},
			{"a folder further up is used", "internal/engine/place.go", `if unused = strangers(ctx, at); unused == "" || at == dir {`, `if unused = ""; true {`},
			{"safe.directory is every folder", "internal/worktree/tracked.go", `case value == "*" || resolved(value) == dir:`, `case value != "":`},
		},
	},
	{
		Name: "hostile: one question at most", Promise: "an upgrade, a backup, a copy, a fresh HOME: at most one question",
		Package: "./internal/engine", Test: "TestOneQuestionAtMost", Plain: true,
		Mutants: []Mutant{
			{"what has no record is refused", "internal/engine/origin.go", "o.adoptLater(len(r.Agreed) > 0)\n\t\treturn nil", "o.adoptLater(len(r.Agreed) > 0)\n\t\treturn o.other(\"has no record\")"},
			{"an older journal is ours", "internal/engine/origin.go", "if o.place.Branch != \"\" || r.Journal.H == \"\" {", "if true {"},
			{"the newest line is not recorded", "internal/engine/origin.go", "due := e.origin.acted || e.origin.unmarked", "due := false"},
		},
	},
}
