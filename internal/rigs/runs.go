package main

const (
	runRoom = "./internal/pipeline/run"
	inRun   = "internal/pipeline/run/"
	inPure  = "internal/pipeline/"
)

// runs try what goes wrong with pipelines: deaths, races, halves of files, clocks, disks, and agents that mean no good.
var runs = []Rig{
	{
		Name: "run: two ends at once", Promise: "workers that end at once are both seen, and the next phase begins once", Package: runRoom, Test: "TestWorkersThatEndAtOnceAreBothSeen",
		Mutants: []Mutant{noTickLock},
	},
	{
		Name: "run: fifty ticks", Promise: "many ticks at once are as good as one", Package: runRoom, Test: "TestFiftyTicksAreAsOne",
		Mutants: []Mutant{noTickLock, restless},
	},
	{
		Name: "run: fifty ends at once", Promise: "no call fails because many ask at once", Package: runRoom, Test: "TestFiftyWorkersMayEndAtOnce",
		Mutants: []Mutant{
			{"a lock that is held is an error", inRun + "tick.go", "filelock.Acquire(ctx, path)", "filelock.Take(path)"},
		},
	},
	{
		Name: "run: senders at once", Promise: "a result is sent once, whoever wants to send it", Package: runRoom, Test: "TestAResultIsSentOnce",
		Mutants: []Mutant{
			{"who sends takes no lock", inRun + "deliver.go", "lock, err := f.hold(deliveryLock)", "lock, err := f.hold(time.Now().Format(\".000000000\"))"},
			{"what is sent is sent again", inRun + "deliver.go", "case was.State == pipeline.Delivered:", "case was.State == \"-\":"},
			{"another's delivery is our own", inRun + "act.go", "if forestalled(err) { // the next look sees how far that is\n\t\t\treturn nil", "if forestalled(err) {\n\t\t\tsent, err = true, nil"},
		},
	},
	{
		Name: "run: deaths around a sending", Promise: "what cannot be known is asked, what can be sent twice is verified", Package: runRoom, Test: "TestADeathBetweenSendingAndItsNote",
		Mutants: []Mutant{
			{"a command may be run twice", inRun + "target.go", "{target.run, false,", "{target.run, true,"},
			{"a file may not be written twice", inRun + "target.go", "{target.put, true,", "{target.put, false,"},
			{"nobody is told of the doubt", inRun + "deliver.go", "case d.State == pipeline.Uncertain:", "case d.State == \"-\":"},
			{"it is not written down that it is being sent", inRun + "deliver.go", "d.State = pipeline.Sending\n\tif err := f.note(d); err != nil {\n\t\treturn d, err\n\t}\n", "d.State = pipeline.Sending\n"},
		},
	},
	{
		Name: "run: nobody conducts", Promise: "where all are started at once the pipeline ends without a conductor", Package: runRoom, Test: "TestAPipelineGoesOnAlone",
		Mutants: []Mutant{
			{"who waits believes status.json", inRun + "hold.go", "\t\tfacts.Status = pipeline.Reconcile(facts)\n", "\t\t_ = pipeline.Reconcile\n"},
			{"no watchdog", inPure + "rowswork.go", "return f.Workflow.Watched() && len", "return !f.Workflow.Watched() && len"},
			{"nothing is marked partial", inPure + "prompt.go", "> **PARTIAL**: nobody", "> Nobody"},
		},
	},
	{
		Name: "run: markers", Promise: "what says that it was sent is not sent again", Package: runRoom, Test: "TestAMarkerIsADelivery",
		Mutants: []Mutant{
			{"no marker is known", inRun + "look.go", "strings.Contains(slot.Read(r).Said, f.Workflow.Marker())", "strings.Contains(slot.Read(r).Said, \"-\"+f.Workflow.Marker())"},
			{"any last word is one", inRun + "look.go", "strings.Contains(slot.Read(r).Said, f.Workflow.Marker())", "slot.Read(r).Said != f.Workflow.Marker()+\"-\""},
			{"no delivery is recorded", inRun + "deliver.go", "d = pipeline.Delivery{ID: f.Name(), By: a.By, Target: ownTarget, SHA256: digest(text)}", "return pipeline.Delivery{State: pipeline.Delivered}, nil"},
			{"no result is kept", inRun + "deliver.go", "text, err := b.result(a)\n", "text, err := b.result(a)\n\t\tif true {\n\t\t\treturn d, f.note(pipeline.Delivery{ID: f.Name(), By: a.By, State: pipeline.Delivered, At: now})\n\t\t}\n"},
		},
	},
	{
		Name: "run: other workers' deliveries", Promise: "only the final worker sends", Package: runRoom, Test: "TestNobodyElseDelivers",
		Mutants: []Mutant{{"whoever asks delivers", inRun + "worker.go", "if final != d.role || !", "if final == \"\" || !"}},
	},
	{
		Name: "run: archives elsewhere", Promise: "a run is archived whole on any disk, beside whatever is there", Package: runRoom, Test: "TestAnArchiveElsewhere",
		Mutants: []Mutant{
			{"another disk is an error", inRun + "archive.go", "errors.Is(err, syscall.EXDEV)", "errors.Is(err, syscall.EINVAL)"},
			{"what was copied stays", inRun + "archive.go", "\treturn discard(root, from)\n", "\treturn nil\n"},
			{"whatever is there is this run", inRun + "archive.go", "if same(root, from, to) {", "if from != to {"},
		},
	},
	{
		Name: "run: moves that are killed", Promise: "a run is under way or archived, never half of both", Package: runRoom, Test: "TestAMoveThatIsKilledIsDoneAgain",
		Mutants: []Mutant{
			{"it is copied in its place", inRun + "archive.go", "part := path.Join(path.Dir(to), \".\"+path.Base(to)+\".part\")", "part := to"},
			{"what is left is not swept", inRun + "place.go", "\tsweep(root, tmp)\n", ""},
		},
	},
	{
		Name: "run: ticks in the archive", Promise: "a run that is over stays as it is", Package: runRoom, Test: "TestATickInTheArchiveLeavesItAlone",
		Mutants: []Mutant{{"it is archived again", inRun + "tick.go", "if f.archived() {", "if f == nil {"}},
	},
	{
		Name: "run: silent workers", Promise: "a worker has its time and the grace, and no more", Package: runRoom, Test: "TestASilentWorkerHasItsTimeAndTheGrace",
		Mutants: []Mutant{
			{"a moment too soon", inPure + "clock.go", "return f.Now.After(f.over(role))", "return !f.Now.Before(f.over(role))"},
			{"no grace", inPure + "clock.go", "at := f.end(role).Add(Grace)\n\tk, phase", "at := f.end(role)\n\tk, phase"},
			restless,
		},
	},
	{
		Name: "run: clocks of runs", Promise: "a clock that is set back or forward, and a sleep, fail nobody who works", Package: runRoom, Test: "TestAClockThatIsSetHarmsNobody",
		Mutants: []Mutant{
			{"a sleep is not seen", inRun + "tick.go", " > asleep {", " > 1000*asleep {"},
			{"all time is a sleep", inRun + "tick.go", "-time.Duration(now.Clock.Nanos-was.Clock.Nanos) > asleep", " > asleep"},
			{"the clocks of two boots are one", inRun + "tick.go", "was.Clock.Boot == now.Clock.Boot && ", ""},
			{"what begins later has begun", inPure + "reconcile.go", "if s.StartedAt.After(f.Now) {", "if s.StartedAt.IsZero() {"},
		},
	},
	{
		Name: "run: places", Promise: "so many agents run at a time and no more, and no place stays empty", Package: runRoom, Test: "TestSoManyAgentsRunAtATimeAndNoMore",
		Mutants: []Mutant{
			{"a place more, phase by phase", inPure + "facts.go", "max(f.Workflow.Cap()-busy, 0)", "max(f.Workflow.Cap()+1-busy, 0)"},
			{"a place more, all at once", inRun + "hold.go", "range f.Workflow.Cap() {", "range f.Workflow.Cap() + 1 {"},
			{"a place less", inRun + "hold.go", "range f.Workflow.Cap() {", "range f.Workflow.Cap() - 1 {"},
		},
	},
	{
		Name: "run: pauses of runs", Promise: "nothing goes on behind a pause before a person says so", Package: runRoom, Test: "TestAPauseLastsUntilAPersonEndsIt",
		Mutants: []Mutant{
			{"no pause before the delivery", inPure + "rowswork.go", "f.current().PauseAfter && ", "f.current().PauseAfter && f.Status.CurrentPhase < f.last() && "},
			{"nobody is told", inPure + "rowswork.go", "a.Tell = f.summary()", "a.Why = f.summary()"},
			{"it is paused again", inPure + "after.go", "s.Phases[a.Phase].Status, s.Phases[a.Phase].ResumedBy = Running, a.By", "s.Phases[a.Phase].Status = Running"},
		},
	},
	{
		Name: "run: workers that are killed", Promise: "a death is seen at once, and a retry starts who died", Package: runRoom, Test: "TestAKilledWorkerIsSeenAndStartedAnewAlone",
		Mutants: []Mutant{
			{"only its time ends it", inPure + "rowswork.go", "return s.Status == Running && !f.Workers[s.Role].Alive && !f.inDialogue(s)", "return s.Status == Running && !f.Workers[s.Role].Alive && !f.inDialogue(s) && f.late(s.Role)"},
			{"a retry takes all", inPure + "rowsperson.go", "from == \"\" && f.bad(s) {", "from == \"\" {"},
			{"nobody is told", inPure + "tell.go", "a.Tell = fmt.Sprintf(\"Pipeline %s: phase", "_ = fmt.Sprintf(\"Pipeline %s: phase"},
		},
	},
	{
		Name: "run: everything is killed", Promise: "kill all there is, at any moment, and the run ends as it would have", Package: runRoom, Test: "TestWhateverIsKilledTheRestIsTheSame",
		Mutants: []Mutant{
			{"a slot holds any number", "internal/slot/shim.go", "lock, err := o.Slot.take()", "lock, err := (o.Slot + \".x\").take()"},
			{"no retry", inPure + "rowswork.go", "s.Attempt <= k.Retries", "s.Attempt < 1"},
		},
	},
	{
		Name: "run: deaths around a start", Promise: "who was started is found, who was not is started", Package: runRoom, Test: "TestAConductorThatDiesAroundAStartStartsOnce",
		Mutants: []Mutant{
			{"who lives is not adopted", inPure + "reconcile.go", "if s.Status == Pending && seen.Alive || seen.Attempt > s.Attempt {", "if !seen.Alive && seen.Attempt > s.Attempt {"},
		},
	},
	{
		Name: "run: ends that nobody saw", Promise: "one look is enough, whatever was missed", Package: runRoom, Test: "TestNobodyNeedsToBeTold",
		Mutants: []Mutant{{"one thing a tick", inRun + "tick.go", "if a.Do == pipeline.Archive {", "if a.Do != pipeline.Wait {"}},
	},
	{
		Name: "run: workers without memory", Promise: "the prompt and its files are all that a worker needs, and all it is told", Package: runRoom, Test: "TestAPromptIsAllThatAWorkerNeeds",
		Mutants: []Mutant{
			{"no whole paths", inPure + "prompt.go", "fmt.Fprintf(&b, \"- %s\\n\", path(file))", "fmt.Fprintf(&b, \"- %s\\n\", file)"},
			{"no topic", inPure + "prompt.go", "\"Topic: %s\\n\\nYour task: %s\\n\\n\", topic, k.Task", "\"Topic: %s\\n\\nYour task: %s\\n\\n\", k.Task, topic"},
			{"it is told of its phase", inPure + "prompt.go", "\\n\\nYour task: %s\\n\\n\", topic, k.Task", "\\n\\nYour task: %s\\n\\nPhase %d\\n\", topic, k.Task, phase"},
		},
	},
	{
		Name: "run: agents that are not there", Promise: "an agent that cannot be started is told, and a retry goes on", Package: runRoom, Test: "TestAnAgentThatIsNotThereIsToldAndRetried",
		Mutants: []Mutant{
			{"it is the tick that fails", inRun + "spawn.go", "unread == nil && len(after) > len(before)", "unread == nil && len(after) < len(before)"},
			{"it is said to have ended", inRun + "look.go", "if !r.Began() && !ended && !r.GaveUp {", "if r.Began() && !ended && !r.GaveUp {"},
		},
	},
	{
		Name: "run: halves of files", Promise: "half a file is fed to nobody", Package: runRoom, Test: "TestHalfAFileIsFedToNobody",
		Mutants: []Mutant{
			{"a file is done when it is there", inPure + "reconcile.go", "(!seen.Alive || file.Settled || talking)", "(!seen.Alive || file.Bytes > 0 || talking)"},
			{"any end is a good one", inPure + "reconcile.go", "unclean := !seen.Alive &&", "unclean := seen.Alive &&"},
			{"what a person accepts is done anew", inPure + "after.go", "s.Worker(role).Reason = Accepted", "s.Worker(role).Reason = Unclean"},
			{"accept_partial is nothing", inPure + "facts.go", "(s.Reason != Unclean || k.AcceptPartial)", "(s.Reason != Unclean || k.AcceptPartial && s.Attempt > 9)"},
		},
	},
	{
		Name: "run: looks at runs at rest", Promise: "where there is nothing to do nothing is written", Package: runRoom, Test: "TestLookingAgainChangesNothing",
		Mutants: []Mutant{restless},
	},
	{
		Name: "run: late outputs", Promise: "what comes late heals, until the run is over", Package: runRoom, Test: "TestALateOutputHeals",
		Mutants: []Mutant{
			{"what failed stays so", inPure + "reconcile.go", "case there && s.Status != Completed && (", "case there && s.Status != Completed && s.Status != Failed && ("},
			{"its phase stays so", inPure + "reconcile.go", "case p.Status == Failed && !bad,", "case p.Status == Failed && bad,"},
		},
	},
	{
		Name: "run: status.json by hand", Promise: "files count, whatever status.json says", Package: runRoom, Test: "TestFilesCountAndNotStatus",
		Mutants: []Mutant{{"it is believed", inRun + "book.go", "theirs.Same(last.Status)", "theirs.Fits(b.f.Workflow) == nil"}},
	},
	{
		Name: "run: outputs that vanish", Promise: "no success without its file", Package: runRoom, Test: "TestAnOutputThatVanishesIsAFailure",
		Mutants: []Mutant{{"what was done is done", inPure + "reconcile.go", "case !there && s.Status == Completed && !ended:", "case !there && s.Status == Completed && ended:"}},
	},
	{
		Name: "run: inputs that vanish", Promise: "nobody is started without what it reads", Package: runRoom, Test: "TestAWorkerIsNotStartedWithoutItsInputs",
		Mutants: []Mutant{
			{"nobody looks", inPure + "rowswork.go", "return len(f.missing()) > 0 },", "return len(f.missing()) > 9 },"},
			{"a retry does not make them", inPure + "rowsperson.go", "roles = append(roles, f.Workflow.writers(file)...)", "_ = f.Workflow.writers(file)"},
		},
	},
	{
		Name: "run: files of others", Promise: "what somebody changes that is not his is put back, told and kept", Package: runRoom, Test: "TestNobodyWritesWhatIsNotHis",
		Mutants: []Mutant{
			{"it is taken", inRun + "guard.go", "case changed && len(others) > 0 && !", "case changed && len(others) > 9 && !"},
			{"who has ended did nothing", inRun + "guard.go", "taken || f.worked(other.Role, at)", "taken || f.worked(other.Role, at) && at.IsZero()"},
			{"workflow.json is anybody's", inRun + "book.go", "err == nil && string(text) != string(b.f.frozen())", "err != nil && string(text) != string(b.f.frozen())"},
			{"what was put back is not kept", inRun + "book.go", "if theirs != nil {", "if theirs == nil {"},
			{"an output of later is anybody's", inRun + "guard.go", "case early && len(others) > 0:", "case early && len(others) > 9:"},
			{"everybody may write status.json", inRun + "book.go", "return write(statusFile, text, 0o444)", "return write(statusFile, text, 0o644)"},
		},
	},
	{
		Name: "run: forged outputs", Promise: "nobody does another's work before its turn", Package: runRoom, Test: "TestAForgedOutputDoesNotStandForItsWorker",
		Mutants: []Mutant{{"but in the phase that is on", inRun + "guard.go", "phase >= facts.Status.CurrentPhase", "phase > facts.Status.CurrentPhase"}},
	},
	{
		Name: "run: edits of a person", Promise: "what a person edits while nobody works counts", Package: runRoom, Test: "TestAPersonMayEditWhileNobodyWorks",
		Mutants: []Mutant{{"it is put back", inRun + "guard.go", "case changed && len(others) > 0 && !", "case changed && !"}},
	},
	{
		Name: "run: offences in a dialogue", Promise: "who has the turn changes its own words alone, and has one turn more", Package: runRoom, Test: "TestWhoOffendsInADialogueHasOneMoreTurn",
		Mutants: []Mutant{
			{"older words may be changed", inPure + "judge.go", "own := []string{last + \"/content\",", "own := []string{\"/dialogue/0/content\", last + \"/content\","},
			{"it has two turns more", inPure + "turns.go", "const turnTries = 2", "const turnTries = 3"},
			{"it has none", inPure + "turns.go", "const turnTries = 2", "const turnTries = 1"},
			{"silence is a turn", inPure + "judge.go", "v.Empty = v.Dialogue.Open()", "v.Empty = false"},
		},
	},
	{
		Name: "run: turns by path", Promise: "nothing of a dialogue passes through a command", Package: runRoom, Test: "TestADialogueIsNotToldByACommand",
		Mutants: []Mutant{{"it is told as others are", inRun + "spawn.go", "prompt = pipeline.TurnPrompt(role, output)", "prompt += pipeline.TurnPrompt(role, output)"}},
	},
	{
		Name: "run: full disks of runs", Promise: "a full disk is said, halves nothing, and is forgotten when there is room", Package: runRoom, Test: "TestAFullDiskHalvesNothing",
		Needs: "Linux and the right to mount",
		Mutants: []Mutant{
			{"half a file takes the place of a whole one", "internal/rootfs/file.go", "if err = errors.Join(err, f.Close()); err == nil {", "if err = f.Close(); err == nil {"},
			{"a copy that has no room is none", inRun + "guard.go", "if err := b.f.replace(keptDir+\"/\"+k.Output, text, 0o400); err != nil {\n\t\t\t\t\treturn err\n\t\t\t\t}", "_ = b.f.replace(keptDir+\"/\"+k.Output, text, 0o400)"},
		},
	},
}

var (
	noTickLock = Mutant{"ticks take no lock", inRun + "tick.go", "lock, err := f.take(ctx, lockFile)", "lock, err := f.take(ctx, lockFile+time.Now().Format(\".000000000\"))"}

	restless = Mutant{"each look is written down", inRun + "tick.go", "if seen.Rev != b.status.Rev {", "if seen.Rev != 0 {"}
)
