package demo

import (
	"errors"
	"os"
)

// stall is not known on Windows, which has no SIGSTOP.
func stall(*os.Process) error {
	return errors.New("this system cannot stall a process: the scene needs SIGSTOP")
}

func proceed(*os.Process) {}
