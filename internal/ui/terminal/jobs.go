package terminal

import (
	"slices"
	"strings"

	"github.com/ferrus-go/ferrus/internal/status"
)

// A job is something that the person has decided on and that is not done: an act, or a key whose act is not possible yet.
type job struct {
	key    Key    // of the item; the zero key is the project
	press  string // the key that waits for its act, "" once the act is known
	act    Act
	values map[string]string
	begun  bool
}

// jobs are all that is not done, in the order in which the person decided.
type jobs []*job

// touches are the items that a job is about: the one that it was chosen for, and the project for an act whose session is that of the project.
func (j *job) touches() []Key {
	switch {
	case j.key == Key{}:
		return []Key{{Task, ""}}
	case j.key.Kind == Task && status.ActNamed(j.act.Name).Project:
		return []Key{j.key, {Task, ""}}
	}
	return []Key{j.key}
}

// about reports whether a job is about an item.
func (q jobs) about(key Key) bool {
	return slices.ContainsFunc(q, func(j *job) bool { return slices.Contains(j.touches(), key) })
}

// begin marks the jobs that can begin, and returns them: those about items that no earlier job is about.
func (q jobs) begin() (list []*job) {
	for i, j := range q {
		if !j.begun && !slices.ContainsFunc(j.touches(), q[:i].about) {
			j.begun = true
			list = append(list, j)
		}
	}
	return list
}

// without is the queue without a job.
func (q jobs) without(done *job) jobs {
	return slices.DeleteFunc(slices.Clone(q), func(j *job) bool { return j == done })
}

func (j *job) name() string {
	if j.press != "" {
		return j.press
	}
	return j.act.Label
}

// String says what is under way, and what waits for it.
func (q jobs) String() string {
	var now, then []string
	for _, j := range q {
		if j.begun {
			now = append(now, j.name())
		} else {
			then = append(then, j.name())
		}
	}
	text := ""
	if len(now) > 0 {
		text = strings.Join(now, ", ") + " …"
	}
	if len(then) > 0 {
		text += " then " + strings.Join(then, ", ")
	}
	return text
}
