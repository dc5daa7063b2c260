// Package register adds the ferrus MCP server to the project files of coding agents, and removes it
// again. With it you can open one client as the supervisor and another as the executor, without a
// conductor.
//
// Files are edited as text: every byte that is not ferrus's own stays. A file that cannot be parsed
// is not touched. All edits are planned before the first is written, and an edit that cannot be
// made prevents all of them. The package recognizes its own entries by their name and by a record
// of what it wrote where.
//
// The package starts no client and knows no task. internal/agents launches clients without using
// these files.
package register

import (
	"maps"
	"slices"

	"github.com/ferrus-go/ferrus/internal/agents"
	"github.com/ferrus-go/ferrus/internal/platform/rootfs"
)

// A Assignment is who has a role.
type Assignment struct {
	Agent string `json:"agent"`           // as in ferrus.toml
	Model string `json:"model,omitempty"` // "" leaves the choice to the agent
	Hooks bool   `json:"hooks,omitempty"` // of an executor: its client has our hooks, if there is a place for them
}

// A Project is where to register, and what.
type Project struct {
	Root   string                 // absolute path
	Exe    string                 // absolute path of the ferrus program
	Record string                 // absolute path of the file that remembers what was written
	Skills map[agents.Duty]string // the text of each role's SKILL.md
}

// roles are those that can be registered, the one first that a client gets when it has both.
var roles = []agents.Duty{agents.Supervisor, agents.Executor}

// A Kind says what happens to a file.
type Kind string

const (
	Written   Kind = "written" // it was not there
	Changed   Kind = "changed"
	Removed   Kind = "removed"
	Unchanged Kind = "unchanged"
)

// A Change is what happens to one file.
type Change struct {
	Agent string
	Role  agents.Duty // "" when the agent has none any more
	File  string      // relative to the project, with slashes; "" when the agent has no file to write
	Link  string      // where the file really is, when it is a link
	Kind  Kind
	Note  string // what a person should know about it, if anything
	Hooks bool   // it has hooks, which a person is asked about

	before, after []byte // after is nil when the file is not to be
	target        string // as of a reading; "" for no file
	absent        bool
}

// Diff shows the change as lines, "" when there is none.
func (c Change) Diff() string {
	if c.Kind == Unchanged {
		return ""
	}
	return unified(c.File, string(c.before), string(c.after))
}

// A Plan is everything that would be done. Nothing is done until Write.
type Plan struct {
	Roles   map[agents.Duty]Assignment // who will have which role
	Changes []Change
	Notes   []string // what a person must do or know beside

	project Project
	record  record
	known   []byte            // the record as it was when the plan was made
	step    func(file string) // before a file takes its name; for tests, nil otherwise
}

// Idle reports whether no file would change.
func (p *Plan) Idle() bool {
	return !slices.ContainsFunc(p.Changes, func(c Change) bool { return c.Kind != Unchanged })
}

// Registered says who has which role, as the files have it. The errors are refusals, or of the system.
func (p Project) Registered() (map[agents.Duty]Assignment, error) {
	rec, err := remembered(p.Record)
	if err != nil {
		return nil, err
	}
	found := map[agents.Duty]Assignment{}
	there, hooked := map[string]bool{}, map[string]bool{}
	for _, c := range clients {
		for _, f := range c.files {
			r, err := p.read(f)
			if err != nil {
				return nil, err
			}
			hooked[c.name] = hooked[c.name] || r.hooked()
			role, ok := r.server(p.Exe)
			if !ok {
				continue
			}
			there[c.name] = true
			if slices.Contains(roles, role) {
				found[role] = Assignment{Agent: c.name}
				if assigned := rec.Roles[role]; assigned.Agent == c.name {
					found[role] = assigned
				}
			}
		}
	}
	for role, assigned := range rec.Roles { // of a client with two roles the file shows one
		if _, ok := found[role]; !ok && there[assigned.Agent] {
			found[role] = assigned
		}
	}
	if executor, ok := found[agents.Executor]; ok {
		executor.Hooks = hooked[executor.Agent]
		found[agents.Executor] = executor
	}
	return found, nil
}

// Plan says what must be done so that exactly these roles are registered. The errors are refusals, which names the file
// that stands in the way, or of the system.
func (p Project) Plan(want map[agents.Duty]Assignment) (*Plan, error) {
	rec, err := remembered(p.Record)
	if err != nil {
		return nil, err
	}
	plan := &Plan{Roles: maps.Clone(want), project: p, record: rec, known: rec.text()}
	given := map[string]assignment{}
	for _, role := range roles {
		assigned, ok := want[role]
		if !ok {
			continue
		}
		adapter, err := agents.Find(assigned.Agent)
		if err != nil {
			return nil, err
		}
		if _, taken := given[adapter.Name]; taken {
			plan.Notes = append(plan.Notes, adapter.Title+" has both roles, and a session can have one: its files make it the "+
				string(given[adapter.Name].role)+"; `ferrus open "+string(role)+"` opens it as the "+string(role))
			continue
		}
		given[adapter.Name] = assignment{adapter, role, assigned.Model, assigned.Hooks && role == agents.Executor}
		if !Files(adapter.Name) {
			plan.Changes = append(plan.Changes, Change{Agent: adapter.Name, Role: role, Kind: Unchanged,
				Note: "it has no project file to write: `ferrus open " + string(role) + "` opens it"})
		}
	}
	for _, c := range clients {
		a, ok := given[c.name]
		for _, f := range c.files {
			if !ok {
				a = assignment{}
			}
			if err := plan.file(c, f, a); err != nil {
				return nil, err
			}
		}
		if ok && c.trust != "" {
			plan.Notes = append(plan.Notes, a.Title+": "+c.trust)
		}
	}
	if err := plan.skills(want); err != nil {
		return nil, err
	}
	plan.record.Roles = plan.Roles
	if rootfs.Fits(p.Record, plan.record.text(), maxRecord) != nil {
		return nil, refuse(p.Record, 0, "what the clients' files were before is too large to be remembered",
			"make these files smaller; nothing was written")
	}
	return plan, plan.aliases()
}

// aliases sorts out the paths that are one file by way of links: what is wanted there is done once, and two wishes are a
// fault.
func (p *Plan) aliases() error {
	first := map[string]int{}
	var drop []int
	for i, c := range p.Changes {
		if c.target == "" {
			continue
		}
		j, ok := first[c.target]
		if !ok {
			first[c.target] = i
			continue
		}
		switch other := p.Changes[j]; {
		case c.Role == "" || string(c.after) == string(other.after):
			drop = append(drop, i)
		case other.Role == "":
			drop, first[c.target] = append(drop, j), i
		default:
			return refuse(c.File, 0, "it is the same file as "+other.File,
				"two clients cannot read one file as two roles: make one of them a file of its own")
		}
	}
	slices.Sort(drop)
	for _, i := range slices.Backward(drop) {
		delete(p.record.Files, p.Changes[i].File)
		p.Changes = slices.Delete(p.Changes, i, i+1)
	}
	return nil
}
