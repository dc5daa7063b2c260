package main

// roots are the tests of links in place of ferrus's own folders, and of journals whose fields lead elsewhere.
var roots = []Rig{
	{
		Name: "hostile: links in place of folders", Promise: "with a link in place of any folder of ferrus's own nothing is opened, and nothing outside changes",
		Package: "./internal/engine", Test: "TestNoFolderOfOursIsALink",
		Mutants: []Mutant{
			{"links are not looked for", "internal/engine/home.go", "case len(links) > 0:", "case len(links) > 99:"},
			{"only the folders of the project itself are looked at", "internal/engine/home.go", `if p.Branch != "" {
		machine :=`, `if p.Branch == "-" {
		machine :=`},
		},
	},
	{
		Name: "hostile: links laid under an open engine", Promise: "a link that is laid later leads nothing outside",
		Package: "./internal/engine", Test: "TestALinkLaidUnderAnOpenEngine",
		Mutants: []Mutant{
			{"git repairs work trees behind links", "internal/worktree/linked.go", "err = noLink(a.dir)", "err = noLink(t.dir)"},
			{"a folder behind a link is entered", "internal/rootfs/rootfs.go", "info, err := dir.Lstat(part)", "info, err := os.Stat(path())"},
		},
	},
	{
		Name: "hostile: a sweep behind a link", Promise: "a clone with a link in place of the private folder loses no file beside it",
		Package: "./internal/worktree", Test: "TestNothingBehindALinkIsSwept", Plain: true,
		Mutants: []Mutant{
			{"the private folder is opened where the link leads", "internal/worktree/private.go", "rootfs.OpenBelow(t.private, top, 0o700)", "rootfs.OpenBelow(resolved(t.private), top, 0o700)"},
			{"folders of objects may be links", "internal/worktree/private.go", `for _, dir := range []string{".", "objects"} {
		entries`, `for _, dir := range []string{"."} {
		entries`},
		},
	},
	{
		Name: "hostile: a forged note of git's", Promise: "a work tree of a person's is not removed because git's notes say that ferrus was making it",
		Package: "./internal/worktree", Test: "TestAForgedUnfinishedWorkTreeIsNotRemoved", Plain: true,
		Mutants: []Mutant{{"any folder is removed", "internal/worktree/admin.go", `strings.HasPrefix(beside, dir+asideMark) &&
		filepath.Dir(beside) == filepath.Dir(dir) {`, `strings.HasPrefix(dir, dir) {`}},
	},
	{
		Name: "hostile: forged lines", Promise: "a line with right hashes and a field that ferrus does not write is corrupt, wherever it stands",
		Package: "./internal/store", Test: "TestAForgedLineIsCorrupt",
		Mutants: []Mutant{
			{"the fields of a line are not looked at", "internal/store/line.go", "if err := l.valid(); err != nil {", "if err := l.valid(); err != nil && off < 0 {"},
			{"the fields of the task are not looked at", "internal/state/codec.go", "if err := read.Valid(); err != nil {", "if err := read.Valid(); err != nil && data == nil {"},
			{"a forged line is taken for a torn one", "internal/store/roll.go", "if errors.As(bad, &forged) {", "if false && errors.As(bad, &forged) {"},
		},
	},
	{
		Name: "hostile: forged fields", Promise: "what becomes part of a path or a command is one name of plain characters",
		Package: "./internal/state", Test: "TestAForgedFieldIsRefusedByItsName", Plain: true,
		Mutants: []Mutant{
			{"an id may be a pattern", "internal/state/valid.go", "`^t-[0-9A-Za-z][0-9A-Za-z-]*$`", "`^t-[^/]*$`"},
			{"a patch may lie anywhere", "internal/state/valid.go", "`^logs/[0-9A-Za-z][0-9A-Za-z._-]*\\.patch$`", "`.patch$`"},
			{"a number may be negative", "internal/state/valid.go", "if n < 0 || n > maxCount {", "if n > maxCount {"},
		},
	},
	{
		Name: "hostile: forged journals", Promise: "gc, check, rollback and archive reach nothing outside by what a journal says",
		Package: "./internal/engine", Test: "TestAForgedJournalReachesNothing",
		Mutants: []Mutant{{"the fields of the task are not looked at", "internal/state/codec.go", "if err := read.Valid(); err != nil {", "if err := read.Valid(); err != nil && data == nil {"}},
	},
	{
		Name: "hostile: entries in place of control files", Promise: "links, FIFOs, devices and folders in place of control files are refused by name, and nothing hangs",
		Package: "./internal/store", Test: "TestNothingIsReadOrWrittenInPlaceOfAControlFile",
		Mutants: []Mutant{
			{"whatever lies there is opened", "internal/rootfs/file.go", "if err := regular(p.path, info); err != nil {", "if err := regular(p.path, info); err != nil && info.IsDir() {"},
		},
	},
	{
		Name: "hostile: a link put there meanwhile", Promise: "what is opened is what lay there when it was looked at",
		Package: "./internal/rootfs", Test: "TestALinkPutThereMeanwhile", Plain: true,
		Mutants: []Mutant{
			{"a file that was opened is not compared", "internal/rootfs/file.go", "case !os.SameFile(info, opened):", "case !os.SameFile(info, info):"},
		},
	},
}
