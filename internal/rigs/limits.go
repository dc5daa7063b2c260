package main

// limits attack what a stranger's repository or text can do to the person who only looks, and how much one caller can take.
var limits = []Rig{
	{
		Name: "hostile: looking runs nothing", Promise: "no reading command starts a program that the repository names", Package: "./cmd/ferrus",
		Test: "TestLookingRunsNothing", Needs: "sh", Plain: true,
		Mutants: []Mutant{
			{"what a client's file names is started", "cmd/ferrus/exams_agents.go", "s.Argv); why != \"\" {", "s.Argv); why == \"-\" {"},
			{"the name of a program is enough", "cmd/ferrus/exams_agents.go", "|| !os.SameFile(here, there) {", "|| here == there {"},
			{"git may be the project's", "internal/worktree/binary.go", "exists(filepath.Join(at, \".git\"))", "exists(filepath.Join(at, \".git\", \"none\"))"},
			{"agents may be the project's", "cmd/ferrus/agents.go", "return proc.Outside(os.Environ(), proc.WorkTree(dir))", "return proc.Outside(os.Environ(), proc.WorkTree(dir)+\"/none\")"},
		},
	},
	{
		Name: "hostile: every character of Unicode", Promise: "what cannot be seen is not stored and not shown", Package: "./internal/safetext",
		Test: "TestNoCharacterOfUnicodeIsBothHiddenAndKept", Plain: true,
		Mutants: []Mutant{
			{"variation selectors are kept", "internal/safetext/hidden.go", "unicode.Variation_Selector,", ""},
			{"reserved characters are kept", "internal/safetext/hidden.go", "unicode.Other_Default_Ignorable_Code_Point, ", ""},
			{"private use is kept", "internal/safetext/hidden.go", "unicode.Co, ", ""},
			{"nobody is told", "internal/safetext/clean.go", "default:\n\t\t\tremoved++", "default:"},
		},
	},
	{
		Name: "hostile: documents are cleaned", Promise: "what is stored, shown to models and shown to people is the same", Package: "./internal/tools",
		Test: "TestDocumentsAreCleanedWhenTheyAreAccepted", Plain: true,
		Mutants: []Mutant{
			{"the writer is not told", "internal/tools/call.go", `if notice := v.Notice(); notice != "" {`, `if notice := v.Notice(); notice == "-" {`},
			{"lists are not cleaned", "internal/tools/wire/decode.go", "list[i] = v.clean(text)", "list[i] = text"},
		},
	},
	{
		Name: "hostile: the journal is clean", Promise: "what is stored, shown to models and shown to people is the same", Package: "./internal/store",
		Test: "TestTextsAreKeptToTheByte", Plain: true,
		Mutants: []Mutant{
			{"documents are stored as they come", "internal/store/commit.go", "docs[doc] = safetext.Clean(text)", "docs[doc] = text"},
			{"notes are stored as they come", "internal/store/commit.go", "return docs, safetext.Clean(c.Note)", "return docs, c.Note"},
		},
	},
	{
		Name: "hostile: text of models is framed", Promise: "no line of a model's text looks like one of ferrus's own", Package: "./cmd/ferrus",
		Test: "TestNoTextOfAModelLooksLikeFerrus", Plain: true,
		Mutants: []Mutant{
			{"a question is indented only", "cmd/ferrus/screen.go", `a.say("%s\n", framed(text, "    "))`, `a.say("%s\n", indented(text, "    "))`},
			{"further lines of a note stand alone", "cmd/ferrus/screen.go", "text = further(s)", "text = s"},
			{"long lines are left to the terminal", "cmd/ferrus/out.go", "io.WriteString(a.out, wrapped(text.String(), columns))", "io.WriteString(a.out, wrapped(text.String(), columns<<8))"},
			{"logs come raw", "cmd/ferrus/logs.go", "if raw && !a.outTTY {", "if raw || !a.outTTY {"},
		},
	},
	{
		Name: "hostile: resources by role", Promise: "a resource is read by the roles that have its tools", Package: "./internal/tools",
		Test: "TestAResourceIsReadByTheRolesThatHaveTheTools", Plain: true,
		Mutants: []Mutant{
			{"every role reads all", "internal/tools/resources.go", "if !slices.Contains(r.roles, o.Role) {", "if r.roles == nil {"},
			{"an executor reads the history", "internal/tools/resources.go", `"text/plain", supervisor, readHistory`, `"text/plain", agents, readHistory`},
		},
	},
	{
		Name: "hostile: notes are bounded", Promise: "no agent grows the journal for ever", Package: "./internal/tools", Test: "TestNotesAreBounded", Plain: true,
		Mutants: []Mutant{
			{"notes are not counted", "internal/engine/claim.go", "next.Issued.Notes++", "next.Issued.Notes += 0"},
			{"one too many", "internal/engine/claim.go", "now.Task.Issued.Notes < gate", "now.Task.Issued.Notes <= gate"},
		},
	},
	{
		Name: "hostile: the newest lines", Promise: "the end of the journal is read from the end, and is what the whole says", Package: "./internal/store",
		Test: "TestTheNewestLinesAreTheEndOfTheHistory", Plain: true,
		Mutants: []Mutant{
			{"a line begins with the end of another", "internal/store/tail.go", "from + int64(i) + 1, nil", "from + int64(i), nil"},
			{"a line too many", "internal/store/tail.go", "found == n+1 {", "found == n+2 {"},
		},
	},
	{
		Name: "hostile: the newest lines are cheap", Promise: "what lies before the newest lines is not read", Package: "./internal/store",
		Test: "TestTheNewestLinesCostNothingOfTheRest", Plain: true,
		Mutants: []Mutant{
			{"all is read", "internal/store/tail.go", "off, err := s.tail(n)", "off, err := s.tail(n + 1<<20)"},
		},
	},
	{
		Name: "hostile: who lost the work", Promise: "an agent that calls in vain keeps nobody waiting: its refusal reads no history under the lock", Package: "./internal/engine",
		Test: "TestARefusalReadsNoHistoryUnderTheLock", Plain: true,
		Mutants: []Mutant{
			{"an act reads it", "internal/engine/session.go", "if err := s.checkHolder(now, a.event); err != nil {", "if err := s.standing(now, a.event); err != nil {"},
			{"a late check reads it", "internal/engine/gate.go", "j.session.checkHolder(now", "j.session.standing(now"},
		},
	},
	{
		Name: "hostile: a search is cheap", Promise: "a line is found without reading those before it", Package: "./internal/store", Test: "TestASearchReadsFewLines", Plain: true,
		Mutants: []Mutant{
			{"every line is read", "internal/store/search.go", "mid := low + (high-low)/2", "mid := low"},
		},
	},
	{
		Name: "hostile: shares of tokens", Promise: "no token is kept out by others", Package: "./internal/server/web", Test: "TestEachTokenHasAShare", Plain: true,
		Mutants: []Mutant{
			{"nothing is kept for others", "internal/server/web/limits.go", "own >= share && sum >= most-most/4", "own < 0"},
		},
	},
	{
		Name: "hostile: one message, each name once", Promise: "a message means the same to every reader", Package: "./internal/server/web",
		Test: "TestAMessageSaysEachThingOnce", Plain: true,
		Mutants: []Mutant{
			{"names may stand twice", "internal/server/web/envelope.go", "if names[len(names)-1][key] {", "if key == \"\" {"},
			{"in another case too", "internal/server/web/envelope.go", "if len(names) <= 2 {", "if len(names) < 1 {"},
			{"anything may follow", "internal/server/web/envelope.go", "len(bytes.TrimSpace(text[dec.InputOffset():])) > 0", "len(bytes.TrimSpace(text[dec.InputOffset():])) > 1"},
		},
	},
	{
		Name: "hostile: stale locks of git", Promise: "a lock that a killed git has left is found, and no other", Package: "./internal/worktree",
		Test: "TestALockThatNobodyHoldsIsFound", Plain: true,
		Mutants: []Mutant{
			{"a young lock is stale", "internal/worktree/stalelock.go", "now.Sub(info.ModTime()) > lockAge", "now.Sub(info.ModTime()) > 0"},
			{"any linked work tree is ours", "internal/worktree/stalelock.go", "if err == nil && strings.Contains(filepath.FromSlash", "if err == nil || strings.Contains(filepath.FromSlash"},
		},
	},
}
