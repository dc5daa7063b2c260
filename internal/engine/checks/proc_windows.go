package checks

import (
	"context"
	"os/exec"

	"github.com/ferrus-go/ferrus/internal/platform/proc"
)

const (
	notFound      = 9009
	notExecutable = 126
)

func shell(line string) *exec.Cmd { return proc.Shell(context.Background(), line) }
