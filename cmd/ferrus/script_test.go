package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/gofrs/flock"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/ferrus-go/ferrus/internal/store/live"
)

// rcCommand runs a command that must end with an exit code: rc CODE PROGRAM [ARG ...].
func rcCommand(ts *testscript.TestScript, _ bool, args []string) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	var exit *exec.ExitError
	if err := ts.Exec(args[1], args[2:]...); errors.As(err, &exit) {
		got = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("exit code %d, not %d", got, want)
	}
}

// writeCommand writes a file: write FILE TEXT. The text may have Go's escapes, such as \x00.
func writeCommand(ts *testscript.TestScript, _ bool, args []string) {
	text, err := strconv.Unquote(`"` + strings.ReplaceAll(args[1], `"`, `\"`) + `"`)
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(text), 0o666))
}

// editCommand replaces the first OLD in a file, in place: edit FILE OLD NEW. An empty OLD appends.
func editCommand(ts *testscript.TestScript, _ bool, args []string) {
	name := ts.MkAbs(args[0])
	text, err := os.ReadFile(name)
	ts.Check(err)
	edited := string(text) + args[2]
	if args[1] != "" {
		edited = strings.Replace(string(text), args[1], args[2], 1)
	}
	if edited == string(text) {
		ts.Fatalf("%s has no %q", args[0], args[1])
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_TRUNC, 0)
	ts.Check(err)
	_, err = f.WriteString(edited)
	ts.Check(errors.Join(err, f.Close()))
}

// fillCommand writes a file of N bytes: fill FILE N.
func fillCommand(ts *testscript.TestScript, _ bool, args []string) {
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), bytes.Repeat([]byte("x"), n), 0o666))
}

// lockCommand holds the lock of a file until the script ends: lock FILE.
func lockCommand(ts *testscript.TestScript, _ bool, args []string) {
	lock := flock.New(ts.MkAbs(args[0]))
	ts.Check(lock.Lock())
	ts.Defer(func() { lock.Unlock() })
}

// entryCommand sets a variable to the number of the newest entry of an event in the script's folder: entry NAME EVENT.
func entryCommand(ts *testscript.TestScript, _ bool, args []string) {
	newest := 0
	at := ts.MkAbs(".entries.jsonl")
	ts.Check(ts.Exec("ferrus", "store", "export", at))
	journal := ts.ReadFile(at)
	ts.Check(os.Remove(at))
	for line := range strings.Lines(journal) {
		var l struct {
			Seq   int
			Event string
		}
		ts.Check(json.Unmarshal([]byte(line), &l))
		if l.Event == args[1] {
			newest = l.Seq
		}
	}
	if newest == 0 {
		ts.Fatalf("the journal has no %s", args[1])
	}
	ts.Setenv(args[0], strconv.Itoa(newest))
}

// momentCommand sets a variable to the time of the first step of a kind and a tool: moment NAME FILE KIND TOOL. The file is
// what ferrus stack --json has printed.
func momentCommand(ts *testscript.TestScript, _ bool, args []string) {
	for line := range strings.Lines(ts.ReadFile(args[1])) {
		var e struct{ Kind, Tool, At string }
		ts.Check(json.Unmarshal([]byte(line), &e))
		if e.Kind == args[2] && e.Tool == args[3] {
			ts.Setenv(args[0], e.At)
			return
		}
	}
	ts.Fatalf("%s has no %s of %s", args[1], args[2], args[3])
}

// ageCommand makes a file a day older: age FILE.
func ageCommand(ts *testscript.TestScript, _ bool, args []string) {
	yesterday := time.Now().Add(-24 * time.Hour)
	ts.Check(os.Chtimes(ts.MkAbs(args[0]), yesterday, yesterday))
}

// treeCommand prints every file below a folder with its mode and hash, so that two listings can be compared: tree DIR.
// What git keeps for itself is left out, and the file that every process with a session in a database writes again and again.
func treeCommand(ts *testscript.TestScript, _ bool, args []string) {
	root := ts.MkAbs(args[0])
	ts.Check(filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.Name() == ".git" {
			return fs.SkipDir
		}
		if d.Name() == live.HeardName {
			return nil
		}
		rel, _ := filepath.Rel(root, name)
		info, err := d.Info()
		if err != nil {
			return err
		}
		var sum [sha256.Size]byte
		if d.Type().IsRegular() {
			text, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			sum = sha256.Sum256(text)
		}
		_, err = fmt.Fprintf(ts.Stdout(), "%s %s %x\n", info.Mode(), rel, sum[:4])
		return err
	}))
}
