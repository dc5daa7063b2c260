package rules

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/ferrus-go/ferrus/internal/platform/format"
	"github.com/ferrus-go/ferrus/internal/state"
)

// maxNumber bounds the numbers of a rule.
const maxNumber = 1_000_000

// An Error says what is wrong with a rule, and at which of its keys: on, when, when.same, then ...; ""
// stands for the rule as a whole.
type Error struct{ Key, Text string }

func (e *Error) Error() string { return e.Text }

func wrong(key, format string, args ...any) error {
	return &Error{key, fmt.Sprintf(format, args...)}
}

// Parse reads one table of [[rules]] as a TOML decoder returns it. agents are the names that an
// executor may have. The error is an *Error.
func Parse(table map[string]any, agents []string) (Rule, error) {
	known := []string{"on", "when", "then"}
	for _, key := range slices.Sorted(maps.Keys(table)) {
		if !slices.Contains(known, key) {
			return Rule{}, wrong(key, "unknown key %s of a rule; %s", key, meant(key, known))
		}
	}
	var r Rule
	on, err := text(table, "on", "the event, such as \"check_failed\"")
	if err != nil {
		return r, err
	}
	then, err := text(table, "then", "the action, such as \"consult\"")
	if err != nil {
		return r, err
	}
	r.On, r.Then = state.Event(on), strings.Join(strings.Fields(then), " ")
	if when, ok := table["when"]; ok {
		conds, ok := when.(map[string]any)
		if !ok {
			return r, wrong("when", "when must be a table, as in when = { same = 3 }")
		}
		if r.When, err = parseWhen(conds); err != nil {
			return r, err
		}
	}
	return r, r.Check(agents)
}

func text(table map[string]any, key, what string) (string, error) {
	v, ok := table[key]
	if !ok {
		return "", wrong("", "a rule has no %s; add %[1]s = %s", key, what)
	}
	s, ok := v.(string)
	if !ok {
		return "", wrong(key, "%s of a rule must be a string: %s", key, what)
	}
	return s, nil
}

// meant suggests the nearest of the words, or lists them.
func meant(word string, of []string) string {
	if near := format.Word(word, of); near != "" {
		return "did you mean " + near + "?"
	}
	return "known are " + strings.Join(of, ", ")
}

func parseWhen(table map[string]any) (w When, err error) {
	for _, key := range slices.Sorted(maps.Keys(table)) {
		at := "when." + key
		if key == pathsKey {
			if w.Paths, err = patterns(table[key]); err != nil {
				return w, wrong(at, "%v", err)
			}
			continue
		}
		i := slices.IndexFunc(conditions, func(c condition) bool { return c.Key == key })
		if i < 0 {
			var keys []string
			for _, c := range conditions {
				keys = append(keys, c.Key)
			}
			return w, wrong(at, "unknown condition %s of a rule; %s", key, meant(key, append(keys, pathsKey)))
		}
		n, ok := table[key].(int64)
		if !ok || n < 1 || n > maxNumber {
			return w, wrong(at, "%s of a rule must be a whole number from 1 to %d", key, maxNumber)
		}
		*conditions[i].value(&w) = int(n)
	}
	return w, nil
}

func patterns(v any) ([]string, error) {
	list, ok := v.([]any)
	if !ok || len(list) == 0 {
		return nil, fmt.Errorf(`paths of a rule must be a list of patterns, as in paths = ["docs/**"]`)
	}
	var all []string
	for _, item := range list {
		p, ok := item.(string)
		if !ok {
			return nil, fmt.Errorf("each of the paths of a rule must be a string")
		}
		all = append(all, p)
	}
	return all, nil
}

// Check returns nil if the rule has a meaning by itself: known words, conditions of its event, and an
// action that is possible after it. agents are the names that an executor may have; nil: any. The
// error is an *Error.
func (r Rule) Check(agents []string) error {
	i := slices.IndexFunc(triggers, func(t Trigger) bool { return t.Event == r.On })
	if i < 0 {
		var names []string
		for _, t := range triggers {
			names = append(names, string(t.Event))
		}
		return wrong("on", "there is no rule on %q; %s", clip(string(r.On)), meant(string(r.On), names))
	}
	if err := r.checkWhen(); err != nil {
		return err
	}
	if err := r.checkThen(agents); err != nil {
		return err
	}
	if words := after(triggers[i]); !slices.Contains(words, r.Action()) {
		return wrong("then", "%s is not possible after %s, so this rule can never match; possible are %s", r.Action(), r.On, strings.Join(words, ", "))
	}
	if r.Action() == Approve && len(r.When.Paths) == 0 {
		return wrong("then", `approve needs paths, as in when = { paths = ["docs/**"] }; ["**"] is every file`)
	}
	return nil
}

func (r Rule) checkWhen() error {
	for _, c := range conditions {
		if n := *c.value(&r.When); n != 0 && c.On != r.On {
			return wrong("when."+c.Key, "%s is counted for %s, so a rule on %s with it can never match; remove it, or write on = %q", c.Key, c.On, r.On, c.On)
		} else if n < 0 || n > maxNumber {
			return wrong("when."+c.Key, "%s of a rule must be a whole number from 1 to %d", c.Key, maxNumber)
		}
	}
	if len(r.When.Paths) > 0 && r.On != state.Submit {
		return wrong("when.paths", "the changed files are known at submit, so a rule on %s with paths can never match; remove them, or write on = %q", r.On, state.Submit)
	}
	for _, p := range r.When.Paths {
		if why := neverMatches(p); why != "" {
			return wrong("when.paths", "paths: %q %s", clip(p), why)
		}
	}
	return nil
}

func (r Rule) checkThen(agents []string) error {
	if _, ok := actions[r.Action()]; !ok {
		return wrong("then", "there is no action %q; %s", clip(r.Then), meant(r.Action(), slices.Sorted(maps.Keys(actions))))
	}
	rest := strings.TrimPrefix(strings.TrimPrefix(r.Then, r.Action()), " ")
	if r.Action() != Executor {
		if rest != "" {
			return wrong("then", "%s takes no other word, not %q", r.Action(), clip(rest))
		}
		return nil
	}
	agent, model, named := strings.Cut(rest, ":")
	plain := !strings.ContainsFunc(rest, func(c rune) bool { return unicode.IsControl(c) || unicode.IsSpace(c) })
	switch {
	case agent == "", !plain, named && model == "", len(rest) > maxAgent:
		return wrong("then", `executor needs an agent, and may name its model, as in "executor claude-code:opus", not %q`, clip(rest))
	case agents != nil && !slices.Contains(agents, agent):
		return wrong("then", "there is no agent %q; %s", clip(agent), meant(agent, agents))
	}
	return nil
}

// maxAgent bounds the name of an agent with its model, in bytes.
const maxAgent = 200

// clip bounds what an error repeats of the file.
func clip(s string) string {
	if len(s) > 40 {
		return s[:40] + "..."
	}
	return s
}
