// Package handover has what the next agent is given. For an executor with an empty memory that is the task, the review, the last check,
// what was asked, answered and noted, cut so that it fits into one result. For a reviewer it is which files are the work of the task, and
// how it differs from what a reader of its patch sees, and from what is committed.
//
// It also has the texts that agents and people hand in: how long they may be, how sections become a document, and how a question offers
// its options (document.go). Who may hand in what, and when, is the matter of the engine. Start reading at packet.go.
package handover

import (
	"encoding/json"
	"slices"
	"sort"
	"strings"
	"unicode/utf8"
)

// A Packet is what lets an executor with an empty memory go on with the work. Its JSON is at most maxPacket bytes; what
// had to be cut is named.
type Packet struct {
	Task          string         `json:"task"`
	Review        string         `json:"review,omitempty"`
	LastCheck     *LastCheck     `json:"last_check,omitempty"`
	Decisions     []Decision     `json:"decisions,omitempty"`     // newest first
	Messages      []Message      `json:"messages,omitempty"`      // of other agents to the executor, newest first
	Consultations []Consultation `json:"consultations,omitempty"` // newest first
	Progress      []Note         `json:"progress,omitempty"`      // newest first
	Diffstat      string         `json:"diffstat,omitempty"`
	Cut           []Cut          `json:"cut,omitempty"`

	Tree string `json:"-"` // of which Diffstat is; "" where nobody has looked
}

// A Cut names something that does not fit into a packet.
type Cut struct {
	What string `json:"what"`
	URI  string `json:"uri"` // the resource that has it whole; of the diffstat, that has the tree to compare with
}

// Max leaves room for the rest of a result in the 10 KiB that every client shows whole.
const Max = 9 << 10

// A share is one part of a packet in the order of who is served first: a person's words before a model's, what must be
// done before what was.
type share struct {
	what, uri string
	min       int // bytes of maxPacket that the part may take even when others want them
	fit       func(p *Packet, room int) (cut bool)
}

var shares = []share{
	{"task", "ferrus://task", 2800, func(p *Packet, room int) bool { return fitText(&p.Task, room) }},
	{"decisions", "ferrus://decisions", 1500, func(p *Packet, room int) bool { return fitList(&p.Decisions, room, shortDecision) }},
	{"review", "ferrus://review", 1500, func(p *Packet, room int) bool { return fitText(&p.Review, room) }},
	{"last_check", "ferrus://last_check", 1200, fitCheck},
	{"messages", "ferrus://messages", 600, func(p *Packet, room int) bool { return fitList(&p.Messages, room, shortMessage) }},
	{"consultations", "ferrus://consultations", 600, func(p *Packet, room int) bool { return fitList(&p.Consultations, room, shortConsultation) }},
	{"progress", "ferrus://progress", 600, func(p *Packet, room int) bool { return fitList(&p.Progress, room, shortNote) }},
	{"diffstat", "ferrus://state", 400, func(p *Packet, room int) bool { return fitText(&p.Diffstat, room) }},
}

// Fit cuts the packet to n bytes of JSON: each part may take what those after it do not need as their minimum. What was
// cut before stays named.
func (p *Packet) Fit(n int) {
	if size(p) <= n {
		return
	}
	was := p.Cut
	p.Cut = nil
	n = max(0, n-maxCut)
	// What does not fit even alone is cut first: the rest is then a matter of kilobytes, whatever the texts were.
	for _, s := range shares {
		if s.fit(p, n) {
			was = append(was, Cut{What: s.what})
		}
	}
	reserved := 0
	for _, s := range shares {
		reserved += s.least(p, n)
	}
	left := n
	for _, s := range shares {
		least := s.least(p, n)
		reserved -= least
		named := slices.ContainsFunc(was, func(c Cut) bool { return c.What == s.what })
		if s.fit(p, max(least, left-reserved)) || named {
			p.Cut = append(p.Cut, Cut{What: s.what, URI: s.uri})
		}
		left -= s.taken(p)
	}
}

// maxCut is what the frame of a packet takes, and the list of what was cut.
const maxCut = 600

// least is how many bytes stay free for the part in a packet of n bytes.
func (s share) least(p *Packet, n int) int {
	return min(s.min*min(n, Max)/Max, s.taken(p))
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

// IsCut reports whether a text of a packet is the beginning of a longer one.
func IsCut(text string) bool { return strings.HasSuffix(text, cutMark) }

// FitDecisions keeps as many of the newest decisions as room bytes of JSON hold, and reports whether any were cut.
func FitDecisions(list *[]Decision, room int) bool { return fitList(list, room, shortDecision) }

const cutMark = " … (cut)"

// fitText shortens a text to room bytes of JSON: the beginning stays.
func fitText(text *string, room int) bool {
	return shorten(text, room, func(t string, n int) string {
		for n > 0 && !utf8.RuneStart(t[n]) {
			n--
		}
		return t[:n] + cutMark
	})
}

// fitTail shortens the output of a command: the end stays.
func fitTail(text *string, room int) bool {
	return shorten(text, room, func(t string, n int) string {
		at := len(t) - n
		for at < len(t) && !utf8.RuneStart(t[at]) {
			at++
		}
		return "(cut) … " + t[at:]
	})
}

// shorten keeps as many bytes of a text as fit; keep returns n of them, or a few less, with the mark.
func shorten(text *string, room int, keep func(t string, n int) string) bool {
	if size(*text) <= room {
		return false
	}
	t := *text
	// JSON is never shorter than the text.
	n := sort.Search(min(len(t), max(0, room)), func(n int) bool { return size(keep(t, n)) > room })
	if *text = ""; n > 1 {
		*text = keep(t, n-1)
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

func shortMessage(m *Message, room int) { fitText(&m.Text, max(0, room-120)) }

func shortNote(n *Note, room int) { fitText(&n.Note, max(0, room-60)) }

func fitCheck(p *Packet, room int) bool {
	if p.LastCheck == nil || size(p.LastCheck) <= room {
		return false
	}
	if room == 0 {
		p.LastCheck = nil
		return true
	}
	short := *p.LastCheck
	short.Failures = nil
	for i, f := range p.LastCheck.Failures {
		left := (room - size(short) - len(`"failures":[],`)) / (len(p.LastCheck.Failures) - i)
		tail := f.Tail
		f.Tail = ""
		fitText(&f.Line, left/4)
		fitTail(&tail, left-size(f)-len(`"tail":,,`))
		f.Tail = tail
		more := short
		if more.Failures = append(more.Failures, f); size(more) <= room {
			short = more
		}
	}
	p.LastCheck = &short
	return true
}
