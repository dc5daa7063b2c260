package server

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/ferrus-go/ferrus/internal/agents/process"
	"github.com/ferrus-go/ferrus/internal/platform/proc"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/tools/gate"
)

// openLog returns the server's log. Warnings and errors go to stderr, where clients show them.
// Everything goes to a file under .ferrus/logs, or under the logs of a worker's run, which is
// created with its first line.
func openLog(conf Config, stderr io.Writer) (*slog.Logger, func()) {
	file, trouble := &lazyFile{conf: conf}, newSpill(stderr)
	handler := slog.NewMultiHandler(
		slog.NewTextHandler(trouble, &slog.HandlerOptions{Level: slog.LevelWarn}),
		slog.NewJSONHandler(file, &slog.HandlerOptions{Level: slog.LevelInfo}))
	return slog.New(handler), func() { file.close(); trouble.close() }
}

// A spill writes to a stream whose reader may let it fill up, as clients do with the stderr of
// servers. Writers never wait; lines that do not fit are dropped.
type spill struct {
	mu    sync.Mutex
	lines chan []byte // nil after close
	ended chan struct{}
}

func newSpill(w io.Writer) *spill {
	lines := make(chan []byte, 256)
	s := &spill{lines: lines, ended: make(chan struct{})}
	go func() {
		defer close(s.ended)
		for line := range lines {
			_, _ = w.Write(line)
		}
	}()
	return s
}

func (s *spill) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case s.lines <- bytes.Clone(p): // a nil channel is never ready
	default:
	}
	return len(p), nil
}

// close waits until the lines are written, but no longer than the grace of a client that has left.
func (s *spill) close() {
	s.mu.Lock()
	if s.lines != nil {
		close(s.lines)
		s.lines = nil
	}
	s.mu.Unlock()
	select {
	case <-s.ended:
	case <-time.After(grace):
	}
}

// A lazyFile is a file that is created by its first write. If it cannot be created, nothing is
// written.
type lazyFile struct {
	conf Config

	mu    sync.Mutex // calls continue while the server ends
	tried bool
	f     *os.File
}

func (l *lazyFile) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.tried {
		l.tried = true
		l.f = l.conf.logFile()
	}
	if l.f == nil {
		return len(p), nil
	}
	return l.f.Write(p)
}

func (l *lazyFile) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.tried = true
	if l.f != nil {
		l.f.Close()
		l.f = nil
	}
}

// logFile creates the log file of this server. It returns nil if there is no machine or the file
// cannot be created.
func (c Config) logFile() *os.File {
	dir, err := c.logDir()
	if err != nil {
		return nil
	}
	root, err := os.OpenRoot(dir) // follows no link that leads out of it
	if err != nil {
		return nil
	}
	defer root.Close()
	name := gate.LogName(c.Identity(), time.Now().UTC().Format("150405"), strconv.Itoa(os.Getpid()))
	f, err := root.OpenFile(filepath.Join("logs", name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil
	}
	return f
}

// run returns the run of the agent that this server serves, as its shim has recorded it. It is "" if
// a person started the agent, or if the system does not show the processes above this one.
func (c Config) run() string {
	place, err := project.Find(context.Background(), cmp.Or(c.Root, "."))
	if err != nil {
		return ""
	}
	slot, ok := proc.SlotAbove(place.Root)
	if !ok {
		return ""
	}
	o, _ := process.Slot(slot).Taken()
	return o.Run
}

// logDir returns the folder that contains the folder of the logs.
func (c Config) logDir() (string, error) {
	if c.Role == workerRole {
		return c.Worker.Run, nil
	}
	place, err := project.Find(context.Background(), cmp.Or(c.Root, "."))
	if err != nil {
		return "", err
	}
	return place.Dir(), nil
}
