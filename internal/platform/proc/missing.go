package proc

import (
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/ferrus-go/ferrus/internal/platform/safetext"
)

// builtins are commands of the shell itself that can start a command line.
var builtins = strings.Fields(`. : alias break case cd command continue do done echo elif else esac eval exec exit export false fi for getopts
	hash if kill local printf pwd read readonly return set shift source test then time times trap true type ulimit umask unalias unset until wait
	while`)

var (
	assignment = safetext.Lazily(`^[A-Za-z_][A-Za-z0-9_]*=[^$` + "`" + `"'\\()]*$`)
	plainWord  = safetext.Lazily(`^[A-Za-z0-9_./+:@%,-]+$`)
)

// Missing returns the first program of a shell command line that cannot be found, "" when there is
// none. It runs nothing and reads only the plain beginning of the line: after a quote, an expansion
// or a change of folder only the shell knows. dir is where the line will run, path its PATH. On
// Windows it finds nothing.
func Missing(line, dir, path string) string {
	if runtime.GOOS == "windows" {
		return ""
	}
	begins, moved := true, false
	for _, word := range strings.Fields(line) {
		switch {
		case slices.Contains([]string{"&&", "||", "|", ";", "!", "exec", "then", "do", "else"}, word), begins && assignment().MatchString(word):
			if strings.HasPrefix(word, "PATH=") {
				return ""
			}
			begins = true
		case !plainWord().MatchString(strings.TrimSuffix(word, ";")):
			if begins || !strings.HasPrefix(word, "{") { // the placeholders of an agent's command are words of its own
				return ""
			}
		case begins:
			name := strings.TrimSuffix(word, ";")
			begins = false
			switch {
			case slices.Contains(builtins, name):
				moved = moved || name == "cd"
			case strings.Contains(name, "/"):
				if !filepath.IsAbs(name) {
					if moved {
						continue
					}
					name = filepath.Join(dir, name)
				}
				if _, err := exec.LookPath(name); err != nil {
					return strings.TrimSuffix(word, ";")
				}
			default:
				if _, err := LookPath(name, path, ""); err != nil {
					return strings.TrimSuffix(word, ";")
				}
			}
		}
		if strings.HasSuffix(word, ";") {
			begins = true
		}
	}
	return ""
}
