package branch

import (
	"slices"

	"github.com/ferrus-go/ferrus/internal/project/forge"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
)

// watchFacts are what one look at the task and its pull request has found.
type watchFacts struct {
	task   state.State
	other  bool // the task is not the one that was pushed
	person bool // it waits for the person
	idle   bool // nobody works on it, although a run has
	anew   bool // work was approved that is not pushed
	loose  bool // that is not committed, and must be

	asked   error     // why the forge has not said the rest; nil if it has
	why     forge.Why // of asked
	merged  bool
	closed  bool
	cut     bool // its branch is gone
	head    head
	fresh   int // failing checks and comments that no reopening of the task has had
	reopens int // how often the task was reopened for such
	pushes  int // how often this command has pushed, but for the first time
	most    int // of both
}

// A head is whose commit a pull request has.
type head int

const (
	ours    head = iota
	earlier      // the forge has not seen yet what this command has pushed
	theirs
)

// A watchAct is what is done after a look.
type watchAct string

const (
	watchOn     watchAct = "watch"
	watchDone   watchAct = "done"   // the command ends well
	watchEnd    watchAct = "end"    // it ends with a refusal
	watchFail   watchAct = "fail"   // it ends with the error of the forge
	watchReset  watchAct = "reset"  // nothing is asked until the requests count anew
	watchPush   watchAct = "push"   // and the text is updated
	watchReopen watchAct = "reopen" // for all that is fresh
)

// A watchRow says what is done in a situation. The first row that fits counts.
type watchRow struct {
	name   string
	when   func(f watchFacts) bool
	do     watchAct
	code   refusal.Code // of an end
	says   refusal.Own  // once, as long as the row fits; the message of an end. PULL stands for the pull request, HOST for the forge
	remedy refusal.Own
}

// watchTable is all that is done while a pull request is watched.
var watchTable = []watchRow{
	{name: "merged", when: func(f watchFacts) bool { return f.merged }, do: watchDone, says: "merged: PULL"},
	{name: "abandoned", when: func(f watchFacts) bool { return f.other }, do: watchEnd, code: refusal.WrongState,
		says: "the task was abandoned, and PULL is no longer watched", remedy: "gh pr close PULL closes it"},
	{name: "failed", when: func(f watchFacts) bool { return f.task == state.Failed }, do: watchEnd, code: refusal.WrongState,
		says: "the task has failed, and PULL is no longer watched", remedy: `ferrus reopen{branch} -m "..." gives a hint; after the approval run the command again`},
	{name: "logged out", when: func(f watchFacts) bool { return f.why == forge.LoggedOut }, do: watchFail},
	{name: "gone", when: func(f watchFacts) bool { return f.why == forge.Gone }, do: watchEnd, code: refusal.StoreError,
		says: "PULL is gone, or your login may no longer read it", remedy: "look at it in a browser; run the command again to open another one"},
	{name: "limited", when: func(f watchFacts) bool { return f.why == forge.Limited }, do: watchReset},
	{name: "offline", when: func(f watchFacts) bool { return f.why == forge.Offline }, do: watchOn, says: "HOST does not answer; asking again"},
	{name: "refused", when: func(f watchFacts) bool { return f.asked != nil }, do: watchFail},
	{name: "cut", when: func(f watchFacts) bool { return f.closed && f.cut }, do: watchEnd, code: refusal.WrongState,
		says: "PULL is closed: its branch was deleted", remedy: "run the command again to push the branch and open another one"},
	{name: "closed", when: func(f watchFacts) bool { return f.closed }, do: watchEnd, code: refusal.WrongState,
		says: "PULL was closed without a merge", remedy: "gh pr reopen PULL opens it; then run the command again"},
	{name: "other head", when: func(f watchFacts) bool { return f.head == theirs }, do: watchEnd, code: refusal.Conflict,
		says: "PULL has a commit that is not from here: somebody else has pushed", remedy: "look at it: gh pr view --comments PULL; --as NAME pushes another branch"},
	{name: "person", when: func(f watchFacts) bool { return f.person }, do: watchOn, says: "the task waits for you: ferrus status{branch}"},
	{name: "idle", when: func(f watchFacts) bool { return f.idle }, do: watchOn, says: "no run works on the task: ferrus resume{branch} continues it"},
	{name: "at work", when: func(f watchFacts) bool { return f.task != state.Complete }, do: watchOn},
	{name: "loose", when: func(f watchFacts) bool { return f.anew && f.loose }, do: watchOn, says: "the work is approved: it is pushed after ferrus commit"},
	{name: "pushed enough", when: func(f watchFacts) bool { return f.anew && f.pushes >= f.most }, do: watchEnd, code: refusal.Conflict,
		says: "the work was approved anew, and as many pushes were made as were agreed", remedy: "run the command again"},
	{name: "approved", when: func(f watchFacts) bool { return f.anew }, do: watchPush},
	{name: "not seen", when: func(f watchFacts) bool { return f.head == earlier }, do: watchOn},
	{name: "reopened enough", when: func(f watchFacts) bool { return f.fresh > 0 && f.reopens >= f.most }, do: watchEnd, code: refusal.Conflict,
		says: "PULL has failing checks or comments, and the task was reopened for such as often as limits.max_review_cycles says", remedy: `look at it: gh pr view --comments PULL; ferrus reopen{branch} -m "..." goes on by hand`},
	{name: "fresh", when: func(f watchFacts) bool { return f.fresh > 0 }, do: watchReopen},
	{name: "quiet", when: func(watchFacts) bool { return true }, do: watchOn},
}

// watchDecide returns the row for the facts.
func watchDecide(f watchFacts) watchRow {
	return watchTable[slices.IndexFunc(watchTable, func(r watchRow) bool { return r.when(f) })]
}

// news reports whether these facts, without what is fresh, leave open what is done: else nobody asks for it.
func (f watchFacts) news() bool { return watchDecide(f).name == "quiet" }
