package pipeline

import (
	"slices"
	"strings"
	"time"

	"github.com/ferrus-go/ferrus/internal/config/workflow"
)

func (w *world) putAside(files []string) {
	for _, file := range files {
		delete(w.files, file)
		if file == DialogueFile {
			w.talk = Talk{}
		}
	}
}

func (w *world) spawn(role string) {
	if p := w.procs[role]; p != nil && p.Alive {
		w.t.Fatalf("%s is started twice", role)
	}
	k, _ := w.w.Worker(role)
	w.spawns[role]++
	if lost := w.facts().lost(role); len(lost) > 0 && !w.w.All() {
		w.t.Fatalf("%s is started without %v", role, lost)
	}
	n := w.spawns[role]
	p := &proc{Seen: Seen{Alive: true, Waiting: true, Attempt: n, Session: w.session(role, n), Spawned: w.now}, play: play{takes: time.Minute}}
	if plays := w.plays[k.Role]; len(plays) > 0 {
		p.play = plays[min(n, len(plays))-1]
	}
	w.procs[role] = p
	w.begin()
}

// working is how many agents run.
func (w *world) working() int {
	n := 0
	for _, p := range w.procs {
		if p.Alive && !p.Waiting {
			n++
		}
	}
	return n
}

// begin has those who wait begin whose inputs are there, as far as there are places.
func (w *world) begin() {
	for _, p := range w.w.Phases {
		for _, k := range p.Workers {
			proc := w.procs[k.Role]
			if proc == nil || !proc.Alive || !proc.Waiting || w.w.All() && w.working() >= w.w.Cap() {
				continue
			}
			if slices.ContainsFunc(w.w.Waits(k.Role), func(file string) bool { _, there := w.files[file]; return !there }) {
				continue
			}
			proc.Waiting, proc.Began, proc.ends = false, w.now, w.now.Add(proc.takes)
			w.most = max(w.most, w.working())
		}
	}
}

// live lets happen what is due by now.
func (w *world) live() {
	for role, p := range w.procs {
		k, i := w.w.Worker(role)
		if p.Alive && !p.Waiting && !p.hangs && !w.now.Before(p.ends) {
			p.Alive, p.Exited, p.Exit, p.Sent = false, !p.killed, p.exit, p.sends
			switch {
			case w.w.Phases[i].How() == workflow.Talking:
				w.speak(role, p)
			case !p.silent && p.late == 0:
				w.write(k.File(), role)
			case p.half:
				w.write(k.File(), role[:1])
			}
		}
		if p.late > 0 && !p.written && !p.ends.IsZero() && !w.now.Before(p.ends.Add(p.late)) {
			p.written = true
			w.write(k.File(), role)
		}
	}
	w.begin()
}

func (w *world) speak(role string, p *proc) {
	d, err := DecodeDialogue(w.talk.Text)
	if err != nil {
		w.t.Fatal(err)
	}
	last := &d.Dialogue[len(d.Dialogue)-1]
	last.Content = role + " speaks"
	if p.turn != nil {
		w.talk.Text = []byte(p.turn(&d))
		return
	}
	w.talk.Text = d.Encode()
}

// run ticks until the run is archived or only a person gets it further. The clock jumps to what happens next.
func (w *world) run() Action {
	w.t.Helper()
	for range 500 {
		a := w.tick()
		if w.archived > 0 {
			return a
		}
		next := a.Until
		for _, p := range w.procs {
			for _, at := range []time.Time{p.ends, p.ends.Add(p.late)} {
				if !p.ends.IsZero() && !p.hangs && at.After(w.now) && (next.IsZero() || at.Before(next)) {
					next = at
				}
			}
		}
		if a.Person && !slices.ContainsFunc(slices.Collect(values(w.procs)), func(p *proc) bool { return p.late > 0 && !p.written && !p.ends.IsZero() }) {
			return a
		}
		if !next.After(w.now) {
			w.t.Fatalf("nothing would wake it at %s: %s; %+v", w.now, a, w.status)
		}
		w.now = next
	}
	w.t.Fatal("it does not end")
	return Action{}
}

func values[K comparable, V any](m map[K]V) func(func(V) bool) {
	return func(yield func(V) bool) {
		for _, v := range m {
			if !yield(v) {
				return
			}
		}
	}
}

// ended demands that the run came to its end with one delivery.
func (w *world) ended(partial bool) {
	w.t.Helper()
	if w.archived != 1 || w.sent != 1 || w.partial != partial || !w.status.ResultDelivered || w.status.State != IsCompleted {
		w.t.Errorf("archived %d, sent %d, partial %v, %s\n%s", w.archived, w.sent, w.partial, w.status.State, strings.Join(w.rows, " "))
	}
}
