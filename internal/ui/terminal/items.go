package terminal

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ferrus-go/ferrus/internal/status"
)

// itemsOf are the items of an overview in the order of the screen.
func itemsOf(o *status.Overview, now time.Time) []item {
	needs := map[Key][]status.Need{}
	for _, n := range urgently(o.Needs) {
		key := keyOfNeed(n)
		needs[key] = append(needs[key], n)
	}
	all := make([]item, 0, len(o.Machines)+len(o.Pipelines)+len(o.Queue)+len(o.Archived))
	for _, m := range o.Machines {
		if n := needs[Key{Task, m.Branch}]; m.Branch != "" || m.Group != status.Idle || len(n) > 0 {
			all = append(all, ofMachine(m, n))
		}
	}
	for _, p := range o.Pipelines {
		it := item{key: Key{Pipeline, p.Run}, group: groupOf(pipelines), name: line(p.Run + "  " + p.Topic), title: line(p.Topic), since: p.Since, sentence: line("waits " + p.Waiting)}
		all = append(all, needed(it, needs[it.key], p.Run))
	}
	for _, q := range o.Queue {
		it := item{key: Key{Queued, q.Name}, group: groupOf(queued), name: line(q.Name + "  " + q.Title), title: line(q.Title), sentence: "in the queue as " + line(q.Name)}
		if q.Waits != "" && !q.Blocked { // a need says what blocks it
			it.sentence = line(q.Waits)
		}
		all = append(all, needed(it, needs[it.key], q.Name))
	}
	from := time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, now.Location())
	for _, a := range o.Archived {
		it := item{key: Key{Past, a.TaskID}, group: groupOf(status.Done), name: line(a.Title + a.Error), title: line(a.Title + a.Error), sentence: line(a.Outcome()), since: a.At, today: a.At.After(from)}
		all = append(all, needed(it, nil, a.TaskID+" "+a.Branch))
	}
	same := map[string]int{}
	for _, it := range all {
		same[it.title]++
	}
	for i := range all { // the branch tells attempts at one task apart; a choice is about all
		if it := &all[i]; it.title == "" || same[it.title] > 1 && it.mark.sign != choice.sign {
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
func needed(it item, needs []status.Need, search string) item {
	if it.mark.sign == "" {
		it.mark = groups[it.group].mark
	}
	if len(needs) > 0 {
		it.needs, it.group, it.mark, it.work = true, 0, markOf(needs[0].Kind), work{}
		var texts []string
		it.urgency = needs[0].Kind.Urgency()
		for _, n := range needs {
			texts = append(texts, line(n.Text))
		}
		it.sentence = strings.Join(texts, "; ")
	}
	it.search = strings.Join([]string{it.name, it.title, it.sentence, search}, " ")
	return it
}

func ofMachine(m status.Machine, needs []status.Need) item {
	it := item{key: Key{Task, m.Branch}, group: groupOf(m.Group), name: machineName(m.Branch), sentence: line(status.StateWords(m.State)), since: m.Since}
	if m.Title != "" {
		it.title = line(m.Title)
		it.name += "  " + it.title
	}
	switch {
	case m.Error != "":
		it.sentence = line(m.Error)
	case m.Merged:
		it.sentence = "merged"
	}
	if m.Branch != "" && m.Group != status.AtWork && m.Group != status.Waiting { // it needs nobody, or another attempt needs the person
		it.group = groupOf(branches)
	}
	if it.group == groupOf(status.AtWork) {
		it.work = workOf(m)
		it.sentence = it.work.sentence()
		if m.Group == status.Waiting {
			it.mark = waits
		}
	}
	it.today = it.group == groupOf(status.Done)
	return needed(it, needs, m.Branch+" "+m.TaskID+" "+status.StateWords(m.State)+" "+m.Waits)
}

// workOf is how a task at work stands.
func workOf(m status.Machine) work {
	w := work{failed: m.Checks.Used, most: m.Checks.Max}
	w.step, w.does = m.Step()
	if w.agent = who(m.Holder); len(m.Agents) > 0 {
		w.agent = line(m.Agents[len(m.Agents)-1].Title())
	}
	if m.Size != nil {
		w.size, w.added, w.deleted = true, m.Size.Added, m.Size.Deleted
	}
	if m.Spent.Usage.Dollars > 0 {
		w.cost = fmt.Sprintf("$%.2f", m.Spent.Usage.Dollars)
	}
	return w
}

// who names an agent or a person for people.
func who(actor string) string { return line(status.Who(actor)) }

// machineName is what the task of a branch is called; the project's own has no branch.
func machineName(branch string) string {
	if branch == "" {
		return "project"
	}
	return line(branch)
}

// groupOf is the number of a group; what is of none is at work: it waits for another part of the work.
func groupOf(name status.Group) int {
	at := slices.IndexFunc(groups, func(g group) bool { return g.name == name })
	if at < 0 {
		return groupOf(status.AtWork)
	}
	return at
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
	sorted := make([]item, 0, len(all))
	slices.SortStableFunc(all, func(a, b item) int { // needs of equal urgency, the oldest first
		if a.needs && b.needs {
			return cmp.Or(a.urgency-b.urgency, a.since.Compare(b.since))
		}
		return a.group - b.group
	})
	children, there := map[Key][]int{}, map[Key]int{} // by the parent; the group of each
	for i, it := range all {
		there[it.key] = it.group
		if p, ok := parents[it.key]; ok {
			children[p] = append(children[p], i)
		}
	}
	done := make([]bool, len(all))
	var add func(i, depth int)
	add = func(i, depth int) {
		if done[i] {
			return
		}
		done[i], all[i].depth = true, depth
		sorted = append(sorted, all[i])
		for _, c := range children[all[i].key] {
			if all[c].group == all[i].group {
				add(c, depth+1)
			}
		}
	}
	for _, circles := range []bool{false, true} { // which a damaged project may have
		for i, it := range all {
			p, ok := parents[it.key]
			if g, here := there[p]; circles || !ok || !here || g != it.group {
				add(i, 0)
			}
		}
	}
	slices.SortStableFunc(sorted, func(a, b item) int { return a.group - b.group })
	return sorted
}
