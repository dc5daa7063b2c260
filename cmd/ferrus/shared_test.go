package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"

	"github.com/ferrus-go/ferrus/internal/project"
)

// sharesIn is the variable with the URL of a PostgreSQL database into which a script moves each project that it makes.
const sharesIn = "FERRUS_TEST_DATABASE"

// shareAfter is the process if that is about to be ferrus init in such a script. It runs ferrus init, and then ferrus store move.
func shareAfter() {
	url := os.Getenv(sharesIn)
	if url == "" || !slices.Contains(os.Args, "init") {
		return
	}
	if err := os.Unsetenv(sharesIn); err != nil {
		panic(err)
	}
	self, err := os.Executable()
	if err != nil {
		panic(err)
	}
	cmd := exec.Command(self, os.Args[1:]...)
	cmd.Args[0] = os.Args[0] // it is ferrus by its name
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		os.Exit(exitCode(err))
	}
	place, err := project.Find(context.Background(), rootOf(os.Args))
	if err != nil || place.InDatabase() {
		os.Exit(0)
	}
	move := exec.Command(self, "-C", place.Root, "store", "move", url)
	move.Args[0] = os.Args[0]
	if out, err := move.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "ferrus store move: %v: %s", err, out)
		os.Exit(exitCode(err))
	}
	os.Exit(0)
}

// exitCode is that of a program that has ended with an error.
func exitCode(err error) int {
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() > 0 {
		return exit.ExitCode()
	}
	panic(err)
}
