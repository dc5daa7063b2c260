package pipeline

import (
	"slices"
	"strings"

	"github.com/ferrus-go/ferrus/internal/config/workflow"
)

// personRows are the requests of a person, and what happens while a phase waits for one.
var personRows = []row{
	{
		name: "retry", when: "a person wants it retried, and something failed or was named",
		fits: func(f Facts) bool { return f.Intent.Verb == Retry && len(f.Invalid(f.Intent.From)) > 0 },
		then: "retry: end them, put their outputs aside, they and what is made from them are pending again", do: Retry,
		fill: func(f Facts, a *Action) {
			a.Roles, a.By = f.Invalid(f.Intent.From), f.Intent.By
			a.Aside = f.aside(a.Roles)
		},
	},
	{
		name: "accept", when: "a person resumes a phase that failed only because workers with an output did not end well",
		fits: func(f Facts) bool {
			return f.Intent.Verb == Resume && f.current().Status == Failed && !has(f.current(), func(s WorkerStatus) bool { return s.Status != Completed })
		},
		then: "accept: take their outputs as they are", do: Accept,
		fill: func(f Facts, a *Action) {
			a.Roles, a.By = f.in(f.Status.CurrentPhase, f.bad), f.Intent.By
		},
	},
	{
		name: "resume", when: "a person resumes a paused phase",
		fits: func(f Facts) bool { return f.Intent.Verb == Resume && f.current().Status == Paused },
		then: "resume: the phase is as good as without a pause", do: Resume,
		fill: func(f Facts, a *Action) { a.By = orSomebody(f.Intent.By) },
	},
	{
		name: "stray", when: "a worker that is done still lives past its time, or lives although it failed",
		fits: func(f Facts) bool { return len(f.strays()) > 0 },
		then: "kill: end it", do: Kill,
		fill: func(f Facts, a *Action) { a.Roles, a.Why = f.strays(), "it is not needed any more" },
	},
	{
		name: "paused", when: "the phase is paused",
		fits: func(f Facts) bool { return f.current().Status == Paused },
		then: "wait for a person: `ferrus pipeline resume`", do: Wait,
		fill: func(f Facts, a *Action) {
			a.Person, a.Why, a.Until = true, "it is paused after the phase "+f.current().ID, f.next()
		},
	},
}

// Invalid returns the roles that a retry starts again: the workers of a named role or phase, or
// those that failed, and all started workers that have used their outputs. For an unknown name it
// returns none.
func (f Facts) Invalid(from string) []string {
	var roles []string
	for i, p := range f.Status.Phases {
		for _, s := range p.Workers {
			named := from != "" && (from == s.Role || from == p.ID)
			if named && f.started(i) || from == "" && f.bad(s) {
				roles = append(roles, s.Role)
			}
			if from == "" && s.Status == Failed && s.Reason == MissingInput {
				for _, file := range f.lost(s.Role) {
					roles = append(roles, f.Workflow.Writers(file)...)
				}
			}
		}
	}
	if len(roles) == 0 {
		return nil
	}
	return f.spoils(roles, from != "")
}

// spoils returns these roles and all started workers that have used their outputs. whole means that
// a dialogue begins anew.
func (f Facts) spoils(roles []string, whole bool) []string {
	_, first := f.Workflow.Worker(roles[0])
	for _, role := range roles {
		_, i := f.Workflow.Worker(role)
		first = min(first, i)
	}
	var all []string
	var files []string // what is put aside
	for i, p := range f.Workflow.Phases {
		again := p.How() == workflow.Talking && whole && slices.ContainsFunc(p.Workers, func(k workflow.Worker) bool { return slices.Contains(roles, k.Role) })
		after := false // behind one that is done anew, where one comes after the other
		for _, k := range p.Workers {
			s := f.Status.Worker(k.Role)
			used := slices.ContainsFunc(f.Workflow.Waits(k.Role), func(file string) bool { return slices.Contains(files, file) })
			below := i > first && !f.Workflow.All() // phase by phase, what comes later has not been yet
			if slices.Contains(roles, k.Role) || again || (used || below || after && p.How() == workflow.Sequential) && s.Status != Pending {
				all = append(all, k.Role)
				files = append(files, p.Output(k))
				after = true
			}
		}
	}
	return all
}

// aside returns the files that must be moved away before these roles work again: they would count
// as done.
func (f Facts) aside(roles []string) []string {
	var files []string
	for _, role := range roles {
		k, i := f.Workflow.Worker(role)
		p := f.Workflow.Phases[i]
		file := p.Output(k)
		if _, there := f.Files[file]; there && !slices.Contains(files, file) {
			files = append(files, file)
		}
		// A failed turn is repeated; a dialogue that is done again starts from the beginning.
		whole := !slices.ContainsFunc(p.Workers, func(k workflow.Worker) bool { return !slices.Contains(roles, k.Role) })
		if p.How() == workflow.Talking && whole && f.Talk.Base != nil && !slices.Contains(files, DialogueFile) {
			files = append(files, DialogueFile)
		}
	}
	return files
}

// in returns the roles of a phase for which claim is true.
func (f Facts) in(phase int, claim func(WorkerStatus) bool) []string {
	var roles []string
	for _, s := range f.Status.Phases[phase].Workers {
		if claim(s) {
			roles = append(roles, s.Role)
		}
	}
	return roles
}

func has(p PhaseStatus, claim func(WorkerStatus) bool) bool {
	return slices.ContainsFunc(p.Workers, claim)
}

func is(p Progress) func(WorkerStatus) bool {
	return func(s WorkerStatus) bool { return s.Status == p }
}

func list(words []string) string { return strings.Join(words, ", ") }
