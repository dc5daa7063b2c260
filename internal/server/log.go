package server

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/ferrus-go/ferrus/internal/engine"
)

// openLog returns the server's log: trouble goes to stderr, where clients show it, and everything into a file of its
// own under .ferrus/logs, made with its first line.
func openLog(conf Config, stderr io.Writer) (*slog.Logger, func()) {
	file := &lazyFile{conf: conf}
	handler := slog.NewMultiHandler(
		slog.NewTextHandler(stderr, &slog.HandlerOptions{Level: slog.LevelWarn}),
		slog.NewJSONHandler(file, &slog.HandlerOptions{Level: slog.LevelInfo}))
	return slog.New(handler), file.close
}

// A lazyFile is a file that is made when it is first written to; where it cannot be made, nothing is written.
type lazyFile struct {
	conf Config
	once sync.Once
	f    *os.File
}

func (l *lazyFile) Write(p []byte) (int, error) {
	l.once.Do(func() {
		dir := l.conf.Root
		if dir == "" {
			dir = "."
		}
		place, err := engine.Find(context.Background(), dir)
		if err != nil {
			return
		}
		name := fmt.Sprintf("serve-%s-%d.log", strings.ReplaceAll(l.conf.Identity(), ":", "-"), os.Getpid())
		l.f, _ = os.OpenFile(filepath.Join(place.Dir(), "logs", name), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	})
	if l.f != nil {
		return l.f.Write(p)
	}
	return len(p), nil
}

func (l *lazyFile) close() {
	if l.f != nil {
		l.f.Close()
	}
}
