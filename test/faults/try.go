package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
)

// A verdict is what a rig's test reported.
type verdict struct {
	cases, bad int
	said       string
	skipped    bool
	output     []byte
	err        error // the test failed, or reported nothing
}

var report = regexp.MustCompile(`rig: cases=(\d+) bad=(\d+)(?:; (.*))?`)

// try runs a rig on ferrus as it is.
func (r Rig) try(ctx context.Context, form string) verdict {
	var v verdict
	if r.fuzzes() {
		return r.fuzz(ctx, form)
	}
	v.output, v.err = r.test(ctx, form, "-v")
	if v.skipped = bytes.Contains(v.output, []byte("--- SKIP: "+r.Test+" ")); v.skipped {
		v.said = "not run here: it needs " + r.Needs
		return v
	}
	for _, found := range report.FindAllSubmatch(v.output, -1) {
		cases, errC := strconv.Atoi(string(found[1]))
		bad, errB := strconv.Atoi(string(found[2]))
		v.cases, v.bad, v.said = v.cases+cases, v.bad+bad, string(found[3])
		v.err = errors.Join(v.err, errC, errB)
	}
	if v.cases == 0 {
		v.cases, v.bad = count(v.output)
	}
	if v.err == nil && v.cases == 0 {
		v.err = errNothing
	}
	return v
}

var ended = regexp.MustCompile(`(?m)^ *--- (PASS|FAIL): (\S+) `)

// count counts tests that have no subtests.
func count(output []byte) (cases, bad int) {
	above := map[string]bool{}
	found := ended.FindAllSubmatch(output, -1)
	for _, f := range found {
		above[path.Dir(string(f[2]))] = true
	}
	for _, f := range found {
		if above[string(f[2])] {
			continue
		}
		cases++
		if string(f[1]) == "FAIL" {
			bad++
		}
	}
	return cases, bad
}

// survivors returns the mutants that the rig does not notice, and why.
func (r Rig) survivors(ctx context.Context, of []Mutant) (alive []string) {
	for _, m := range of {
		if err := r.kill(ctx, m); err != nil {
			alive = append(alive, m.Name+": "+err.Error())
		}
	}
	return alive
}

// kill runs a rig on a mutant. An error says that the mutant lives, or could not be made.
func (r Rig) kill(ctx context.Context, m Mutant) error {
	dir, err := os.MkdirTemp("", "mutant-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	overlay, err := m.overlay(dir)
	if err != nil {
		return err
	}
	out, err := r.test(ctx, "-short", "-vet=off", "-failfast", "-timeout=3m", "-overlay="+overlay)
	if err == nil && r.fuzzes() { // its seeds and its corpus do not notice
		out, err = r.test(ctx, "-short", "-vet=off", "-overlay="+overlay, "-fuzz=^"+r.Test+"$", "-fuzztime=30s")
	}
	switch {
	case err == nil || ranOut(out):
		return errors.New("the rig was content")
	case !bytes.Contains(out, []byte("--- FAIL")) && !bytes.Contains(out, []byte("panic:")):
		return fmt.Errorf("the rig was not run: %w\n%s", err, out)
	}
	return nil
}

// overlay writes the mutated file, and what tells Go to build with it.
func (m Mutant) overlay(dir string) (string, error) {
	file, text, err := m.apply(declarations{})
	if err != nil {
		return "", err
	}
	path, err := filepath.Abs(file)
	if err != nil {
		return "", err
	}
	mutated, overlay := filepath.Join(dir, "mutant.go"), filepath.Join(dir, "overlay.json")
	plan, err := json.Marshal(map[string]map[string]string{"Replace": {path: mutated}})
	if err != nil {
		return "", err
	}
	return overlay, errors.Join(os.WriteFile(mutated, []byte(text), 0o600), os.WriteFile(overlay, plan, 0o600))
}

// test runs the rig's test and returns what it printed.
func (r Rig) test(ctx context.Context, form string, flags ...string) ([]byte, error) {
	args := append([]string{"test", "-count=1", "-run=^" + r.Test + "$", "-timeout=3h"}, flags...)
	args = append(args, r.Package)
	if form == "-full" && !r.hasLongForm(ctx) {
		form = ""
	}
	if form != "" {
		args = append(args, form)
	}
	return exec.CommandContext(ctx, "go", args...).CombinedOutput()
}

// hasLongForm reports whether the test program knows the flag -full, which package kit defines.
func (r Rig) hasLongForm(ctx context.Context) bool {
	imported, err := exec.CommandContext(ctx, "go", "list", "-test", "-deps", r.Package).Output()
	return err != nil || bytes.Contains(imported, []byte("/test/kit\n"))
}

var errNothing = errors.New("it tried nothing")
