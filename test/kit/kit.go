// Package kit sets up and runs the test programs of all packages: folders, environment and git
// configuration of their own.
package kit

import (
	"flag"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
)

// openedFiles is the flag by which the go command asks for a list of the files that a test opens.
const openedFiles = "test.testlogfile"

// Main runs a test program, usually m.Run, and returns its exit code. The program, and the processes that it starts, have
// state and configuration folders of their own, no variables of git, and no git configuration of the user or the machine. Main removes the
// folders afterwards. A process that the tests have started keeps the folders of its parent if it calls Main: it must see
// the same records.
//
// The go command does not cache the result: it depends on processes, git and time. See docs/decisions/0038.
//
// Temporary folders are in memory if enough of it is free: tests make thousands of small files and repositories. TMPDIR, where
// it is set, says where they are instead. Benchmarks use the disk, which they measure.
func Main(run func() int) int {
	if flag.Parse(); os.Getenv("TMPDIR") != "" || flag.Lookup("test.bench").Value.String() != "" {
		return OnDisk(run)
	}
	return apart(memory(), run)
}

// OnDisk is Main with temporary folders where the system has them. The sandboxes of some clients show a /dev of their own.
func OnDisk(run func() int) int { return apart("", run) }

// apart runs a test program whose temporary folders are in above, or where the system has them.
func apart(above string, run func() int) int {
	const marker = "FERRUS_TEST_STATE"
	collectRarely()
	if os.Getenv(marker) != "" {
		return run()
	}
	if flag.Parse(); flag.Lookup(openedFiles) != nil {
		flag.Set(openedFiles, "")
	}
	parallel()
	dir, err := os.MkdirTemp(above, "ferrus-test-")
	if err == nil {
		err = os.Chmod(dir, 0o711) // tests run programs in it as another user
	}
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		panic(err)
	}
	environ := map[string]string{
		marker: "1", "FERRUS_TRUST": "", "XDG_STATE_HOME": "", // those of package trust, whose tests use this package, too
		"FERRUS_STATE_DIR": filepath.Join(dir, "state"), "XDG_CONFIG_HOME": filepath.Join(dir, "config"),
		"GIT_CONFIG_GLOBAL": os.DevNull, "GIT_CONFIG_NOSYSTEM": "1",
		"GIT_CEILING_DIRECTORIES": filepath.Dir(real),  // no temporary folder is in a repository, wherever TMPDIR is
		"GORACE":                  "atexit_sleep_ms=0", // a program with the race detector sleeps a second before it exits
	}
	if above != "" {
		environ["TMPDIR"] = dir
	}
	for _, kv := range os.Environ() { // of a git hook that runs the tests, say
		if name, _, _ := strings.Cut(kv, "="); strings.HasPrefix(name, "GIT_") {
			os.Unsetenv(name)
		}
	}
	for name, value := range environ {
		if err := os.Setenv(name, value); err != nil {
			panic(err)
		}
	}
	return run()
}

// collectRarely has garbage collected a quarter as often: it is a sixth of the work of a test program else, of which the heap is small. Benchmarks
// measure what users have, and GOGC says otherwise.
func collectRarely() {
	if flag.Parse(); os.Getenv("GOGC") == "" && flag.Lookup("test.bench").Value.String() == "" {
		debug.SetGCPercent(400)
	}
}

// parallel has eight tests that are parallel at a time, unless -parallel says how many: most of them wait for processes of theirs.
func parallel() {
	const name = "test.parallel"
	said := false
	flag.Visit(func(f *flag.Flag) { said = said || f.Name == name })
	if said {
		return
	}
	if err := flag.Set(name, "8"); err != nil {
		panic(err)
	}
}

// Scratch runs a test program with a folder for what its tests make once and copy, and sets at to its path, which has no
// symbolic link. Scratch removes the folder afterwards.
func Scratch(at *string, run func() int) int {
	dir, err := os.MkdirTemp("", "ferrus-scratch-")
	if err == nil {
		*at, err = filepath.EvalSymlinks(dir)
	}
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	return run()
}
