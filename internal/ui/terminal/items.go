package terminal

import (
	"fmt"
	"strings"

	"github.com/ferrus-go/ferrus/internal/platform/format"
	"github.com/ferrus-go/ferrus/internal/status"
)

// itemsOf are the items of an overview in the order of the screen.
func itemsOf(o *status.Overview) []item {
	needs := map[Key][]status.Need{}
	for _, n := range o.Needs {
		key := keyOfNeed(n)
		needs[key] = append(needs[key], n)
	}
	var all []item
	for _, m := range o.Machines {
		all = append(all, ofMachine(m, needs[Key{Task, m.Branch}]))
	}
	for _, p := range o.Pipelines {
		it := item{key: Key{Pipeline, p.Run}, group: groupOf(status.AtWork), name: line(p.Run), title: line(p.Topic), state: line(string(p.State)), since: p.Since,
			facts: []string{line(p.Run), line(p.Topic), line(p.Waiting)}}
		all = append(all, needed(it, needs[it.key]))
	}
	for _, q := range o.Queue {
		it := item{key: Key{Queued, q.Name}, group: groupOf(status.Waiting), name: line(q.Name), title: line(q.Title), state: "queued", facts: []string{line(q.Name)}}
		if q.Waits != "" && !q.Blocked { // a need says what blocks it
			it.facts = append(it.facts, line(q.Waits))
		}
		all = append(all, needed(it, needs[it.key]))
	}
	for _, a := range o.Archived {
		it := item{key: Key{Past, a.TaskID}, group: groupOf(status.Done), name: line(a.Title + a.Error), title: line(a.Title + a.Error), state: line(a.Outcome()), since: a.At,
			facts: []string{line(a.TaskID), line(a.Branch)}}
		all = append(all, needed(it, nil))
	}
	same := map[string]int{}
	for _, it := range all {
		same[it.title]++
	}
	for i := range all { // the branch tells attempts at one task apart
		if it := &all[i]; it.title == "" || same[it.title] > 1 {
			it.title = it.name
		}
	}
	return nested(all, parents(o))
}

// keyOfNeed is the item that needs the person.
func keyOfNeed(n status.Need) Key {
	switch {
	case n.Run != "":
		return Key{Pipeline, n.Run}
	case n.Queued != "":
		return Key{Queued, n.Queued}
	}
	return Key{Task, n.Branch}
}

// needed puts an item into the group of those that need the person, if it has a need.
func needed(it item, needs []status.Need) item {
	it.mark = groups[it.group].mark
	if len(needs) > 0 {
		it.needs, it.group, it.mark = true, groupOf(status.NeedsYou), markOf(needs[0].Kind)
		text := line(needs[0].Text)
		if len(needs) > 1 {
			text = fmt.Sprintf("%d needs: %s", len(needs), text)
		}
		it.facts = append([]string{text}, it.facts...)
	}
	it.search = strings.Join(append([]string{it.name, it.state}, it.facts...), " ")
	return it
}

func ofMachine(m status.Machine, needs []status.Need) item {
	it := item{key: Key{Task, m.Branch}, group: groupOf(m.Group), name: machineName(m.Branch), state: line(status.StateWords(m.State)), since: m.Since}
	if m.Title != "" {
		it.title = line(m.Title)
		it.name += "  " + it.title
	}
	for _, a := range m.Agents {
		it.facts = append(it.facts, line(a.Agent))
	}
	if m.Size != nil {
		it.facts = append(it.facts, fmt.Sprintf("+%d -%d", m.Size.Added, m.Size.Deleted))
	}
	if len(m.Skipped) > 0 {
		it.facts = append(it.facts, "not all files read")
	}
	if m.Checks.Used > 0 {
		it.facts = append(it.facts, format.Count(m.Checks.Used, "failed check", "failed checks"))
	}
	for _, text := range []string{status.Usage(m.Spent.Usage), m.Waits, m.Error} {
		if text != "" {
			it.facts = append(it.facts, line(text))
		}
	}
	return needed(it, needs)
}

// machineName is what the task of a branch is called; the project's own has no branch.
func machineName(branch string) string {
	if branch == "" {
		return "project"
	}
	return line(branch)
}

// groupOf is the number of a group; what is of none waits, as a project without a task does.
func groupOf(name status.Group) int {
	for i, g := range groups {
		if g.name == name {
			return i
		}
	}
	return groupOf(status.Waiting)
}

// parents are the tasks of which delegates do a part.
func parents(o *status.Overview) map[Key]Key {
	of := map[Key]Key{}
	for _, m := range o.Machines {
		if m.Parent != nil {
			of[Key{Task, m.Branch}] = Key{Task, m.Parent.Branch}
		}
	}
	return of
}

// nested orders items by group, and in a group each below its parent, if that is there.
func nested(all []item, parents map[Key]Key) []item {
	var sorted []item
	for g := range groups {
		here := map[Key]bool{}
		for _, it := range all {
			if it.group == g {
				here[it.key] = true
			}
		}
		var below func(parent Key, depth int)
		below = func(parent Key, depth int) {
			for _, it := range all {
				if p, ok := parents[it.key]; ok && p == parent && it.group == g && here[it.key] {
					here[it.key] = false
					it.depth = depth
					sorted = append(sorted, it)
					below(it.key, depth+1)
				}
			}
		}
		for _, it := range all {
			if p, ok := parents[it.key]; it.group == g && here[it.key] && (!ok || !here[p]) {
				here[it.key] = false
				sorted = append(sorted, it)
				below(it.key, 1)
			}
		}
		for _, it := range all { // of a circle, which a damaged project may have
			if it.group == g && here[it.key] {
				sorted = append(sorted, it)
			}
		}
	}
	return sorted
}
