package main

// rootfiles are the tests that lay links, FIFOs, devices and huge files in place of files of a project, and write into
// these files what ferrus does not.
var rootfiles = []Rig{
	{
		Name: "hostile: entries in place of an agent's files", Promise: "no entry in place of a lock, record, log or settings of an agent leads outside, hangs or fills the memory",
		Package: "./internal/slot", Test: "TestNoEntryLeadsASlotOutside",
		Mutants: []Mutant{
			{"a log is made by its path", "internal/slot/files.go", "return r.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY|os.O_APPEND, 0o600)",
				"return os.OpenFile(file, os.O_CREATE|os.O_EXCL|os.O_WRONLY|os.O_APPEND, 0o600)"},
			{"settings are written by their path", "internal/slot/files.go", "r.WriteFile(name, []byte(text), 0o600)", "os.WriteFile(file, []byte(text), 0o600)"},
		},
	},
	{
		Name: "hostile: records of runs that nobody wrote", Promise: "a line with a field that no run can have is left out, and a run's log is where logs are",
		Package: "./internal/slot", Test: "TestARecordThatNobodyWroteIsLeftOut",
		Mutants: []Mutant{
			{"a duty may be a path", "internal/slot/check.go", "case !dutyForm.MatchString(string(r.Duty)):", "case false:"},
			{"a log may be anywhere", "internal/slot/run.go", "r.Log = filepath.Join(logs, filepath.Base(r.Log))", "_ = logs"},
			{"usage may be negative", "internal/slot/check.go", "return tokens >= 0 && tokens <= maxTokens", "return tokens <= maxTokens"},
		},
	},
	{
		Name: "hostile: a lock file from elsewhere", Promise: "a record that a repository brings along ends no process of others", Needs: "Linux",
		Package: "./internal/slot", Test: "TestAForeignRecordEndsNobody", Plain: true,
		Mutants: []Mutant{
			{"a mark may be the beginning of another", "internal/proc/proc_linux.go", `whole := []byte("\x00" + mark + "\x00")`, `whole := []byte("\x00" + mark)`},
		},
	},
	{
		Name: "hostile: entries in place of the conductor's files", Promise: "no entry in place of the conductor's lock and record leads outside, hangs or fills the memory",
		Package: "./internal/hq", Test: "TestNoEntryLeadsAConductorOutside",
		Mutants: []Mutant{
			{"the state folder may be a link", "internal/rootfs/split.go", "i > 0 && i < len(parts)-1 {", "i > len(parts) {"},
		},
	},
	{
		Name: "hostile: a hard link in the queue", Promise: "the text of a file that is not the queue's alone is no task",
		Package: "./internal/queue", Test: "TestAHardLinkIsNoTask", Plain: true,
		Mutants: []Mutant{{"a second name is no matter", "internal/queue/queue.go", "case links <= known:", "case links <= known+1:"}},
	},
	{
		Name: "hostile: entries in place of the tokens", Promise: "a link to tokens that are good elsewhere lets nobody in",
		Package: "./internal/tokens", Test: "TestNoEntryLetsAnybodyIn",
		Mutants: []Mutant{{"the file is opened by its path", "internal/tokens/file.go", "f, err := root.Open(fileName)", "f, err := os.Open(path)"}},
	},
	{
		Name: "hostile: entries in place of ferrus.toml", Promise: "a configuration is read of a regular file alone, bounded",
		Package: "./internal/config", Test: "TestNoEntryIsReadAsAConfiguration",
		Mutants: []Mutant{{"a link is followed", "internal/config/config.go", "data, err := rootfs.ReadFile(path, maxFile)", "data, err := rootfs.ReadRegular(path, maxFile)"}},
	},
	{
		Name: "hostile: entries in place of the clients' files", Promise: "register writes nothing outside of the project, and nothing of git's",
		Package: "./internal/register", Test: "TestNoEntryLeadsRegisterOutside",
		Mutants: []Mutant{{"a link may lead anywhere", "internal/register/plan.go", "if !below(root, at) {", "if false {"}},
	},
	{
		Name: "hostile: a client's file that is git's", Promise: "no client's file is written in place of what git and ferrus keep",
		Package: "./internal/register", Test: "TestALinkToWhatGitKeepsIsRefused", Plain: true,
		Mutants: []Mutant{
			{"git's folder is any folder", "internal/register/plan.go", `!slices.Contains(parts, ".git") &&`, ""},
			{"its name is compared as it is written", "internal/register/plan.go", "strings.Split(strings.ToLower(filepath.ToSlash(rel)), \"/\")", "strings.Split(filepath.ToSlash(rel), \"/\")"},
		},
	},
	{
		Name: "hostile: entries in place of a pipeline's files", Promise: "no entry in place of the files and folders of a run leads outside, hangs or fills the memory",
		Package: "./internal/pipeline/run", Test: "TestNoEntryLeadsARunOutside",
		Mutants: []Mutant{
			{"a result is written through links", "internal/pipeline/run/target.go", "if errors.Is(err, errElsewhere) {", "if true {"},
			{"a project is where its folder leads", "internal/pipeline/run/files.go", "root, err := rootfs.Open(project)\n\treturn root, filepath.ToSlash(name), err",
				"dir, _ := filepath.EvalSymlinks(filepath.Dir(file))\n\troot, err := rootfs.Open(dir)\n\treturn root, filepath.Base(name), err"},
		},
	},
	{
		Name: "hostile: fields of a run that nobody wrote", Promise: "a field that no run of a pipeline can have is refused by its name",
		Package: "./internal/pipeline/run", Test: "TestAFieldThatNoRunHasIsRefused",
		Mutants: []Mutant{
			{"an output may be any path", "internal/pipeline/check.go", `case k.Output != "" && k.Output != output, strings.ContainsAny(k.Output, ` + "`/\\`" + `), strings.HasPrefix(k.Output, "."):`, `case output == "-":`},
			{"an archive may be any folder", "internal/pipeline/run/open.go", "case err != nil, !filepath.IsLocal(archive), archive == \".\":", "case err != nil, archive == \"-\":"},
			{"a delivery may go nowhere", "internal/pipeline/run/open.go", "case !slices.Contains([]string{config.ToStdout, config.ToFile, config.ToCommand}, s.Deliver.To):", "case !slices.Contains([]string{s.Deliver.To}, s.Deliver.To):"},
		},
	},
	{
		Name: "hostile: a run's files that its workers wrote", Promise: "status.json, delivery.json and intent.json are checked as the journal is",
		Package: "./internal/pipeline/run", Test: "TestAStrangersStatusIsNotBelieved", Plain: true,
		Mutants: []Mutant{
			{"status.json is believed", "internal/pipeline/run/view.go", "err == nil && s.Check(f.Workflow) == nil", "err == nil"},
			{"a delivery may be anybody's", "internal/pipeline/check.go", "case phase < 0 && d.By != \"ferrus\" && d.By != \"watchdog\":", "case phase < 0 && d.By == \"-\":"},
		},
	},
	{
		Name: "hostile: a project that was moved", Promise: "a run is of the project that it lies in, whatever its journal says",
		Package: "./internal/pipeline/run", Test: "TestAProjectThatWasMovedGoesOn", Plain: true,
		Mutants: []Mutant{{"the journal says where the project is", "internal/pipeline/run/open.go", "f.Settings.Root, f.Settings.Archive = project, filepath.Join(project, archive)", "_, _ = project, archive"}},
	},
	{
		Name: "hostile: entries in place of what commands read", Promise: "no entry in place of what the commands read and write leads outside, hangs or fills the memory",
		Package: "./cmd/ferrus", Test: "TestNoEntryLeadsACommandOutside",
		Mutants: []Mutant{
			{"evidence is written where links lead", "cmd/ferrus/evidencefolder.go", `rootfs.Split(dir); filepath.Base(home) == ".ferrus" {`, `rootfs.Split(dir); filepath.Base(home) == name {`},
		},
	},
	{
		Name: "hostile: a run from a commit", Promise: "no command of a run that git tracks is run",
		Package: "./cmd/ferrus", Test: "TestARunFromACommitIsNotGoneOnWith", Plain: true,
		Mutants: []Mutant{
			{"a tick asks nothing", "cmd/ferrus/tick.go", "if err := madeHere(ctx, at, f); err != nil {", "if err := madeHere(ctx, at, f); false && err != nil {"},
			{"what git tracks is no matter", "cmd/ferrus/pipelinemade.go", "case len(files) > 0:", "case len(files) < 0:"},
		},
	},
}
