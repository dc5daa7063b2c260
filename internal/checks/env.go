package checks

import (
	"maps"
	"slices"
	"strings"

	"github.com/ferrus-go/ferrus/internal/environ"
)

// markName is the variable by which a server finds the processes of a helper that was killed.
const markName = "FERRUS_CHECK"

// notifySecrets are the variables that [notify] urls may name. No command gets them, whatever is
// configured: the work of an agent runs in it.
const notifySecrets = "FERRUS_NOTIFY*"

// allowed returns env without the variables whose names match a pattern of deny.
func allowed(env, deny []string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(variable string) bool {
		name, _, _ := strings.Cut(variable, "=")
		return environ.Matches(deny, name)
	})
}

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
