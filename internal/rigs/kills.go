package main

// kills try what real processes do to each other when they are killed, and what a broken system does to them.
var kills = []Rig{
	{
		Name:    "a storm of SIGKILLs",
		Promise: "kill any server at any moment: nothing acknowledged is lost, nothing happens twice, and nothing of it is left",
		Package: "./internal/e2e",
		Test:    "TestKillsLoseNothing",
		Mutants: []Mutant{
			noLock,
			anyHolder,
			{"a progress note is acknowledged before it is written", "internal/engine/session.go", "\tafter, err := s.e.store.Apply(ctx,", `	if a.event == state.Progress {
		go s.e.store.Apply(context.Background(), func(now store.Snapshot) (*store.Change, error) { return s.change(now, a, req) })
		snap, err := s.e.View()
		return Done{snap, false}, err
	}
	after, err := s.e.store.Apply(ctx,`},
			{"a claim is not asked again under the lock", "internal/engine/claim.go", "v, ok := s.e.claimable(now)\n\t\t\tif !ok {\n\t\t\t\treturn errHeld\n\t\t\t}", "v, _ := s.e.claimable(now)"},
			{"a claim takes no liveness lock", "internal/engine/claim.go", "\ts.live = live\n", "\ts.live = live\n\tlive.Close()\n"},
		},
	},
	{
		Name:    "calls one at a time",
		Promise: "reads are linearizable, and racing processes lose no update",
		Package: "./internal/e2e",
		Test:    "TestCallsAreLinearizable",
		Mutants: []Mutant{
			noLock,
			anyHolder,
			{"a read is answered from what this process knows", "internal/store/view.go", "\tif snap, ok := s.glance(); ok {", "\tif known := s.top.line; known != nil {\n\t\treturn at(known), nil\n\t}\n\tif snap, ok := s.glance(); ok {"},
			{"a claim does not ask who holds the work", "internal/engine/claim.go", "\treturn v, open && v.Dead\n", "\treturn v, open\n"},
		},
	},
	{
		Name:    "a fault at every system call",
		Promise: "a real process that is killed, or whose disk fails, leaves the old state or the new one, and can go on",
		Package: "./internal/e2e",
		Test:    "TestEverySystemCallMayFail",
		Needs:   "strace",
		Mutants: []Mutant{
			{"a lock that could not be dropped is left held", "internal/filelock/filelock.go", "\t\treturn l.flock.Unlock()\n", ""},
			{"a write that fails is not noticed", "internal/store/commit.go", "_, err := journal.Write(raw)\n\tif err == nil {\n\t\terr =", "journal.Write(raw)\n\tvar err error\n\tif err == nil {\n\t\terr ="},
			{"a sync that fails is not noticed, nor that it was", "internal/store/commit.go", "\t\terr = journal.datasync()\n\t}\n\tif err == nil {\n\t\treturn nil", "\t\terr = journal.datasync()\n\t}\n\tif err != nil {\n\t\treturn err\n\t}\n\tif err == nil {\n\t\treturn nil"},
			{"an unknown outcome is called a failure", "internal/store/commit.go", "Code: OutcomeUnknown", "Code: StoreError"},
			{"a torn end is not cut", "internal/store/roll.go", "err = s.cut(journal, end, size)", "err = nil"},
			{"what fails is not taken back", "internal/store/commit.go", "back := journal.Truncate(off)", "back := error(nil)"},
		},
	},
	{
		Name:    "locks: in turn",
		Promise: "the callers of a process get a lock in the order in which they came, and none that gave up keeps it",
		Package: "./internal/filelock",
		Test:    "TestCallersGetALockInTurn",
		Plain:   true,
		Mutants: []Mutant{
			{"the last comes first", "internal/filelock/queue.go", "q.waiting = append(q.waiting, me)", "q.waiting = slices.Insert(q.waiting, 0, me)"},
			{"who gave up stays in line", "internal/filelock/queue.go", "q.waiting = slices.Delete(q.waiting, i, i+1)", "_ = i"},
			{"every caller asks the kernel", "internal/filelock/queue.go", "case q.asking:", "case q.asking && q.held != nil:"},
		},
	},
	{
		Name: "locks: left behind", Promise: "a process keeps no lock for callers that gave up", Package: "./internal/filelock", Test: "TestWhoGaveUpKeepsNoLock", Plain: true,
		Mutants: []Mutant{
			{"the lock is kept for the next", "internal/filelock/queue.go", "_ = lock.unlock()", "q.held = lock"},
		},
	},
	{
		Name: "locks: between processes", Promise: "a process with many callers does not overtake others", Package: "./internal/filelock", Test: "TestAProcessDoesNotOvertakeAnother",
		Needs: "Linux", Plain: true,
		Mutants: []Mutant{
			{"the kernel is asked after the unlock", "internal/filelock/queue.go", "\tq.waiting[0].given <- given{lock, err}\n\tq.waiting = slices.Delete(q.waiting, 0, 1)\n", "\tfirst := q.waiting[0]\n\tq.waiting = slices.Delete(q.waiting, 0, 1)\n\tfirst.given <- given{lock, err}\n\tfor ; q.held != nil && len(q.waiting) > 0; time.Sleep(1) {\n\t\tq.mu.Unlock()\n\t\ttime.Sleep(1)\n\t\tq.mu.Lock()\n\t}\n"},
		},
	},
	{
		Name: "locks: a new lock file", Promise: "who waited for a lock file that was replaced writes nothing", Package: "./internal/store", Test: "TestTheLockIsReplacedWhileCallersWait", Plain: true,
		Mutants: []Mutant{
			{"the new file is not noticed", "internal/filelock/filelock.go", "err == nil && os.SameFile(here, l.file) {", "err == nil && here != nil {"},
		},
	},
	{
		Name:    "power cuts",
		Promise: "what was acknowledged before the power failed is on the disk, whole",
		Package: "./internal/store",
		Test:    "TestAPowerCutLosesNothingAcknowledged",
		Needs:   "Linux, root, mkfs.ext4 and a loop device",
		Mutants: []Mutant{
			{"no fdatasync", "internal/store/commit.go", "err = journal.datasync()\n\t}\n\tif err == nil {\n\t\treturn nil", "err = nil\n\t}\n\tif err == nil {\n\t\treturn nil"},
			{"the sync comes before the write", "internal/store/commit.go", "_, err := journal.Write(raw)\n\tif err == nil {\n\t\terr = journal.datasync()\n\t}", "err := journal.datasync()\n\tif err == nil {\n\t\t_, err = journal.Write(raw)\n\t}"},
			{"a view that the cut has emptied is taken for an edit", "internal/store/load.go", "return len(view) == 0 || bytes.IndexByte(view, 0) >= 0", "return false"},
		},
	},
}

var (
	noLock = Mutant{"no lock is taken", "internal/filelock/queue.go", "got, err := lock.flock.TryLock()", "got, err := true, error(nil)"}

	anyHolder = Mutant{"whoever held the work once may act as its holder", "internal/engine/session.go",
		"return t.ClaimedBy != \"\" && t.Session == s.ID && t.Epoch == s.epoch", "return t.ClaimedBy != \"\" && s.epoch != 0"}
)
