package main

// roots are the tests of links in place of ferrus's own folders, and of journals whose fields lead elsewhere.
var roots = []Rig{
	{
		Name: "hostile: links in place of folders", Promise: "with a link in place of any folder of ferrus's own nothing is opened, and nothing outside changes",
		Package: "./internal/engine", Test: "TestNoFolderOfOursIsALink",
	},
	{
		Name: "hostile: links laid under an open engine", Promise: "a link that is laid later leads nothing outside",
		Package: "./internal/engine", Test: "TestALinkLaidUnderAnOpenEngine",
	},
	{
		Name: "hostile: a sweep behind a link", Promise: "a clone with a link in place of the private folder loses no file beside it",
		Package: "./internal/worktree/repository", Test: "TestNothingBehindALinkIsSwept", Plain: true,
	},
	{
		Name: "hostile: a forged note of git's", Promise: "a work tree of a person's is not removed because git's notes say that ferrus was making it",
		Package: "./internal/worktree/repository", Test: "TestAForgedUnfinishedWorkTreeIsNotRemoved", Plain: true,
	},
	{
		Name: "hostile: forged lines", Promise: "a line with right hashes and a field that ferrus does not write is corrupt, wherever it stands",
		Package: "./internal/store/file", Test: "TestAForgedLineIsCorrupt",
	},
	{
		Name: "hostile: forged fields", Promise: "what becomes part of a path or a command is one name of plain characters",
		Package: "./internal/state", Test: "TestAForgedFieldIsRefusedByItsName", Plain: true,
	},
	{
		Name: "hostile: forged journals", Promise: "gc, check, rollback and archive reach nothing outside by what a journal says",
		Package: "./internal/engine", Test: "TestAForgedJournalReachesNothing",
	},
	{
		Name: "hostile: entries in place of control files", Promise: "links, FIFOs, devices and folders in place of control files are refused by name, and nothing hangs",
		Package: "./internal/store/file", Test: "TestNothingIsReadOrWrittenInPlaceOfAControlFile",
	},
	{
		Name: "hostile: a link put there meanwhile", Promise: "what is opened is what lay there when it was looked at",
		Package: "./internal/rootfs", Test: "TestALinkPutThereMeanwhile", Plain: true,
	},
}
