package checks

import (
	"maps"
	"slices"
)

// markName is the variable by which a server finds the processes of a helper that was killed.
const markName = "FERRUS_CHECK"

// commandEnv returns the environment of the commands: the helper's own, from which the server has
// removed denied variables, with the additions of the spec. The helper has an environment of its
// own, because a GODEBUG meant for the commands must not change the helper.
func commandEnv(o order, own []string) []string {
	env := slices.Clone(own)
	for _, name := range slices.Sorted(maps.Keys(o.Spec.Env)) {
		env = append(env, name+"="+o.Spec.Env[name])
	}
	return append(env, "PWD="+o.Spec.Dir, markName+"="+o.Mark) // of equal names the last counts
}
