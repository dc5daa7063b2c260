//go:build linux

package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// lines is how many lines the file of a task has in the end, and tokens what a model would spend for one.
const (
	lines  = 4
	tokens = 1000
)

// think is how long an agent thinks before each line.
const think = 80 * time.Millisecond

// acts are what a scripted agent or a check does, by the first argument of this program; the second is the record. It works in the
// present folder. The agents of loops are in turn.go.
var acts = map[string]func(record) error{
	"work":   func(r record) error { return workOn(r, os.Stdin) },
	"review": func(r record) error { return review(os.Stdin) },
	"check":  check,
	"finish": func(r record) error { return finish(r, os.Stdin) },
}

// text is what an agent is asked to do.
func text(task int) string {
	return fmt.Sprintf("task %d: write the %d lines of %s", task, lines, file(task))
}

// file is where the result of a task is.
func file(task int) string { return "part/" + strconv.Itoa(task) + ".txt" }

// content is the file of a task after n lines.
func content(task, n int) string {
	var b strings.Builder
	for k := range n {
		fmt.Fprintf(&b, "task %d line %d of %d\n", task, k+1, lines)
	}
	return b.String()
}

var taskNumber = regexp.MustCompile(`task (\d+): write`)

// taskOfText is the task that a text names; 0 if it names none.
func taskOfText(text string) int {
	m := taskNumber.FindStringSubmatch(text)
	if m == nil {
		return 0
	}
	task, _ := strconv.Atoi(m[1]) // digits
	return task
}

// workOn does the task that a text names. It goes on where the file ends, as a model that looks at the files does.
func workOn(r record, in io.Reader) error {
	asked, err := io.ReadAll(in)
	if err != nil {
		return err
	}
	task := taskOfText(string(asked))
	if task == 0 {
		return errors.New("the text names no task")
	}
	alone, err := r.hold(task)
	if err != nil {
		return err
	}
	if err := r.add(event{Kind: begun, Task: task}); err != nil {
		return err
	}
	if !alone {
		if err := r.add(event{Kind: overlaps, Task: task}); err != nil {
			return err
		}
	}
	if err := os.MkdirAll("part", 0o755); err != nil {
		return err
	}
	if m, ok, err := r.mood(task); err != nil || ok {
		if err == nil {
			err = r.add(event{Kind: astray, Task: task, What: m.name})
		}
		if err == nil {
			err = m.do(task)
		}
		return err
	}
	for n := have(task) + 1; n <= lines; n++ {
		time.Sleep(think)
		if err := os.WriteFile(file(task), []byte(content(task, n)), 0o644); err != nil {
			return err
		}
		if err := r.add(event{Kind: stepped, Task: task}); err != nil {
			return err
		}
	}
	return r.add(event{Kind: ended, Task: task})
}

// have is how many lines of a task are there; 0 if there is anything else.
func have(task int) int {
	data, err := os.ReadFile(file(task))
	if err != nil {
		return 0
	}
	for n := range lines + 1 {
		if string(data) == content(task, n) {
			return n
		}
	}
	return 0
}

// review approves a patch in which the last line of a task is added.
func review(in io.Reader) error {
	patch, err := io.ReadAll(in)
	if err != nil {
		return err
	}
	time.Sleep(think)
	if !bytes.Contains(patch, []byte(fmt.Sprintf(" line %d of %d", lines, lines))) {
		return errors.New("the last line is missing")
	}
	return nil
}

// check holds that each file of a task is complete, and records its bytes.
func check(r record) error {
	files, err := fs.Glob(os.DirFS("."), "part/*.txt")
	if err != nil {
		return err
	}
	for _, name := range files {
		task, err := strconv.Atoi(strings.TrimSuffix(filepath.Base(name), ".txt"))
		if err != nil {
			return err
		}
		data, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		if string(data) != content(task, lines) {
			return fmt.Errorf("%s is not complete", name)
		}
		if err := r.add(event{Kind: checked, Task: task, Hash: hash(data)}); err != nil {
			return err
		}
	}
	return nil
}

func hash(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:8])
}
