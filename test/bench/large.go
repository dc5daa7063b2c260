package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/ferrus-go/ferrus/internal/server/mcpclient"
)

// largeFiles is how many files the repository of the part "large" has.
const largeFiles = 50_000

// large measures the steps of a task in a large repository, in turns with another build where one was given: both see
// the same files, the same edits and the same load of the machine.
func (l *lab) large() error {
	var tasks []*largeTask
	for _, s := range append([]system{l.systems[0]}, l.beside...) {
		t, err := l.largeTask(s)
		if err != nil {
			return fmt.Errorf("%s: %w", s.Name, err)
		}
		defer t.end()
		tasks = append(tasks, t)
	}
	for round := range l.rounds(1, 7) {
		for _, t := range tasks {
			if err := t.play(round); err != nil {
				return fmt.Errorf("%s, round %d: %w", t.system.Name, round, err)
			}
		}
	}
	return nil
}

// A largeTask is one build at work in a large repository of its own.
type largeTask struct {
	lab                  *lab
	system               system
	dir                  string
	executor, supervisor *mcpclient.Client
}

// largeTask makes the repository and starts the servers.
func (l *lab) largeTask(s system) (*largeTask, error) {
	t := &largeTask{lab: l, system: s}
	var err error
	if t.dir, err = os.MkdirTemp(l.dir, "large-"); err != nil {
		return nil, err
	}
	for i := range largeFiles {
		name := largeFile(t.dir, i)
		if i%100 == 0 {
			if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
				return nil, err
			}
		}
		text := fmt.Sprintf("package p%d\n\nconst value = %d\n", i/100, i)
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			return nil, err
		}
	}
	if err := s.New(l.ctx, t.dir, 0); err != nil {
		return nil, err
	}
	for _, args := range [][]string{{"add", "-A"}, {"-c", "user.name=bench", "-c", "user.email=bench@example.com", "commit", "-q", "-m", "files"}} {
		if _, err := output(l.ctx, t.dir, "git", args...); err != nil {
			return nil, err
		}
	}
	if t.executor, err = open(l.ctx, s.Server(t.dir)); err != nil {
		return nil, err
	}
	t.supervisor, err = open(l.ctx, supervisor(s).Server(t.dir))
	return t, err
}

func largeFile(dir string, i int) string {
	return filepath.Join(dir, "p"+strconv.Itoa(i/100), "f"+strconv.Itoa(i)+".go")
}

// play takes one task from its creation to its approval, with three edited files.
func (t *largeTask) play(round int) error {
	steps := []struct {
		name  string // "" where it is not measured
		edits bool   // the files change first
		step
	}{
		{"create", false, toApproval[0]},
		{"claim", false, toApproval[1]},
		{"check", true, toApproval[2]},
		{"check-again", false, toApproval[2]},
		{"submit", false, toApproval[3]},
		{"", false, toApproval[4]},
		{"approve", false, toApproval[5]},
	}
	for _, s := range steps {
		if s.edits {
			for i := range 3 {
				text := fmt.Sprintf("package p%d\n\nconst value = -%d\n", i, round)
				if err := os.WriteFile(largeFile(t.dir, i*100+round), []byte(text), 0o600); err != nil {
					return err
				}
			}
		}
		who := t.executor
		if s.supervisor {
			who = t.supervisor
		}
		began := time.Now()
		if _, err := s.try(t.lab.ctx, who); err != nil {
			return err
		}
		if s.name != "" {
			t.lab.took("Large/"+s.name+" "+t.system.Name, time.Since(began))
		}
	}
	return nil
}

func (t *largeTask) end() {
	for _, c := range []*mcpclient.Client{t.executor, t.supervisor} {
		if c != nil {
			c.Kill()
		}
	}
}
