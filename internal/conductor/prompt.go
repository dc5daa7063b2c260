package conductor

import (
	"fmt"
	"io/fs"
	"strings"

	"github.com/ferrus-go/ferrus"
)

// promptFor reads what an agent is told first. The prompts are this program's own, not files of the project: an executor
// that could write what the reviewer is told would be its own judge.
func promptFor(name string) (string, error) {
	text, err := fs.ReadFile(ferrus.Prompts(), name+".md")
	if err != nil {
		return "", fmt.Errorf("there is no prompt %s", name)
	}
	return strings.TrimSpace(string(text)), nil
}
