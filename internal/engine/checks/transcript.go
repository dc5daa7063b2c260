package checks

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"

	"github.com/ferrus-go/ferrus/internal/platform/rootfs"
)

// maxRing bounds the memory for the tail of one command's output until it is written to the log.
const maxRing = 1 << 20

// A transcript is the log of a run: for each command a header, its raw output and a footer.
type transcript struct {
	file     *os.File
	commands int   // total number
	begun    int   // number of commands that were started
	left     int64 // bytes of output that may still be written
	err      error // of the first failed write; later ones are skipped
}

// create creates a new file and replaces an existing one: an agent that can write beside the log
// could have put a link, a named pipe or a file open to all in its place. A link in place of the
// folder is refused.
func create(path string, max int64, commands int) (*transcript, error) {
	if max <= 0 {
		max = DefaultMaxLog
	}
	root, name, err := rootfs.For(path)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	if err := root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	file, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	return &transcript{file: file, commands: commands, left: max}, nil
}

func (t *transcript) write(p []byte) {
	if t.err == nil {
		_, t.err = t.file.Write(p)
	}
}

// begin opens the section of the next command. Each may use an equal share of the remaining bytes.
func (t *transcript) begin(line string) *section {
	share := t.left / int64(t.commands-t.begun)
	t.begun++
	tail := min(share/2, maxRing)
	t.write(fmt.Appendf(nil, "==> [%d/%d] %s\n", t.begun, t.commands, line))
	return &section{
		log:  t,
		head: share - tail,
		rest: ring{size: int(tail)},
		last: ring{size: feedbackWindow},
	}
}

func (t *transcript) close() error {
	if err := t.file.Close(); t.err == nil {
		t.err = err
	}
	return t.err
}

// A section takes the output of one command. The head goes to the log at once; the tail stays in
// memory until end.
type section struct {
	log *transcript

	mu     sync.Mutex // an escaped process may still write after the command has ended
	ended  bool
	head   int64 // bytes that may still go to the log at once
	rest   ring  // output after the head
	last   ring  // for the feedback
	ragged bool  // the output does not end with a newline
}

// Write accepts everything and never fails: a full disk must not stop a command.
func (s *section) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended || len(p) == 0 {
		return len(p), nil
	}
	s.last.Write(p)
	s.ragged = p[len(p)-1] != '\n'
	n := int(min(s.head, int64(len(p))))
	if n > 0 {
		s.log.write(p[:n])
		s.head -= int64(n)
		s.log.left -= int64(n)
	}
	s.rest.Write(p[n:])
	return len(p), nil
}

// end writes the tail and the footer. Later writes to the section are dropped.
func (s *section) end(c Command) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
	if cut := s.rest.lost(); cut > 0 {
		s.log.write(fmt.Appendf(nil, "\n==> %d bytes of output are cut here\n", cut))
	}
	tail := s.rest.Bytes()
	s.log.write(tail)
	s.log.left -= int64(len(tail))
	if s.ragged {
		s.log.write([]byte("\n"))
	}
	s.log.write(fmt.Appendf(nil, "<== [%d/%d] %v\n", s.log.begun, s.log.commands, c))
}
