package register

import (
	"path"
	"path/filepath"

	"github.com/ferrus-go/ferrus/internal/agents"
)

// skills plans the files of the roles' skills. A client with both roles gets both: each says when it is to be used.
func (p *Plan) skills(want map[agents.Duty]Assignment) error {
	seen := map[string]bool{}
	for _, c := range clients {
		for _, role := range roles {
			name := path.Join(c.skills, "ferrus-"+string(role), "SKILL.md")
			if c.skills == "" || seen[name] {
				continue
			}
			seen[name] = true
			reader := "" // the client that has the role and reads this folder
			for _, other := range clients {
				if other.skills == c.skills && other.name == want[role].Agent && p.project.Skills[role] != "" {
					reader = other.name
				}
			}
			if err := p.skill(name, c.name, reader, role); err != nil {
				return err
			}
		}
	}
	return nil
}

func (p *Plan) skill(name, owner, reader string, role agents.Duty) error {
	r, err := p.project.look(name)
	if err != nil {
		return err
	}
	mem, text := p.record.Files[name], p.project.Skills[role]
	// A copy of our text is ours, also one that ferrus did not write; one that a person has changed is theirs.
	mine := r.there && (mem != nil && mem.Sum == sum(r.text) || string(r.text) == text)
	c := Change{Agent: owner, File: name, Kind: Unchanged, before: r.text, after: r.text, target: r.target, absent: !r.there}
	if r.link {
		c.Link = filepath.Join(p.project.Root, filepath.FromSlash(r.target))
	}
	if reader == "" {
		delete(p.record.Files, name)
		if mine {
			c.Kind, c.after = Removed, nil
			p.Changes = append(p.Changes, c)
		}
		return nil
	}
	c.Agent, c.Role = reader, role
	switch {
	case !r.there:
		c.Kind, c.after = Written, []byte(text)
	case !mine:
		c.Note = "it differs from ours and stays as it is"
		delete(p.record.Files, name)
	case string(r.text) != text:
		c.Kind, c.after = Changed, []byte(text)
	}
	if mine || !r.there {
		p.record.Files[name] = &memory{Made: true, Sum: sum([]byte(text))}
	}
	p.Changes = append(p.Changes, c)
	return nil
}
