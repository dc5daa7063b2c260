package terminal

import (
	"fmt"
	"strings"
	"time"

	"github.com/ferrus-go/ferrus/internal/status"
)

// A documentsTab shows the texts of a task as they are now, and the details that nobody needs every day: ids, who has the claim, notices and
// commands.
type documentsTab struct {
	scroll
	static
	detail *Detail
	now    time.Time
}

func (*documentsTab) name() string { return "documents" }

func (t *documentsTab) show(d *Detail, now time.Time) {
	t.detail, t.now = d, now
	t.build()
}

func (t *documentsTab) resize(width, height int) {
	t.scroll.resize(width, height)
	t.build()
}

func (t *documentsTab) build() {
	r := t.detail.report()
	if r == nil {
		t.set([]row{{text: "no documents", style: dim}})
		return
	}
	s := &sheet{width: t.width}
	for _, d := range t.detail.Task.Documents {
		s.gap()
		s.rows = append(s.rows, row{text: line(string(d.Name)) + "  by " + who(d.By) + ", " + age(d.At, t.now) + " ago", style: bold, mark: true})
		s.add(plain, "  ", d.Text)
	}
	s.gap()
	s.rows = append(s.rows, row{text: "details", style: bold, mark: true})
	t.details(s, r)
	t.set(s.rows)
}

func (t *documentsTab) details(s *sheet, r *status.Report) {
	s.fact("task", r.TaskID)
	s.fact("branch", r.Branch)
	s.fact("state", string(r.State)+since(r.Since, t.now))
	s.fact("failed", r.FailureReason)
	if wait := r.WaitText(); wait != "" {
		s.fact("waiting", wait+since(r.Waiting.Since, t.now))
	}
	if q := r.Question; q != nil {
		s.fact("question", q.ID+", by "+q.By)
	}
	if h := r.Holder; h != nil {
		how := h.Agent
		if h.Dead {
			how += ", " + h.Why
		}
		s.fact("claimed by", how)
	}
	if r.Node != "" {
		s.fact("conducted on", line(r.Node))
	}
	for _, a := range r.Agents {
		who := a.Agent
		if a.Sandbox != "" {
			who += ", sandbox: " + a.Sandbox
		}
		if a.Outside != "" {
			who += ", no sandbox"
		}
		s.fact("running", strings.TrimSpace(a.Name+"  "+who+"  "+a.Doing))
	}
	if c := r.Check; c != nil {
		text := fmt.Sprintf("%d of %d failed checks used", c.Used, c.Max)
		if c.ID != "" {
			text += "; " + c.ID + " " + strings.ReplaceAll(string(c.Status), "_", " ")
		}
		s.fact("checks", text)
		s.fact("reviews", fmt.Sprintf("%d of %d used", r.Reviews.Used, r.Reviews.Max))
	}
	s.fact("spent", status.Cost(r.Spent))
	for _, n := range r.Notices {
		s.fact("notice", n)
	}
	for _, n := range r.Next {
		s.fact("command", n.Command)
	}
}
