package postgrestest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// Variables that say where PostgreSQL is, and whether tests may do without.
const (
	binVar     = "FERRUS_PG_BIN"
	requireVar = "FERRUS_PG"
)

// hidden are the folders in which distributions keep the programs of the server, beside the PATH. A star is a version.
var hidden = []string{
	"/usr/lib/postgresql/*/bin",            // Debian, Ubuntu
	"/usr/libexec/postgresql*",             // Alpine
	"/usr/pgsql-*/bin",                     // packages of the project for Fedora and Red Hat
	"/usr/lib/postgresql*/bin",             // openSUSE
	"/opt/homebrew/opt/postgresql@*/bin",   // Homebrew
	"/usr/local/opt/postgresql@*/bin",      // Homebrew on Intel
	"/opt/local/lib/postgresql*/bin",       // MacPorts
	"/Applications/Postgres.app/*/*/*/bin", // Postgres.app
}

// programs are what a test needs of PostgreSQL.
var programs = []string{"initdb", "postgres", "pg_basebackup"}

// installed is the folder of the programs of PostgreSQL, and as which user they run.
var installed = sync.OnceValues(func() (tools, error) {
	bin, err := find(os.Getenv(binVar), os.Getenv("PATH"), hidden)
	if err != nil {
		return tools{}, err
	}
	as, err := account()
	if err != nil {
		return tools{}, err
	}
	found := tools{bin, as}
	if out, err := found.command("initdb", "--version").CombinedOutput(); err != nil {
		return tools{}, fmt.Errorf("%s/initdb does not run here: %v: %s", bin, err, out)
	}
	return found, nil
})

// skipped writes a line, once for each program.
var skipped sync.Once

// Programs returns the folder of the programs of PostgreSQL, for a test that starts a server by other ways.
func Programs(t testing.TB) string {
	t.Helper()
	return need(t).bin
}

// need returns the programs of PostgreSQL, and skips the test where there are none.
func need(t testing.TB) tools {
	t.Helper()
	program.Lock()
	running := program.running
	program.Unlock()
	if !running {
		t.Fatal("the TestMain of this package does not call postgrestest.Main")
	}
	found, err := installed()
	switch {
	case err == nil:
		return found
	case os.Getenv(requireVar) == "require":
		t.Fatalf("%s=require: %v", requireVar, err)
	default:
		skipped.Do(func() { fmt.Fprintf(os.Stderr, "SKIPPED: the tests with PostgreSQL: %v\n", err) })
		t.Skip(err)
	}
	return tools{}
}

// find returns the folder in which the programs of PostgreSQL are: only, if that is given; else one of the PATH, the one that
// pg_config names, or the newest of the hidden ones.
func find(only, path string, hidden []string) (string, error) {
	if only != "" {
		if !complete(only) {
			return "", fmt.Errorf("%s=%s does not contain %s", binVar, only, strings.Join(programs, ", "))
		}
		return only, nil
	}
	var folders []string
	for _, dir := range filepath.SplitList(path) {
		// A link on the PATH leads to the folder that has all of them.
		if real, err := filepath.EvalSymlinks(filepath.Join(dir, "initdb")); err == nil {
			folders = append(folders, dir, filepath.Dir(real))
		}
		if config := filepath.Join(dir, "pg_config"); executable(config) {
			if bin, err := exec.Command(config, "--bindir").Output(); err == nil {
				folders = append(folders, strings.TrimSpace(string(bin)))
			}
		}
	}
	for _, pattern := range hidden {
		found, _ := filepath.Glob(pattern)
		slices.SortFunc(found, newest)
		folders = append(folders, found...)
	}
	if i := slices.IndexFunc(folders, complete); i >= 0 {
		return folders[i], nil
	}
	return "", fmt.Errorf("no folder has %s: install the server of PostgreSQL, or set %s to its folder", strings.Join(programs, ", "), binVar)
}

// newest compares paths by the numbers in them, the larger first.
func newest(a, b string) int {
	return slices.Compare(numbers(b), numbers(a))
}

func numbers(path string) (all []int) {
	for digits := range strings.FieldsFuncSeq(path, func(r rune) bool { return r < '0' || r > '9' }) {
		n, _ := strconv.Atoi(digits)
		all = append(all, n)
	}
	return all
}

func complete(dir string) bool {
	return !slices.ContainsFunc(programs, func(name string) bool { return !executable(filepath.Join(dir, name)) })
}

func executable(file string) bool {
	info, err := os.Stat(file)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}
