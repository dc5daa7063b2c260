package main

const (
	treeRoom = "./internal/worktree"
	inTree   = "internal/worktree/"
	inEngine = "internal/engine/"
)

// history tries what is said of the past: that it is kept, that it can be returned to, and what may be cleared away.
var history = []Rig{
	{
		Name: "history: a collection in the middle of a keep", Promise: "what is kept is there, whatever git gc deletes meanwhile", Package: treeRoom,
		Test: "TestACollectionInTheMiddleOfAKeep", Plain: true,
		Mutants: []Mutant{
			{"what was lent is not lent again", inTree + "lend.go", "\tif l.pack == \"\" {\n\t\tif err := t.place(ctx, l.ids); err != nil {", "\tif l.pack == \"\" {\n\t\tif err := ctx.Err(); err != nil {"},
			{"nor what was lent as a pack", inTree + "lend.go", "} else if !exists(l.pack) {", "} else if !exists(t.objects) {"},
		},
	},
	{
		Name: "history: trees that are forgotten", Promise: "a tree that is kept is whole, whatever has been forgotten before", Package: treeRoom,
		Test: "TestAForgottenTreeIsNotBuiltUpon", Plain: true,
		Mutants: []Mutant{
			{"nobody looks whether the one before is still there", inTree + "keep.go", "if !t.isKept(base) {\n\t\treturn true, errLost", "if k.name == \"\" {\n\t\treturn true, errLost"},
			{"git does not look either", inTree + "keep.go", "\"verify \" + refs + base.name + \" \" + base.commit + \"\\n\" + update", "update"},
			{"nor whether it is still the same", inTree + "keep.go", "return update + \" \" + base.commit + \"\\n\"", "return update + \"\\n\""},
		},
	},
	{
		Name: "history: what is restored", Promise: "the files are those of the tree, and nothing goes that is in no snapshot", Package: treeRoom, Test: "TestWhatIsRestored", Plain: true,
		Mutants: []Mutant{
			{"what stands in the way is written over", inTree + "clash.go", "case p.held[name], same(s.path(name), t.path(name)):", "case p.held[name], name != \"\":"},
			{"what the rules of then ignore goes", inTree + "plan.go", "delete(p.remove, name)\n", "_ = name\n"},
			{"what came since goes", inTree + "plan.go", "case !d.new.exists() && changed && !had.exists():\n\t\tp.left.add(d.path)", "case !d.new.exists() && changed && !had.exists():\n\t\tp.remove.add(d.path)"},
		},
	},
	{
		Name: "history: merges", Promise: "equal trees merge equally, whatever the user's settings, and touch nothing of the user's", Package: treeRoom, Test: "TestMerges", Plain: true,
		Mutants: []Mutant{
			{"conflicts look as the user likes", inTree + "fingerprint.go", `"GIT_DIR=" + t.repository(), "GIT_COMMON_DIR=" + t.repository(),`, `"GIT_DIR=" + t.gitDir, "GIT_COMMON_DIR=" + t.common,`},
			{"one side counts", inTree + "merge.go", "t.commit(trees[i+1], root)", "t.commit(trees[1], root)"},
		},
	},
	{
		Name: "history: pauses on pauses", Promise: "a rollback of a pause takes along what lies on it, and nothing that came later", Package: "./internal/engine",
		Test: "TestARollbackOfAPauseTakesWhatLiesOnItAlong",
		Mutants: []Mutant{
			{"only the first pause comes back", "internal/state/task.go", "\tdropLease.apply(&next)\n\tabandonCheck(&next)\n", "\tdropLease.apply(&next)\n\tabandonCheck(&next)\n\tnext.Paused = next.Paused[:min(1, len(next.Paused))]\n"},
			{"what was answered since stays so", "internal/state/task.go", "\tdropLease.apply(&next)\n\tabandonCheck(&next)\n", "\tdropLease.apply(&next)\n\tabandonCheck(&next)\n\tnext.Consultation.Answered = t.Consultation.Answered\n"},
			{"documents stay as they are", inEngine + "rollback.go", "*next = next.Recall(was.State)", "docs := next.Docs\n\t\t\t*next = next.Recall(was.State)\n\t\t\tnext.Docs = docs"},
		},
	},
	{
		Name: "history: what is cleared away", Promise: "what ended long ago goes, whatever of it has gone already, and nothing else does", Package: "./internal/engine",
		Test: "TestWhatEndedLongAgoGoes", Plain: true,
		Mutants: []Mutant{
			{"only what has an archive goes", inEngine + "gcread.go", "\tm.tasks[cmp.Or(id, m.present)] = l.At", "\tif _, ok := m.tasks[cmp.Or(id, m.present)]; ok {\n\t\t\tm.tasks[cmp.Or(id, m.present)] = l.At\n\t\t}"},
			{"the trees stay", inEngine + "gc.go", "l.take(kept, path.Join(m.branch, task))\n", "_ = path.Join\n"},
			{"the youngest goes too", inEngine + "gc.go", "if ended.Before(before) && !slices", "if !ended.IsZero() && !slices"},
		},
	},
	{
		Name: "history: what is not cleared away", Promise: "what a machine still has is never cleared away", Package: "./internal/engine", Test: "TestATaskThatAnyMachineHasStays",
		Mutants: []Mutant{
			{"a branch's task goes", inEngine + "gc.go", "other.present == task", "other == m && other.present == task"},
			{"what was given up today goes by its last work", inEngine + "gcread.go", "m.tasks[cmp.Or(id, m.present)] = l.At", "m.tasks[id] = l.At"},
		},
	},
}
