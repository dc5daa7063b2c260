package checks

import (
	"context"
	"os/exec"
	"strings"

	"github.com/ferrus-go/ferrus/internal/platform/proc"
)

const (
	notFound      = 9009
	notExecutable = 126
)

func shell(line string) *exec.Cmd { return proc.Shell(context.Background(), line) }

// fold returns the form in which names of variables are compared.
func fold(name string) string { return strings.ToUpper(name) }
