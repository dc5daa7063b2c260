package main

const inAtomic = "internal/platform/atomicfile/atomicfile.go"

// Mistakes in a durable write that each package which relies on it notices.
var (
	noSync       = Mutant{"no sync", inAtomic, "\tif err == nil {\n\t\terr = sync(f, at)\n\t}\n\treturn errors.Join(err, f.Close())", "\treturn errors.Join(err, f.Close())"}
	noAppendSync = Mutant{"no sync of a line", inAtomic, "\tif err == nil {\n\t\terr = sync(f, at)\n\t}\n\tif err == nil && size == 0 {", "\tif err == nil && size == 0 {"}
	noFolderSync = Mutant{"no sync of the folder", inAtomic, "\t\t_ = root.Remove(temp)\n\t\treturn err\n\t}\n\treturn SyncDir(root, path.Dir(name))", "\t\t_ = root.Remove(temp)\n\t\treturn err\n\t}\n\treturn nil"}
	syncBehind   = Mutant{"the rename comes before the sync", inAtomic, "\tif err := move(root, temp, name); err != nil {\n\t\t_ = root.Remove(temp)\n\t\treturn err\n\t}\n\treturn SyncDir",
		"\tif err := root.WriteFile(name, data, perm); err != nil {\n\t\treturn err\n\t}\n\tif err := Sync(filepath.Join(root.Dir(), name)); err != nil {\n\t\treturn err\n\t}\n\t_ = root.Remove(temp)\n\treturn SyncDir"}
)

// durable try what a power cut and a failing disk do to the files that must survive them.
var durable = []Rig{
	{
		Name: "durable: power cuts", Promise: "a file has its old or its new content after a power cut", Package: "./internal/platform/atomicfile", Test: "TestAPowerCutLeavesTheOldOrTheNewContent",
		Mutants: []Mutant{noSync, noAppendSync, noFolderSync, syncBehind,
			{"no sync of the folder of a new folder", inAtomic, "\tif err != nil {\n\t\treturn err\n\t}\n\treturn SyncDir(root, path.Dir(name))\n}\n\n// SyncDir", "\treturn err\n}\n\n// SyncDir"},
			{"no sync of the folder of a new log", inAtomic, "if err == nil && size == 0 {", "if err == nil && size < 0 {"},
			{"a line is written behind a torn one", inAtomic, "if last[0] != '\\n' {", "if last[0] == 0 {"},
		},
	},
	{
		Name: "durable: failing disks", Promise: "a call that fails leaves the old or the new content, and no litter", Package: "./internal/platform/atomicfile", Test: "TestAFailingDiskLeavesTheOldOrTheNewContent", Plain: true,
		Mutants: []Mutant{
			{"a failed line stays", inAtomic, "err = errors.Join(err, f.Truncate(size))", "_ = bad"},
			{"a failed draft stays", inAtomic, "_ = root.Remove(name) // it may be what fills the disk", "_ = name"},
			{"a failed rename leaves the draft", inAtomic, "\t\t_ = root.Remove(temp)\n", ""},
			{"a failed write is published", inAtomic, "\tif err := WriteNew(root, temp, bytes.NewReader(data), perm); err != nil {\n\t\treturn err\n\t}\n", "\t_ = WriteNew(root, temp, bytes.NewReader(data), perm)\n"},
		},
	},
	{
		Name: "durable: litter", Promise: "what a killed writer left is removed, and nothing of another's", Package: "./internal/platform/atomicfile", Test: "TestTheNextWriterRemovesWhatAKilledOneLeft", Plain: true,
		Mutants: []Mutant{
			{"a living writer loses its file", inAtomic, " && time.Since(info.ModTime()) > 24*time.Hour", " && time.Since(info.ModTime()) > 0"},
			{"files of other programs go", inAtomic, "^[0-9a-z]{11,13}$", "."},
		},
	},
	{
		Name: "durable: clients' files", Promise: "a power cut leaves a client's file old or new, and new when register has returned", Package: "./internal/register", Test: "TestAPowerCutLeavesAClientsFileWhole", Plain: true,
		Mutants: []Mutant{noSync, noFolderSync},
	},
	{
		Name: "durable: tokens", Promise: "a power cut brings no revoked token back, and loses none", Package: "./internal/tokens", Test: "TestAPowerCutBringsNoTokenBack",
		Mutants: []Mutant{noSync, noFolderSync, syncBehind},
	},
	{
		Name: "durable: queue", Promise: "a power cut loses no task that was accepted, and starts none twice", Package: "./internal/queue", Test: "TestAPowerCutLosesNoTask",
		Mutants: []Mutant{noSync, noFolderSync,
			{"the folder of the queue may vanish", "internal/queue/put.go", "atomicfile.MkdirAll(root, folder, 0o700)", "root.MkdirAll(folder, 0o700)"},
			{"a task that was taken may come back", "internal/queue/put.go", "atomicfile.Remove(root, from)", "root.Remove(from)"},
			{"a task is removed before it is among the taken", "internal/queue/put.go", "if err := atomicfile.SyncDir(root, takenDir); err != nil {", "if err := error(nil); err != nil {"},
		},
	},
	{
		Name: "durable: slots", Promise: "a power cut forgets no agent that was started", Package: "./internal/slot", Test: "TestAPowerCutForgetsNoRun",
		Mutants: []Mutant{noAppendSync,
			{"the folder of the runs may vanish", "internal/slot/run.go", "return atomicfile.SyncDir(r, slashpath.Dir(name))", "return nil"},
		},
	},
	{
		Name: "durable: runs", Promise: "a power cut loses no run, and sends no result twice", Package: runRoom, Test: "TestAPowerCutLosesNoRun",
		Mutants: []Mutant{noSync, noAppendSync, noFolderSync, syncBehind,
			{"a claim is written in place", inRun + "deliver.go", "return atomicfile.Create(root, name, append(text, '\\n'), 0o600)", "_ = atomicfile.Create\n\treturn root.WriteFile(name, append(text, '\\n'), 0o600)"},
			{"a delivery is noted without a sync", inRun + "deliver.go", "return f.durably(deliveryFile, append(text, '\\n'), 0o600)", "return f.replace(deliveryFile, append(text, '\\n'), 0o600)"},
			{"what is asked for is forgotten", inRun + "view.go", "return f.durably(intentFile, append(text, '\\n'), 0o600)", "return f.replace(intentFile, append(text, '\\n'), 0o600)"},
			{"the folder of a run may vanish", inRun + "place.go", "err = atomicfile.SyncDir(root, tmp)", "err = nil"},
			{"a run is archived with an old status", inRun + "archive.go", "b.writeStatus(f.durably)", "b.writeStatus(f.replace)"},
		},
	},
	{
		Name: "durable: failing disks of runs", Promise: "a failing disk loses no run and sends no result twice", Package: runRoom, Test: "TestAFailingDiskSendsNothingTwice",
		Mutants: []Mutant{
			{"a sending is not noted first", inRun + "deliver.go", "d.State = pipeline.Sending\n\tif err := f.note(d); err != nil {\n\t\treturn d, err\n\t}\n", "d.State = pipeline.Sending\n\t_ = f.note(d)\n"},
		},
	},
	{
		Name: "durable: torn deliveries", Promise: "a torn delivery.json is a question, not a second sending", Package: runRoom, Test: "TestATornDeliveryIsAskedAbout", Plain: true,
		Mutants: []Mutant{
			{"a torn one was not sent", inRun + "look.go", "By: byFerrus, State: pipeline.Sending, Target", "By: byFerrus, State: pipeline.Claimed, Target"},
			{"a lost result is sent empty", inRun + "deliver.go", "if !t.repeats() || text == nil {", "if !t.repeats() {"},
		},
	},
}
