package workflow

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ferrus-go/ferrus/internal/platform/jsonx"
)

// MaxName is the greatest length of the name of a role, a phase or a pipeline: they become parts of
// paths.
const MaxName = 64

// taken are the names of ferrus's own files in the folder of a run.
var taken = []string{"status", "workflow", "journal", "delivery", "final", "dialogue", "prompts", "workers", "logs", "attempts",
	"kept", "intent", "looked", "told", "printed", "questions"}

// devices are names that no file can have on Windows, with any extension.
var devices = []string{"con", "prn", "aux", "nul", "com0", "com1", "com2", "com3", "com4", "com5", "com6", "com7", "com8", "com9",
	"lpt0", "lpt1", "lpt2", "lpt3", "lpt4", "lpt5", "lpt6", "lpt7", "lpt8", "lpt9"}

// verbs are the words after "ferrus pipeline", where the name of a pipeline is also allowed.
var verbs = []string{"list", "validate", "table", "run", "status", "explain", "resume", "retry", "deliver", "cancel", "rerun", "start", "runs",
	"prompt", "logs", "help"}

// checkName refuses what is no plain name: letters, digits, - and _.
func checkName(t *jsonx.Text, at, what, name string, most int, not []string) {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_'
	}
	lower := strings.ToLower(name)
	switch {
	case name == "":
		t.AddFault(at, what+" has no name", "give it one")
	case strings.ContainsFunc(name, func(r rune) bool { return !plain(r) }) || strings.HasPrefix(name, "-"):
		t.AddFault(at, fmt.Sprintf("%s cannot be called %q", what, name), "use letters, digits, - and _, and no - in front")
	case len(name) > most:
		t.AddFault(at, fmt.Sprintf("the name of %s has %d characters", what, len(name)), fmt.Sprintf("use at most %d", most))
	case slices.Contains(taken, lower), slices.Contains(devices, lower), slices.Contains(not, lower):
		t.AddFault(at, fmt.Sprintf("%s cannot be called %s: the name is reserved", what, name), "rename it")
	}
}

// checkFile refuses what is no plain name of a file in the folder of the run, and reports whether it is one.
func checkFile(t *jsonx.Text, at, file string) bool {
	stem, _, _ := strings.Cut(strings.ToLower(file), ".")
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_.", r)
	}
	before := len(t.Faults)
	switch {
	case strings.ContainsFunc(file, func(r rune) bool { return !plain(r) }), strings.Trim(file, ".-") == "",
		strings.HasPrefix(file, "."), strings.HasPrefix(file, "-"), strings.HasSuffix(file, "."), strings.Contains(file, ".."):
		t.AddFault(at, fmt.Sprintf("%q is no plain name of a file in the folder of the run", file), "use letters, digits, -, _ and ., and no folder")
	case len(file) > 2*MaxName:
		t.AddFault(at, fmt.Sprintf("the name of the file has %d characters", len(file)), fmt.Sprintf("use at most %d", 2*MaxName))
	case strings.HasSuffix(strings.ToLower(file), ".tmp"), strings.HasSuffix(strings.ToLower(file), ".new"):
		t.AddFault(at, file+" is what a half-written file is called", "use another ending")
	case slices.Contains(taken, stem), slices.Contains(devices, stem):
		t.AddFault(at, file+" is a reserved name", "rename it")
	}
	return len(t.Faults) == before
}

// sameButCase calls found for each name that equals an earlier one, ignoring case.
func sameButCase(names []string, found func(i int, name, other string)) {
	seen := map[string]string{}
	for i, name := range names {
		lower := strings.ToLower(name)
		if other, ok := seen[lower]; ok {
			if name != "" {
				found(i, name, other)
			}
			continue
		}
		seen[lower] = name
	}
}
