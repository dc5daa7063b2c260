package register

import (
	"slices"

	"github.com/ferrus-go/ferrus/internal/agents"
)

// configFile is the file in which a project says which agents `ferrus run` starts.
const configFile = "ferrus.toml"

// Conduct adds to the plan that [hq] of ferrus.toml names the same agents, so that `ferrus run` starts the registered pair. was
// are the present assignments, will the new ones; a role that is not in will stays. Comments and order of the file stay too. A model or
// arguments of an agent that loses its role go with it. The errors are refusals, or of the system.
func (p *Plan) Conduct(was, will map[agents.Duty]Assignment) error {
	r, err := p.project.look(configFile)
	if err != nil {
		return err
	}
	fault := func(message string) error {
		return refuse(configFile, 0, message,
			"name the agents in [hq.supervisor] and [hq.executor] yourself")
	}
	if r.link {
		return fault("it is a symbolic link, which ferrus does not follow")
	}
	text := r.text
	want, err := parseTOML(text)
	if err != nil {
		return err
	}
	for _, role := range roles {
		assigned, ok := will[role]
		if !ok || assigned == was[role] || assigned.Agent == was[role].Agent && assigned.Model == "" {
			continue
		}
		path := []string{"hq", string(role)}
		set := table{{"agent", assigned.Agent}}
		if assigned.Model != "" {
			set = append(set, entry{"model", assigned.Model})
		}
		if assigned.Agent != was[role].Agent {
			for _, key := range []string{"model", "args"} {
				if text, err = removeTOML(text, append(slices.Clone(path), key), nil, func([]string) bool { return true }); err != nil {
					return err
				}
				if in, _ := at(want, path); in != nil {
					if m, ok := in.(map[string]any); ok {
						delete(m, key)
					}
				}
			}
		}
		for _, e := range set {
			if text, err = setTOML(text, append(slices.Clone(path), e.key), e.value); err != nil {
				return err
			}
			in := want
			for _, name := range path {
				next, ok := in[name].(map[string]any)
				if !ok {
					next = map[string]any{}
					in[name] = next
				}
				in = next
			}
			in[e.key] = e.value
		}
	}
	if got, err := parseTOML(text); err != nil || !same(got, want) {
		return fault("ferrus cannot edit how it names the agents")
	}
	if string(text) != string(r.text) {
		kind := Changed
		if !r.there {
			kind = Written
		}
		p.Changes = append(p.Changes, Change{File: configFile, Kind: kind, before: r.text, after: text, target: r.target, absent: !r.there})
	}
	return nil
}

// Config is the ferrus.toml that the plan will write, nil where it does not.
func (p *Plan) Config() *Change {
	if i := slices.IndexFunc(p.Changes, func(c Change) bool { return c.File == configFile }); i >= 0 {
		return &p.Changes[i]
	}
	return nil
}

// Text is the file as it will be, nil when it is removed.
func (c Change) Text() []byte { return c.after }

// KeepConfig takes the change of ferrus.toml out of the plan.
func (p *Plan) KeepConfig() {
	p.Changes = slices.DeleteFunc(p.Changes, func(c Change) bool { return c.File == configFile })
}

// setTOML puts a value in the place of the one that is there, or inserts it.
func setTOML(text []byte, path []string, v value) ([]byte, error) {
	list, err := scan(text)
	if err != nil {
		return nil, err
	}
	for _, st := range flat(list) {
		if !st.header && slices.Equal(st.path, path) {
			return splice(text, st.value.from, st.value.to, tomlText(v)), nil
		}
	}
	return insertTOML(text, path, v, false)
}
