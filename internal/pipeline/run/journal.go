package run

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/ferrus-go/ferrus/internal/pipeline"
	"github.com/ferrus-go/ferrus/internal/platform/atomicfile"
	"github.com/ferrus-go/ferrus/internal/platform/jsonx"
	"github.com/ferrus-go/ferrus/internal/platform/rootfs"
)

// A Line is one line of journal.jsonl: one action, and the status of the run after it.
type Line struct {
	Rev    int             `json:"rev"` // that of the status
	At     time.Time       `json:"at"`
	Event  string          `json:"event"` // launch, observed, a verb of the decision table, or one of the guard's
	Row    string          `json:"row,omitempty"`
	Roles  []string        `json:"roles,omitempty"`
	Runs   []string        `json:"runs,omitempty"` // of the roles that are started, those that are commands and have no model
	Reason pipeline.Reason `json:"reason,omitempty"`
	Why    string          `json:"why,omitempty"`
	Aside  []string        `json:"aside,omitempty"`
	By     string          `json:"by,omitempty"`     // the person
	Intent string          `json:"intent,omitempty"` // that is done with it
	Tell   string          `json:"tell,omitempty"`   // the text of a notification

	Workflow json.RawMessage `json:"workflow,omitempty"` // of the launch
	Settings *Settings       `json:"settings,omitempty"`
	Rerun    *Origin         `json:"rerun,omitempty"` // of a run that takes up another one

	Status pipeline.Status `json:"status"`
	Was    string          `json:"was"`    // SHA-256 of status.json before; "" for none
	SHA256 string          `json:"sha256"` // and after
}

// maxLine bounds a line of the journal, in bytes. A line contains a workflow, or a status of all
// workers.
const maxLine = 16 << 20

// Lines returns the journal from the beginning up to a line that is torn or cannot belong to the
// run.
func (f *Folder) Lines() ([]Line, error) {
	file, err := f.journal(os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var all []Line
	for r := bufio.NewReader(file); ; {
		raw, err := readLine(r)
		var l Line
		if err != nil || json.Unmarshal(raw, &l) != nil || l.Status.Check(f.Workflow) != nil {
			return all, nil
		}
		all = append(all, l)
	}
}

// readLine reads a line of at most maxLine bytes, with its newline.
func readLine(r *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		piece, err := r.ReadSlice('\n')
		line = append(line, piece...)
		switch {
		case len(line) > maxLine:
			return nil, fmt.Errorf("a line has more than %d bytes", maxLine)
		case !errors.Is(err, bufio.ErrBufferFull):
			return line, err
		}
	}
}

// journal opens the journal, which must exist.
func (f *Folder) journal(flag int) (*os.File, error) {
	root, name, err := f.in(journalFile)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return root.OpenFile(name, flag, 0)
}

// firstLine reads the line of the launch.
func firstLine(root *rootfs.Root, name string) (l Line, err error) {
	file, err := root.Open(name)
	if err != nil {
		return l, err
	}
	defer file.Close()
	raw, err := readLine(bufio.NewReader(file))
	if errors.Is(err, io.EOF) { // the process that launched it was killed
		return l, fmt.Errorf("%s is empty: %w", file.Name(), fs.ErrNotExist)
	}
	if err == nil {
		err = json.Unmarshal(raw, &l)
	}
	if wrong := (*json.UnmarshalTypeError)(nil); errors.As(err, &wrong) {
		err = fmt.Errorf("%s cannot be a %s", wrong.Field, wrong.Value)
	}
	return l, err
}

// window is how much of the journal's end is read first.
const window = 64 << 10

// lastLine reads the newest complete line, and where it ends: bytes after it were torn by a crash.
// A complete line that cannot belong to a run of the workflow is an error: only ferrus may write
// the journal.
func (f *Folder) lastLine(file *os.File) (Line, int64, error) {
	l, end, err := lastLine(file)
	if err == nil {
		if err = l.Status.Check(f.Workflow); err != nil {
			err = fmt.Errorf("%s: the line that ends at byte %d: %v; the run cannot continue from it", f.Path(journalFile), end, err)
		}
	}
	return l, end, err
}

func lastLine(file *os.File) (l Line, end int64, err error) {
	info, err := file.Stat()
	if err != nil {
		return l, 0, err
	}
	size := info.Size()
	for take := int64(window); ; take *= 4 {
		if take > 4*maxLine {
			return l, 0, fmt.Errorf("%s has no complete line in its last %d bytes; it is damaged", file.Name(), take/4)
		}
		from := max(0, size-take)
		text := make([]byte, size-from)
		if _, err := file.ReadAt(text, from); err != nil && !errors.Is(err, io.EOF) {
			return l, 0, err
		}
		for {
			last := bytes.LastIndexByte(text, '\n')
			if last < 0 {
				break
			}
			start := bytes.LastIndexByte(text[:last], '\n') + 1
			if start == 0 && from > 0 {
				break // it begins before the window
			}
			if json.Unmarshal(text[start:last], &l) == nil {
				return l, from + int64(last) + 1, nil
			}
			l, text = Line{}, text[:start]
		}
		if from == 0 {
			return l, 0, fmt.Errorf("%s has no complete line: %w", file.Name(), fs.ErrNotExist)
		}
	}
}

// append writes a line durably. A failed write is undone.
func (f *Folder) append(l Line) error {
	raw, err := jsonx.Marshal(l)
	if err != nil {
		return err
	}
	root, name, err := f.in(journalFile)
	if err != nil {
		return err
	}
	defer root.Close()
	if err := atomicfile.Append(root, name, append(raw, '\n'), 0o600); err != nil {
		return fmt.Errorf("append to %s: %w", f.Path(journalFile), rootfs.Cause(err))
	}
	return nil
}
