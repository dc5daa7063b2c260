package engine

import (
	"slices"

	"github.com/ferrus-go/ferrus/internal/lease"
	"github.com/ferrus-go/ferrus/internal/state"
)

// key is a settled situation as bytes: two situations with one key are one.
func (s *situation) key() []byte {
	t := s.task
	b := make(key, 0, 128)
	b.number(slices.Index(states, t.State), t.CheckRetries, t.ReviewCycles, len(t.FailureReason), int(s.holding()), len(t.Paused))
	for _, p := range t.Paused {
		b.number(slices.Index(states, p.State))
		b.text(p.ID)
	}
	b.check(t.Check)
	b.text(t.Score.Tree, t.Score.Gate, s.scores.task, s.scores.tree, s.scores.gate)
	b.text(t.Submission.Tree, t.Consultation.ID, t.Pin.SHA256, t.TaskID, s.due.Boot)
	b.flag(t.Consultation.Answered, s.due.Left(instant) > 0, s.due == lease.Term{}, s.lost)
	b.number(int(s.tree), int(s.conf))
	for _, x := range s.ex {
		b.flag(x.stopped, x.lost, x.job.on, x.job.tenure, x.submit.on, x.submit.green)
		b.number(int(x.epoch), int(x.job.epoch), int(x.job.was), int(x.submit.tree))
		b.text(x.job.task, x.job.id, x.job.tree, x.job.gate)
		b.check(x.submit.check)
	}
	for _, r := range []reviewing{s.sup, s.hum} {
		b.text(r.shown.task, r.shown.submission, r.shown.consultation)
		b.looking(r.looking)
	}
	b.looking(s.asks)
	b.flag(len(t.Delegates) > 0, t.Returning.Of != "")
	for _, d := range t.Delegates {
		b.number(int(s.child))
		b.text(string(d.Decided.What), d.Merged)
	}
	b.number(int(s.owner), int(s.chronicle.left), int(s.seal.tree))
	b.flag(s.rebooted, s.seal.on, s.shownNow, s.scores.on)
	b.text(s.seal.gate)
	return b
}

var (
	states   = state.States()
	statuses = []state.CheckStatus{"", state.CheckRunning, state.CheckGreen, state.CheckRed, state.CheckGateError, state.CheckMoved, state.CheckAbandoned}
)

type key []byte

func (b *key) number(list ...int) {
	for _, n := range list {
		*b = append(*b, byte(n))
	}
}

// text appends the ends of names, which tell one from the other: "tree1", "s0", "".
func (b *key) text(list ...string) {
	for _, s := range list {
		if s == "" {
			*b = append(*b, 0)
		} else {
			*b = append(*b, s[len(s)-1])
		}
	}
}

func (b *key) flag(list ...bool) {
	for i, f := range list {
		if i%8 == 0 {
			*b = append(*b, 0)
		}
		if f {
			(*b)[len(*b)-1] |= 1 << (i % 8)
		}
	}
}

func (b *key) check(c state.Check) {
	b.text(c.ID, c.Tree, c.Gate)
	b.number(slices.Index(statuses, c.Status))
}

func (b *key) looking(l looking) {
	b.flag(l.on, l.present, l.same)
	b.text(l.task, l.id)
	b.number(slices.Index(states, l.state))
}
