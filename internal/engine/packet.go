package engine

import (
	"context"
	"encoding/json"
	"unicode/utf8"

	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/store"
)

// A Packet is what lets an executor with an empty memory go on with the work. Its JSON is at most maxPacket bytes; what
// had to be cut is named.
type Packet struct {
	Task          string         `json:"task"`
	Review        string         `json:"review,omitempty"`
	LastCheck     *LastCheck     `json:"last_check,omitempty"`
	Decisions     []Decision     `json:"decisions,omitempty"`     // newest first
	Consultations []Consultation `json:"consultations,omitempty"` // newest first
	Progress      []Note         `json:"progress,omitempty"`      // newest first
	Diffstat      string         `json:"diffstat,omitempty"`
	Cut           []Cut          `json:"cut,omitempty"`
}

// A Cut names something that a packet has no room for.
type Cut struct {
	What string `json:"what"`
	URI  string `json:"uri"` // the resource that has it whole
}

// maxPacket leaves room for the rest of a result in the 10 KiB that every client shows whole.
const maxPacket = 9 << 10

// packet gathers the packet of the task as it is.
func (e *Engine) packet(ctx context.Context, snap store.Snapshot) (Packet, error) {
	var p Packet
	var err error
	load := func(into *string, doc state.Doc) {
		if err == nil {
			*into, err = e.store.Text(snap, doc)
			err = refusal(err)
		}
	}
	load(&p.Task, state.TaskDoc)
	load(&p.Review, state.ReviewDoc)
	if err == nil {
		p.LastCheck, err = e.lastCheck(snap)
	}
	if err == nil {
		p.Decisions, err = newestFirst(snap.Task.Decisions, e.decision)
	}
	if err == nil {
		p.Consultations, err = newestFirst(snap.Task.Consulted, e.consultation)
	}
	if err == nil {
		p.Progress, err = newestFirst(snap.Task.Progress, e.note)
	}
	if err == nil {
		p.Diffstat, err = e.diffNow(ctx, snap)
	}
	p.fit(maxPacket)
	return p, err
}

// diffNow is the change from the task's base to the work tree as it is.
func (e *Engine) diffNow(ctx context.Context, snap store.Snapshot) (string, error) {
	now, err := e.fingerprint(ctx, snap)
	if err != nil {
		return "", err
	}
	if now != "" && now == snap.Task.BaseTree {
		return "", nil
	}
	return e.diffstat(ctx, snap, now)
}

// A share is one part of a packet in the order of who is served first: a person's words before a model's, what must be
// done before what was.
type share struct {
	what, uri string
	min       int // bytes that the part may take even when others want them
	fit       func(p *Packet, room int) (cut bool)
}

var shares = []share{
	{"task", "ferrus://task", 3000, func(p *Packet, room int) bool { return fitText(&p.Task, room) }},
	{"decisions", "ferrus://history", 1500, func(p *Packet, room int) bool { return fitList(&p.Decisions, room, shortDecision) }},
	{"review", "ferrus://review", 1500, func(p *Packet, room int) bool { return fitText(&p.Review, room) }},
	{"last_check", "ferrus://history", 1200, fitCheck},
	{"consultations", "ferrus://history", 700, func(p *Packet, room int) bool { return fitList(&p.Consultations, room, shortConsultation) }},
	{"progress", "ferrus://history", 700, func(p *Packet, room int) bool { return fitList(&p.Progress, room, shortNote) }},
	{"diffstat", "ferrus://history", 400, func(p *Packet, room int) bool { return fitText(&p.Diffstat, room) }},
}

// fit cuts the packet to n bytes of JSON: each part may take what those after it do not need as their minimum.
func (p *Packet) fit(n int) {
	if size(p) <= n {
		return
	}
	reserved := 0
	for _, s := range shares {
		reserved += s.min
	}
	var cut []Cut
	for _, s := range shares {
		reserved -= s.min
		if s.fit(p, max(s.min, n-reserved)) {
			cut = append(cut, Cut{What: s.what, URI: s.uri})
		}
		n -= s.taken(p)
	}
	p.Cut = cut
}

// taken is what the packet would lose without the part.
func (s share) taken(p *Packet) int {
	without := *p
	s.fit(&without, 0)
	return size(p) - size(&without)
}

func size(v any) int {
	text, err := json.Marshal(v)
	if err != nil {
		return 0
	}
	return len(text)
}

const cutMark = " … (cut)"

// fitText shortens a text to room bytes of JSON.
func fitText(text *string, room int) bool {
	if size(*text) <= room {
		return false
	}
	t := *text
	for len(t) > 0 && size(t+cutMark) > room {
		t = t[:len(t)-max(1, min(len(t), (size(t+cutMark)-room)/2))]
		for !utf8.ValidString(t) {
			t = t[:len(t)-1]
		}
	}
	*text = t + cutMark
	if t == "" {
		*text = ""
	}
	return true
}

// fitList keeps as many of the newest as fit, the last of them shortened.
func fitList[T any](list *[]T, room int, shorten func(*T, int)) bool {
	if size(*list) <= room {
		return false
	}
	var kept []T
	for _, v := range *list {
		left := room - size(kept)
		if size(v) > left {
			shorten(&v, left)
			if size(v) <= left {
				kept = append(kept, v)
			}
			break
		}
		kept = append(kept, v)
	}
	*list = kept
	return true
}

func shortDecision(d *Decision, room int) {
	fitText(&d.Question, max(0, (room-80)/3))
	fitText(&d.Answer, max(0, room-80-size(d.Question)))
}

func shortConsultation(c *Consultation, room int) {
	fitText(&c.Question, max(0, (room-80)/3))
	fitText(&c.Response, max(0, room-80-size(c.Question)))
}

func shortNote(n *Note, room int) { fitText(&n.Note, max(0, room-60)) }

func fitCheck(p *Packet, room int) bool {
	if p.LastCheck == nil || size(p.LastCheck) <= room {
		return false
	}
	short := *p.LastCheck
	short.Failures = nil
	for _, f := range p.LastCheck.Failures {
		left := (room - size(short)) / max(1, len(p.LastCheck.Failures)-len(short.Failures))
		fitText(&f.Tail, max(0, left-120-len(f.Line)))
		short.Failures = append(short.Failures, f)
	}
	p.LastCheck = &short
	return true
}
