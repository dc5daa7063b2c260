package conductor

import (
	"fmt"
	"io/fs"
	"strings"

	"github.com/ferrus-go/ferrus"
)

// promptFor returns the first prompt of an agent. The prompts are part of this program, not files
// of the project: an executor that could change the reviewer's prompt would review its own work.
func promptFor(name string) (string, error) {
	text, err := fs.ReadFile(ferrus.Prompts(), name+".md")
	if err != nil {
		return "", fmt.Errorf("there is no prompt %s", name)
	}
	return strings.TrimSpace(string(text)), nil
}
