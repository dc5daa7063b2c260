package rules

import "slices"

// Never returns the first rule that can never match with these limits, because a default row or an
// earlier rule always comes before it, and why; -1 if each can. The error is an *Error.
func Never(list []Rule, lim Limits) (int, error) {
	for i, r := range list {
		for _, c := range conditions {
			if most, then := c.below(lim); *c.value(&r.When) >= most {
				return i, wrong("when."+c.Key, "%s = %d can never match: at %d %s; use a smaller number", c.Key, *c.value(&r.When), most, then)
			}
		}
		for j, before := range list[:i] {
			if before.hides(r) {
				return i, wrong("", "rule %d can never match: rule %d always matches first (%s); put it before that one, or remove it", i+1, j+1, before)
			}
		}
	}
	return -1, nil
}

// hides reports whether the rule matches whenever a later one does. An executor that already has the
// work, and an approval that files forbid, leave the turn to later rules.
func (r Rule) hides(later Rule) bool {
	if r.On != later.On || r.Then != later.Then && (r.Action() == Executor || r.Action() == Approve) {
		return false
	}
	for _, c := range conditions {
		if *c.value(&r.When) > *c.value(&later.When) {
			return false
		}
	}
	return len(r.When.Paths) == 0 || len(later.When.Paths) > 0 && !slices.ContainsFunc(later.When.Paths,
		func(p string) bool { return !slices.Contains(r.When.Paths, p) && !slices.Contains(r.When.Paths, "**") })
}
