// Package environ lists the environment variables that decide which program a command runs: where
// names are looked up, what a loader or an interpreter reads before the program, and which tools
// and settings a build uses. These variables are frozen with a task, so that the server that runs
// its checks cannot substitute other programs.
//
// The package runs nothing and does not read the environment of its process: callers pass one in.
package environ

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"regexp"
	"runtime"
	"slices"
	"strings"
)

// Frozen are the variables of one environment that decide what a program is, by name. A value that looks secret, or that
// is very long, is held as its digest: see [Frozen.Apply]. A nil Frozen freezes nothing; an empty one says that none of
// the variables was set.
type Frozen map[string]string

// digested begins a value that stands for another by its digest. No variable can hold a NUL.
const digested = "\x00sha256:"

// maxValue is the longest value that is frozen as it is, in bytes.
const maxValue = 16 << 10

// secretName and secretValue are what a secret looks like.
var (
	secretName = regexp.MustCompile(`(?i)(token|secret|passw|credential|cookie|api_?key|private_?key|access_?key|_auth$)`)
	secretWord = regexp.MustCompile(`(?i)(://[^/@\s]*:[^/@\s]+@|authorization:|\bbearer |\bbasic [a-z0-9+/=]{8})`)
)

// Freeze returns those of the variables, each NAME=value, that decide what a program is. Of equal names the last counts.
func Freeze(env []string) Frozen {
	f := Frozen{}
	for _, kv := range env {
		name, value, ok := strings.Cut(kv, "=")
		if !ok || !Decides(name) {
			continue
		}
		if secretName.MatchString(name) || secretWord.MatchString(value) || len(value) > maxValue {
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

// Apply returns own with the frozen variables in place of its own. A variable that was not set when the others were frozen
// is not set now. One that was frozen by its digest keeps its own value if that has the digest, and is not set otherwise.
// Apply of a nil Frozen returns own.
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

// Differ lists the variables that decide what a program is and that own sets to another value than the frozen one, or
// that were not set then, sorted; nil for a nil Frozen. A variable that own lacks is not listed: [Frozen.Apply] sets it.
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

// Changed lists the variables that are not alike in both, sorted.
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

// Encode writes the variables as JSON on one line: equal ones give equal bytes.
func (f Frozen) Encode() string {
	text, err := json.Marshal(map[string]string(f))
	if err != nil {
		panic(err) // strings are never refused
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

// Decides reports whether a variable of this name decides what a program is.
func Decides(name string) bool {
	name = strings.ToUpper(name) // npm_config_x is NPM_CONFIG_X to npm; a lower-case twin of the others does no harm
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

// fold is a name as the system compares names.
func fold(name string) string {
	if runtime.GOOS == "windows" {
		return strings.ToUpper(name)
	}
	return name
}

// Without returns the variables whose names match none of the patterns, which are those of [checks] env_deny.
func (f Frozen) Without(deny []string) Frozen {
	if f == nil {
		return nil
	}
	left := maps.Clone(f)
	maps.DeleteFunc(left, func(name, _ string) bool {
		return slices.ContainsFunc(deny, func(pattern string) bool {
			denied, _ := path.Match(fold(pattern), name)
			return denied
		})
	})
	return left
}
