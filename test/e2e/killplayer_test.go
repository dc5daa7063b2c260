//go:build unix

package e2e

import (
	"math/rand/v2"
	"regexp"

	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/store"
)

// A player chooses what a client calls next.
type player struct {
	s       *tempest
	rnd     *rand.Rand
	role    state.Role
	next    string
	allowed []string
	state   state.State
	sub     string // the submission and the consultation that it was shown last
	con     string
}

// first is what a client calls when it comes.
var first = map[state.Role]string{state.Executor: "wait_for_task", state.Supervisor: "wait_for_review"}

// offered are the tools of each role that do not wait.
var offered = map[state.Role][]string{
	state.Executor:   {"check", "submit", "consult", "progress", "tell", "heartbeat", "ask_human", "status"},
	state.Supervisor: {"create_task", "review_pending", "approve", "reject", "respond_consult", "tell", "ask_human", "status"},
}

// choose does mostly what it was told, often looks, and now and then tries what may be refused.
func (p *player) choose() *call {
	c := &call{tool: "status"}
	switch n := p.rnd.IntN(20); {
	case n < 9 && p.next != "" && p.next != "stop" && p.next != "choose":
		c.tool = p.next
	case n < 16 && len(p.allowed) > 0:
		c.tool = p.allowed[p.rnd.IntN(len(p.allowed))]
	case n < 18:
		c.tool = offered[p.role][p.rnd.IntN(len(offered[p.role]))]
	}
	if p.vain(c.tool) && p.rnd.IntN(60) > 0 {
		c.tool = "status"
	}
	if c.about = p.sub; c.tool == "respond_consult" {
		c.about = p.con
	}
	return c
}

// vain reports whether a call would probably wait for nothing: a few that do are enough.
func (p *player) vain(tool string) bool {
	switch tool {
	case "wait_for_task":
		l := p.s.holder.Load()
		return l != nil && !l.dying.Load() || p.state != "" && !p.state.InHand()
	case "wait_for_review":
		return p.state != state.Reviewing && p.state != state.Consultation
	}
	return false
}

// heed remembers what a result says and shows.
func (p *player) heed(c *call) {
	r := c.res
	p.next, p.allowed, p.state = r.Next, r.Allowed, r.State
	if c.tool == "status" && r.ClaimedBy == "" {
		p.s.holder.Store(nil)
	}
	if r.Status == "claimed" {
		p.s.holder.Store(c.life)
	}
	if r.Code == "" && r.Submission != "" {
		p.sub = r.SubmissionID
	}
	if r.Code == "" && r.Consultation != "" {
		p.con = r.ConsultationID
	}
}

// args are the arguments of a call, with its token where its event keeps it.
func (c *call) args() args {
	a := args{}
	if r, ok := raises[c.tool]; ok {
		a[r.arg] = c.token
	}
	if m, ok := messages[c.life.role]; ok && c.tool == "tell" {
		a[m.text], a["to"] = c.token, string(m.to)
	}
	switch c.tool {
	case "consult":
		a["problem"], a["tried"] = "p", "t"
	case "submit":
		a["verification"], a["no_change"] = "v", "n" // the files may be those of the beginning
	}
	return a
}

// messages are how each role sends the other one a message, which is a call named tell here.
var messages = map[state.Role]struct {
	tool, text string
	to         state.Role
}{state.Executor: {"progress", "note", state.Supervisor}, state.Supervisor: {"queue_task", "text", state.Executor}}

// name returns the tool as the server knows it.
func (c *call) name() string {
	if c.tool == "tell" {
		return messages[c.life.role].tool
	}
	return c.tool
}

var aToken = regexp.MustCompile(`token-[a-z0-9:]+-\d+\.`)

// signatures are the tokens that a line holds.
func signatures(l *store.Line) []string {
	text := l.Note
	for _, doc := range l.Docs {
		text += "\n" + doc
	}
	return aToken.FindAllString(text, -1)
}
