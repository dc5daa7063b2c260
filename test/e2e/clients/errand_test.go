//go:build unix

package clients

import (
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/ferrus-go/ferrus/test/model"
)

// An errand is the task of a branch. What its models do they have from its text alone.
type errand struct {
	branch, file, line string
	waits              bool // in the queue, before it is a branch
}

func (e errand) text() string { return "Let " + e.file + " say: " + e.line + "\n" }

var ordered = regexp.MustCompile(`Let (\S+) say: (.+)`)

// obey does the errand that the packet of work tells. Before that it meddles with the machine's own files, which would be
// journalled as a violation if Claude Code let it; Codex's sandbox may write below /tmp, where the rig is.
func obey(r model.Request, work model.Told) []model.Call {
	told := ordered.FindStringSubmatch(work.Task)
	if told == nil {
		return nil // and the check is red for it
	}
	var calls []model.Call
	if r.API == model.Messages {
		calls = r.WriteFile(filepath.Join(work.Worktree, "../../branches", filepath.Base(work.Worktree), "STATE.json"), "{}\n")
	}
	return append(calls, r.WriteFile(filepath.Join(work.Worktree, told[1]), told[2]+"\n")...)
}

// branchOf is the branch on which a model was given work.
func branchOf(r model.Request) string { return filepath.Base(r.Packet().Worktree) }

// halfway hangs a branch's executor as long as its epoch is not above that: its file is written, and not checked.
func halfway(branch string, epoch int) model.Rule {
	return model.When(func(r model.Request) bool {
		work := r.Packet()
		return model.Claimed(r) && branchOf(r) == branch && work.Epoch <= epoch && len(r.Since()) == len(obey(r, work))
	}, model.Answer(model.Reply{Hang: true}))
}

// A meeting lets nobody begin with his work before so many branches have one who could.
type meeting struct {
	many int
	all  chan struct{}

	mu    sync.Mutex
	there map[string]bool
}

func newMeeting(many int) *meeting {
	return &meeting{many: many, all: make(chan struct{}), there: map[string]bool{}}
}

func (m *meeting) rule(r model.Request) (model.Reply, bool) {
	if !model.Claimed(r) {
		return model.Reply{}, false
	}
	m.enter(branchOf(r))
	select {
	case <-m.all:
		return model.Reply{}, false
	case <-time.After(patience):
		return model.Reply{Problem: "the others do not come"}, true
	}
}

func (m *meeting) enter(branch string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.there[branch] {
		m.there[branch] = true
		if len(m.there) == m.many {
			close(m.all)
		}
	}
}

// apart: an agent that works on an errand knows it and its own folder, and no other's.
func (r *rig) apart(errands []errand) {
	r.t.Helper()
	told := map[string]int{}
	for _, s := range r.model.Seen() {
		var at, about []string
		for _, e := range errands {
			if strings.Contains(s.Body, r.on(e.branch).place().Work) {
				at = append(at, e.branch)
			}
			if strings.Contains(s.Body, e.line) {
				about = append(about, e.branch)
			}
		}
		switch {
		case len(at) != 1:
			r.t.Errorf("it is at work in %v: %v", at, s)
		case len(about) > 1, len(about) == 1 && about[0] != at[0]:
			r.t.Errorf("on %s it knows of %v: %v", at[0], about, s)
		case len(about) == 1:
			told[at[0]+map[bool]string{true: "'s executor", false: "'s reviewer"}[s.Executor()]]++
		}
	}
	if len(told) != 2*len(errands) {
		r.t.Errorf("told of their errands were only %v", told)
	}
}
