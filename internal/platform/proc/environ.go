package proc

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"

	"github.com/ferrus-go/ferrus/internal/platform/safetext"
)

// These variables decide which program a command runs: where names are looked up, what a loader or an interpreter reads before the
// program, and which tools and settings a build uses. They are frozen with a task, so that the server that runs its checks cannot
// substitute other programs. Callers pass an environment in.

// Frozen has the variables of one environment that decide which program runs, by name. A value that
// looks secret, or is very long, is stored as its digest: see [Frozen.Apply]. A nil Frozen freezes
// nothing; an empty one says that none of the variables was set.
type Frozen map[string]string

// digested is the prefix of a value that is a digest. No variable can contain a NUL.
const digested = "\x00sha256:"

// maxValue is the longest value that is frozen unchanged, in bytes.
const maxValue = 16 << 10

// secretName and secretValue match what looks like a secret.
var (
	secretName = safetext.Lazily(`(?i)(token|secret|passw|credential|cookie|api_?key|private_?key|access_?key|_auth$)`)
	secretWord = safetext.Lazily(`(?i)(://[^/@\s]*:[^/@\s]+@|authorization:|\bbearer |\bbasic [a-z0-9+/=]{8})`)
)

// Freeze returns those of the variables, each NAME=value, that decide which program runs. Of equal
// names the last counts.
func Freeze(env []string) Frozen {
	f := Frozen{}
	for _, kv := range env {
		name, value, ok := strings.Cut(kv, "=")
		if !ok || !Decides(name) {
			continue
		}
		if secretName().MatchString(name) || secretWord().MatchString(value) || len(value) > maxValue {
			value = digest(value)
		}
		f[fold(name)] = value
	}
	return f
}

func digest(value string) string {
	sum := sha256.Sum256([]byte(value))
	return digested + hex.EncodeToString(sum[:])
}

// Apply returns own with the frozen variables in place of its own. A variable that was not set at
// the time of freezing is removed. One that was frozen as a digest keeps its value in own if that
// has the digest, and is removed otherwise. Apply of a nil Frozen returns own.
func (f Frozen) Apply(own []string) []string {
	if f == nil {
		return own
	}
	var env []string
	for _, kv := range own {
		name, value, _ := strings.Cut(kv, "=")
		if !Decides(name) || f.holds(name, value) && strings.HasPrefix(f[fold(name)], digested) {
			env = append(env, kv)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(f)) {
		if !strings.HasPrefix(f[name], digested) {
			env = append(env, name+"="+f[name])
		}
	}
	return env
}

// holds reports whether the variable was frozen with this value.
func (f Frozen) holds(name, value string) bool {
	was, ok := f[fold(name)]
	return ok && (was == value || was == digest(value))
}

// Differ returns the deciding variables that own sets to another value than the frozen one, or that
// were not set then, sorted; nil for a nil Frozen. It omits variables that own lacks:
// [Frozen.Apply] sets them.
func (f Frozen) Differ(own []string) []string {
	if f == nil {
		return nil
	}
	values := map[string]string{}
	for _, kv := range own {
		if name, value, ok := strings.Cut(kv, "="); ok && Decides(name) {
			values[fold(name)] = value
		}
	}
	var names []string
	for name, value := range values {
		if !f.holds(name, value) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// Changed returns the variables that differ between f and to, sorted.
func (f Frozen) Changed(to Frozen) []string {
	var names []string
	for name, value := range f {
		if now, ok := to[name]; !ok || now != value {
			names = append(names, name)
		}
	}
	for name := range to {
		if _, ok := f[name]; !ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// Encode returns the variables as JSON on one line: equal ones give equal bytes.
func (f Frozen) Encode() string {
	text, err := json.Marshal(map[string]string(f))
	if err != nil {
		panic(err) // JSON encodes every string
	}
	return string(text)
}

// Decode reads what Encode wrote.
func Decode(text string) (Frozen, error) {
	f := Frozen{}
	if err := json.Unmarshal([]byte(text), &f); err != nil {
		return nil, fmt.Errorf("read the frozen environment: %v", err)
	}
	if f == nil {
		f = Frozen{}
	}
	return f, nil
}

// Decides reports whether a variable of this name decides which program runs.
func Decides(name string) bool {
	name = strings.ToUpper(name) // npm reads npm_config_x as NPM_CONFIG_X; for other names a lower-case twin does no harm
	return slices.ContainsFunc(patterns, func(p string) bool {
		if prefix, ok := strings.CutSuffix(p, "*"); ok {
			return strings.HasPrefix(name, prefix)
		}
		return name == p
	})
}

// patterns are all names of the table.
var patterns = func() (all []string) {
	for _, g := range Table {
		all = append(all, g.Names...)
	}
	return all
}()

// fold returns a name in the form in which the system compares names.
func fold(name string) string {
	if runtime.GOOS == "windows" {
		return strings.ToUpper(name)
	}
	return name
}

// Without returns the variables whose names match none of the patterns, which are those of [checks]
// env_deny.
func (f Frozen) Without(deny []string) Frozen {
	if f == nil {
		return nil
	}
	left := maps.Clone(f)
	maps.DeleteFunc(left, func(name, _ string) bool { return Matches(deny, name) })
	return left
}
