package branch

import (
	"errors"
	"testing"

	"github.com/ferrus-go/ferrus/internal/cli"
	"github.com/ferrus-go/ferrus/internal/project/forge"
	"github.com/ferrus-go/ferrus/internal/state"
)

// TestEachSituationOfAWatchedPullRequest has one act, and an end has its exit code, a sentence and a remedy.
func TestEachSituationOfAWatchedPullRequest(t *testing.T) {
	base := watchFacts{task: state.Complete, most: 2}
	with := func(changes ...func(*watchFacts)) watchFacts {
		f := base
		for _, change := range changes {
			change(&f)
		}
		return f
	}
	in := func(s state.State) func(*watchFacts) { return func(f *watchFacts) { f.task = s } }
	unasked := func(why forge.Why) func(*watchFacts) {
		return func(f *watchFacts) { f.asked, f.why = errors.New("no"), why }
	}
	merged, closed, cut := func(f *watchFacts) { f.merged = true }, func(f *watchFacts) { f.closed = true }, func(f *watchFacts) { f.cut = true }
	other, idle, anew, loose := func(f *watchFacts) { f.other = true }, func(f *watchFacts) { f.idle = true }, func(f *watchFacts) { f.anew = true }, func(f *watchFacts) { f.loose = true }
	person := func(f *watchFacts) { f.task, f.person = state.AwaitingHuman, true }
	fresh := func(f *watchFacts) { f.fresh = 3 }
	head := func(h head) func(*watchFacts) { return func(f *watchFacts) { f.head = h } }
	reopens := func(n int) func(*watchFacts) { return func(f *watchFacts) { f.reopens = n } }
	pushes := func(n int) func(*watchFacts) { return func(f *watchFacts) { f.pushes = n } }
	met := map[string]bool{}
	for _, c := range []struct {
		name string
		f    watchFacts
		do   watchAct
		exit int // of an end
	}{
		{"quiet", with(), watchOn, 0},
		{"quiet", with(reopens(2), pushes(2)), watchOn, 0},
		{"fresh", with(fresh), watchReopen, 0},
		{"fresh", with(fresh, reopens(1)), watchReopen, 0},
		{"reopened enough", with(fresh, reopens(2)), watchEnd, cli.ExitPerson},
		{"merged", with(merged), watchDone, 0},
		{"merged", with(merged, other), watchDone, 0},
		{"merged", with(merged, fresh, head(theirs)), watchDone, 0},
		{"closed", with(closed, fresh), watchEnd, cli.ExitState},
		{"cut", with(closed, cut), watchEnd, cli.ExitState},
		{"gone", with(unasked(forge.Gone)), watchEnd, cli.ExitFailure},
		{"other head", with(head(theirs)), watchEnd, cli.ExitPerson},
		{"other head", with(head(theirs), anew), watchEnd, cli.ExitPerson},
		{"other head", with(head(theirs), fresh), watchEnd, cli.ExitPerson},
		{"limited", with(unasked(forge.Limited)), watchReset, 0},
		{"limited", with(unasked(forge.Limited), anew), watchReset, 0},
		{"offline", with(unasked(forge.Offline)), watchOn, 0},
		{"offline", with(unasked(forge.Offline), anew), watchOn, 0},
		{"logged out", with(unasked(forge.LoggedOut)), watchFail, 0},
		{"refused", with(unasked(forge.Refused)), watchFail, 0},
		{"abandoned", with(in(state.Idle), other), watchEnd, cli.ExitState},
		{"abandoned", with(other, unasked(forge.Offline)), watchEnd, cli.ExitState},
		{"failed", with(in(state.Failed)), watchEnd, cli.ExitState},
		{"person", with(person, fresh), watchOn, 0},
		{"idle", with(in(state.Addressing), idle), watchOn, 0},
		{"at work", with(in(state.Addressing), fresh), watchOn, 0},
		{"at work", with(in(state.Reviewing), fresh), watchOn, 0},
		{"approved", with(anew), watchPush, 0},
		{"approved", with(anew, fresh), watchPush, 0},
		{"approved", with(anew, pushes(1), head(earlier)), watchPush, 0},
		{"loose", with(anew, loose, fresh), watchOn, 0},
		{"pushed enough", with(anew, pushes(2)), watchEnd, cli.ExitPerson},
		{"not seen", with(head(earlier), fresh), watchOn, 0},
	} {
		met[c.name] = true
		row := watchDecide(c.f)
		if row.name != c.name || row.do != c.do {
			t.Errorf("%+v: %s (%s), want %s (%s)", c.f, row.name, row.do, c.name, c.do)
		}
		if c.exit != 0 && (row.says == "" || row.remedy == "" || cli.Explain(cli.Refuse(row.code, "", "x")).Exit != c.exit) {
			t.Errorf("%s ends with %+v", row.name, row)
		}
	}
	for _, row := range watchTable {
		if !met[row.name] {
			t.Errorf("no situation is %q", row.name)
		}
	}
}

// TestNothingIsPushedOrReopenedInAnyOtherSituation tries all of them.
func TestNothingIsPushedOrReopenedInAnyOtherSituation(t *testing.T) {
	tried := map[watchAct]int{}
	for n := range 1 << 11 {
		bit := func(i int) bool { return n&(1<<i) != 0 }
		for _, s := range state.States() {
			for _, why := range []forge.Why{forge.Refused, forge.Gone, forge.LoggedOut, forge.Limited, forge.Offline} {
				for h := ours; h <= theirs; h++ {
					f := watchFacts{task: s, other: bit(0), person: bit(1), idle: bit(2), anew: bit(3), loose: bit(4), merged: bit(5), closed: bit(6), cut: bit(7), why: why, head: h, most: 1}
					if bit(8) || why != forge.Refused {
						f.asked = errors.New("no")
					}
					if bit(9) {
						f.fresh = 1
					}
					if bit(10) {
						f.reopens, f.pushes = 1, 1
					}
					do := watchDecide(f).do
					tried[do]++
					calm := s == state.Complete && !f.other && !f.person && !f.merged && !f.closed && f.asked == nil && h != theirs
					if do == watchReopen && !(calm && h == ours && f.fresh > 0 && !f.anew && f.reopens == 0) || do == watchPush && !(calm && f.anew && !f.loose && f.pushes == 0) {
						t.Fatalf("%s: %+v", do, f)
					}
				}
			}
		}
	}
	for _, do := range []watchAct{watchOn, watchDone, watchEnd, watchFail, watchReset, watchPush, watchReopen} {
		if tried[do] == 0 {
			t.Errorf("%s was never the answer", do)
		}
	}
}
