package pipeline

import (
	"bytes"
	"fmt"
)

// turnTries is how often one turn may be started.
const turnTries = 2

// turns is the table of a dialogue, used by the row "dialogue" of the other table. Every turn is
// read from the file; ferrus's own copy says whose turn it is and what has changed since.
var turns = []row{
	{
		name: "unreadable", when: "ferrus's own copy of `dialogue.json` cannot be read",
		fits: func(f Facts) bool { return f.Talk.Base != nil && f.talk().broken != nil },
		then: "fail phase", do: FailPhase,
		fill: func(f Facts, a *Action) {
			a.Roles, a.Reason, a.Why = []string{f.current().Workers[0].Role}, Violation, f.talk().broken.Error()
			a.Why += "; ferrus pipeline retry --from " + f.current().ID + " begins it anew"
			f.tellPhase(a)
		},
	},
	{
		name: "open", when: "there is no dialogue yet",
		fits: func(f Facts) bool { return f.Talk.Base == nil },
		then: "write entry: an empty one for the first", do: Write,
		fill: func(f Facts, a *Action) {
			a.Text = open(f.Workflow.Phases[a.Phase], f.Status.Topic).Offer(f.Now).Encode()
		},
	},
	{
		name: "edited", when: "it was changed while nobody had the turn",
		fits: func(f Facts) bool {
			t := f.talk()
			return !bytes.Equal(f.Talk.Base, f.Talk.Text) && (!t.Open() || t.worker.Status == Pending)
		},
		then: "restore it", do: Restore,
		fill: func(f Facts, a *Action) {
			a.Text, a.Reason, a.Why = f.Talk.Base, Violation, DialogueFile+" was changed while nobody had the turn"
		},
	},
	{
		name: "close", when: "there is consensus, or all rounds are over",
		fits: func(f Facts) bool { return f.talk().Over() },
		then: "write transcript: `<phase>.md`; with it all workers are done", do: Close,
		fill: func(f Facts, a *Action) {
			a.File, a.Text = f.Workflow.Phases[a.Phase].Transcript(), []byte(f.talk().Transcript())
		},
	},
	{
		name: "offer", when: "the last entry has its content",
		fits: func(f Facts) bool { return !f.talk().Open() },
		then: "write entry: an empty one for the next", do: Write,
		fill: func(f Facts, a *Action) { a.Text = f.talk().Offer(f.Now).Encode() },
	},
	{
		name: "give", when: "the one whose turn it is has not been started, and a place is free",
		fits: func(f Facts) bool { return f.talk().worker.Status == Pending && f.free() > 0 },
		then: "give turn: start it, and tell it the path", do: Turn,
		fill: func(f Facts, a *Action) { a.Roles = []string{f.talk().Turn}; f.tellStart(a) },
	},
	{
		name: "take", when: "it ended, and changed only `content` and `consensus` of the last entry",
		fits: func(f Facts) bool { return f.talk().exited(f) && f.verdict().Good() },
		then: "take turn", do: Take,
		fill: func(f Facts, a *Action) {
			a.Roles, a.Text = []string{f.talk().Turn}, f.verdict().Dialogue.Encode()
		},
	},
	{
		name: "again", when: "it ended, and wrote nothing or changed something else, for the first time",
		fits: func(f Facts) bool { return f.talk().exited(f) && f.talk().worker.Tries < turnTries },
		then: "restore the file; it is started once more", do: Restore,
		fill: func(f Facts, a *Action) { f.spoilt(a) },
	},
	{
		name: "spoilt", when: "it ended, and wrote nothing or changed something else, again",
		fits: func(f Facts) bool { return f.talk().exited(f) },
		then: "restore the file, fail worker, tell the user", do: FailWorker,
		fill: func(f Facts, a *Action) { f.spoilt(a); a.Aside = f.aside(a.Roles); f.tellOne(a) },
	},
	{
		name: "late but good", when: "it has written, and still runs past its time and the grace",
		fits: func(f Facts) bool { return f.talk().late(f) && f.verdict().Good() },
		then: "kill: end it; its turn counts", do: Kill,
		fill: func(f Facts, a *Action) { a.Roles, a.Why = []string{f.talk().Turn}, "it has had its turn" },
	},
	{
		name: "late", when: "it runs past its time and the grace",
		fits: func(f Facts) bool { return f.talk().late(f) },
		then: "restore the file, fail worker: end it, tell the user", do: FailWorker,
		fill: func(f Facts, a *Action) {
			a.Roles, a.Reason, a.Text = []string{f.talk().Turn}, TimedOut, f.Talk.Base
			a.Why, a.Aside = f.tooLong(a.Roles[0]), f.aside(a.Roles)
			f.tellOne(a)
		},
	},
	{
		name: "listen", when: "otherwise: it is at work",
		fits: func(Facts) bool { return true },
		then: "wait", do: Wait,
		fill: func(f Facts, a *Action) { a.Until = f.next() },
	},
}

// A talk is the present dialogue, with the worker whose turn it is.
type talk struct {
	Dialogue
	worker WorkerStatus
	broken error
}

func (f Facts) talk() talk {
	var t talk
	if t.Dialogue, t.broken = DecodeDialogue(f.Talk.Base); t.broken != nil {
		return t
	}
	worker := f.Status.Worker(t.Turn)
	if _, phase := f.Workflow.Worker(t.Turn); worker == nil || phase != f.Status.CurrentPhase || len(t.Dialogue.Dialogue) == 0 {
		t.broken = fmt.Errorf("the turn in %s is of %q, who is not in the phase", DialogueFile, t.Turn)
		return t
	}
	t.worker = *worker
	return t
}

// spoken reports whether it is not the turn of a dialogue's worker, by ferrus's own copy.
func (f Facts) spoken(role string) bool {
	d, err := DecodeDialogue(f.Talk.Base)
	return err == nil && (d.Turn != role || !d.Open())
}

func (t talk) exited(f Facts) bool {
	return t.worker.Status == Running && !f.Workers[t.worker.Role].Alive
}

func (t talk) late(f Facts) bool {
	return t.worker.Status == Running && f.Workers[t.worker.Role].Alive && f.late(t.worker.Role)
}

func (f Facts) verdict() Verdict { return Judge(f.Talk.Base, f.Talk.Text) }

// spoilt fills in the action for a turn that does not count.
func (f Facts) spoilt(a *Action) {
	v := f.verdict()
	a.Roles, a.Text, a.Reason = []string{f.talk().Turn}, f.Talk.Base, Violation
	if len(v.Touched) == 0 {
		a.Reason = EmptyTurn
	}
	a.Why = fmt.Sprintf("%s had its turn: %s", a.Roles[0], v)
}
