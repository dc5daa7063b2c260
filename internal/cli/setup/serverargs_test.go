package setup

import (
	"strings"
	"testing"
)

func TestTheServerIsGivenOurFlagsInItsOwnWords(t *testing.T) {
	for in, want := range map[string]string{
		"":                          "",
		"--role executor":           "--role executor",
		"-C dir --role executor":    "--root dir --role executor",
		"-Cdir --json --role x":     "--root dir --role x",
		"-C=dir --role x -C y":      "--root dir --role x -C y",
		"--root dir --role x":       "--root dir --role x",
		"--branch b --role x":       "--branch b --role x",
		"--json --branch b -C d -h": "--branch b -C d -h",
	} {
		if got := strings.Join(serverArgs(strings.Fields(in)), " "); got != want {
			t.Errorf("serve %s: %q, not %q", in, got, want)
		}
	}
}
