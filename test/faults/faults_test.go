package main

import (
	"os"
	"strings"
	"testing"
)

// TestEveryMutantCanBeMade finds the place of every mistake, so that the table does not rot while the code moves on.
func TestEveryMutantCanBeMade(t *testing.T) {
	t.Chdir("../..")
	all, err := readTable(mutantFiles)
	if err != nil {
		t.Fatal(err)
	}
	known := declarations{}
	for m := range all.each {
		file, text, err := m.apply(known)
		if err != nil {
			t.Errorf("%s: %v", m.Name, err)
			continue
		}
		if was, err := os.ReadFile(file); err != nil || text == string(was) || strings.HasSuffix(file, "_test.go") {
			t.Errorf("%s is no mutant of ferrus: %v", m.Name, err)
		}
	}
	seen := map[string]bool{}
	for _, r := range all.rigs {
		if len(r.mutants) == 0 || r.Promise == "" {
			t.Errorf("%s has no mutants or no promise: nobody knows whether it bites", r.Name)
		}
		if seen[r.Name] {
			t.Errorf("two rigs are named %s", r.Name)
		}
		seen[r.Name] = true
		if found := tests(t, r.Package); !found["func "+r.Test+"("] {
			t.Errorf("%s: %s has no %s", r.Name, r.Package, r.Test)
		}
	}
}

func TestTheEndOfItsTimeIsNoFailure(t *testing.T) {
	const head = "fuzz: elapsed: 2s, execs: 69614 (33168/sec), new interesting: 3 (total: 11)\n--- FAIL: FuzzDecodeLine (2.10s)\n"
	for text, want := range map[string]bool{"    context deadline exceeded\nFAIL\n": true, "    --- FAIL: FuzzDecodeLine (0.00s)\n": false} {
		if got := ranOut([]byte(head + text)); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

// tests are the heads of the functions in the test files of a package.
func tests(t *testing.T, dir string) map[string]bool {
	t.Helper()
	found := map[string]bool{}
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range list {
		if !strings.HasSuffix(f.Name(), "_test.go") {
			continue
		}
		data, err := os.ReadFile(dir + "/" + f.Name())
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(data)) {
			if head, _, ok := strings.Cut(line, "("); ok && strings.HasPrefix(line, "func ") {
				found[head+"("] = true
			}
		}
	}
	return found
}
