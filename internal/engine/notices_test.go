package engine_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/engine/enginetest"
	"github.com/ferrus-go/ferrus/internal/state"
)

// approveThese also names ferrus.toml, which is a file of the work tree like others.
const approveThese = `on = "submit"; when = { paths = ["docs/**", "ferrus.toml"] }; then = "approve"`

// TestNoRuleApprovesWhatAReviewerHasANoticeOf: whatever the notice is. That a script began the task is none.
func TestNoRuleApprovesWhatAReviewerHasANoticeOf(t *testing.T) {
	t.Parallel()
	script := func(p *enginetest.Machine) *engine.Session {
		return p.Engine().Session(engine.Caller{Role: state.Human, Agent: "human"})
	}
	answered := func(by func(*enginetest.Machine) *engine.Session) func(*testing.T, *enginetest.Machine, *engine.Session) {
		return func(t *testing.T, p *enginetest.Machine, ex *engine.Session) {
			enginetest.Must(ex.AskHuman(t.Context(), "May I?", nil))(t)
			enginetest.Must(by(p).Answer(t.Context(), "", "Yes."))(t)
		}
	}
	for name, c := range map[string]struct {
		scripted bool // a script created the task
		work     func(t *testing.T, p *enginetest.Machine, ex *engine.Session)
		notice   string // "" where the rule approves
		files    bool   // what it does needs a machine in files
	}{
		"nothing":                  {},
		"a task of a script":       {scripted: true},
		"an answer at a terminal":  {work: answered((*enginetest.Machine).Human)},
		"an answer of a script":    {work: answered(script), notice: "done without a terminal, in a person's name: answer (1)"},
		"a script, and its answer": {scripted: true, work: answered(script), notice: "done without a terminal, in a person's name: answer (1)"},
		"an agreement of a script": {work: func(t *testing.T, p *enginetest.Machine, ex *engine.Session) {
			p.Write("ferrus.toml", p.Read("ferrus.toml")+"[limits]\nmax_review_cycles = 2\n")
			enginetest.Must2(script(p).AcceptConfig(t.Context()))(t)
		}, notice: "done without a terminal, in a person's name: accept_config (1)"},
		"more acts than are counted": {scripted: true, work: func(t *testing.T, p *enginetest.Machine, ex *engine.Session) {
			happens(t, ex, state.Progress, state.Holder, func(next *state.Task) {
				for len(next.Unattended) < state.MaxRecords {
					next.Unattended = append(next.Unattended, state.Record{ID: string(state.Branch), Off: next.Unattended[0].Off})
				}
			})
		}, notice: "done without a terminal, in a person's name: branch ("},
		"an edited STATE.json": {files: true, work: func(t *testing.T, p *enginetest.Machine, ex *engine.Session) {
			p.Write(".ferrus/STATE.json", `{"state":"Complete"}`)
		}, notice: "violation: "},
		"an edited TASK.md": {files: true, work: func(t *testing.T, p *enginetest.Machine, ex *engine.Session) {
			p.Write(".ferrus/TASK.md", "Do nothing.\n")
		}, notice: "violation: "},
		"another ferrus.toml": {work: func(t *testing.T, p *enginetest.Machine, ex *engine.Session) {
			p.Write("ferrus.toml", p.Read("ferrus.toml")+"[limits]\nmax_review_cycles = 2\n")
		}, notice: "config_changed: limits.max_review_cycles"},
		"a broken ferrus.toml": {work: func(t *testing.T, p *enginetest.Machine, ex *engine.Session) {
			p.Write("ferrus.toml", "[cheques]\n")
		}, notice: "config_broken: "},
		"a delegate that failed": {work: func(t *testing.T, p *enginetest.Machine, ex *engine.Session) {
			happens(t, ex, state.Progress, state.Holder, func(next *state.Task) {
				next.Issued.Delegates = 1
				next.Delegates = []state.Delegate{{ID: "d1", Branch: "d1-12345678", Off: next.Docs[state.TaskDoc].Off, Ended: state.DelegateFailed}}
			})
		}, notice: "delegate d1 has ended: failed"},
	} {
		t.Run(name, func(t *testing.T) {
			if c.files {
				enginetest.InFiles(t, "it edits generated files")
			}
			t.Parallel()
			p := enginetest.Repository(t, ruled(approveThese))
			creator, ex := p.Supervisor(), p.Executor("codex")
			if c.scripted {
				creator = script(p)
			}
			enginetest.Must(creator.CreateTask(t.Context(), "Build it.", ""))(t)
			enginetest.Claim(t, ex)
			p.Write("docs/a.md", "a")
			if c.work != nil {
				c.work(t, p, ex)
			}
			out := enginetest.Submitted(t, ex)
			now, want := enginetest.View(t, ex), state.Complete
			if c.notice != "" {
				want = state.Reviewing
			}
			if now.Task.State != want || (out.Rule == "") != (c.notice != "") {
				t.Errorf("the task is %s, by %q", now.Task.State, out.Rule)
			}
			notices := ex.Engine().Notices(t.Context(), now)
			if c.notice != "" && !slices.ContainsFunc(notices, func(n string) bool { return strings.HasPrefix(n, c.notice) }) {
				t.Errorf("no %q in %q", c.notice, notices)
			}
		})
	}
}

// TestAnEditBetweenASubmissionAndItsRuleCounts: it is found when the rule is followed, before that approves.
func TestAnEditBetweenASubmissionAndItsRuleCounts(t *testing.T) {
	enginetest.InFiles(t, "it edits TASK.md")
	t.Parallel()
	p := enginetest.Repository(t, ruled(approveDocs))
	_, ex := p.Begun()
	p.Write("docs/a.md", "a")
	enginetest.Check(t, ex, state.CheckGreen)
	happens(t, ex, state.Submit, state.Holder, func(next *state.Task) {
		next.Issued.Submissions++
		next.Submission = state.Submission{ID: "s1", Tree: next.Check.Tree, Base: next.BaseTree}
	})
	p.Write(".ferrus/TASK.md", "Do nothing.\n")
	enginetest.Must(p.Engine().FollowRules(t.Context()))(t)
	wantEvents(t, ex, "submit", "violation")
	enginetest.WantState(t, ex, state.Reviewing)
}
