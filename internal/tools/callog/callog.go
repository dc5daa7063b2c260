// Package callog is the log of the calls that a server has answered: the form of its lines, and how
// they are read. A server writes one file, which has a line for each call and lines about itself.
//
// internal/tools/gate writes the lines, internal/server makes the files, internal/status/stack reads them.
package callog

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ferrus-go/ferrus/internal/platform/rootfs"
)

// Message is the message of a line that is about a call.
const Message = "call"

// Keys of the values that connect a call with the journal, and with the run and the output of an agent.
const (
	Task  = "task"  // id of the task, or name of the pipeline's run
	Seq   = "seq"   // number of the newest line of the journal after the call
	Began = "began" // when the call began
	Run   = "run"   // of the agent, such as executor-1; without it a person started the agent
	Args  = "args"  // see strictjson.Digest
)

// A Call is a line of the log. Lines of older versions have no began, task, seq, run and args.
type Call struct {
	End     time.Time     `json:"time"` // when it was answered
	Began   time.Time     `json:"began"`
	Message string        `json:"msg"`
	Tool    string        `json:"tool"`
	Agent   string        `json:"agent"` // as role:name:index; "" of a worker
	Worker  string        `json:"worker"`
	Attempt int           `json:"attempt"`
	Status  string        `json:"status"` // of the result
	Code    string        `json:"code"`   // of a refusal
	Next    string        `json:"next"`
	Took    time.Duration `json:"took"`
	Task    string        `json:"task"`
	Seq     uint64        `json:"seq"`
	Run     string        `json:"run"`
	Args    string        `json:"args"`
}

// Start returns when the call began. A line of an older server says only how long it took.
func (c Call) Start() time.Time {
	if !c.Began.IsZero() {
		return c.Began
	}
	return c.End.Add(-c.Took)
}

// Files begin with prefix and end with suffix.
const prefix, suffix = "serve-", ".log"

// FileName returns the name of the file of a server: whom it serves, the time, and its process.
func FileName(identity, clock, pid string) string {
	return prefix + strings.ReplaceAll(identity, ":", "-") + "-" + clock + "-" + pid + suffix
}

// maxLine bounds a line in bytes. A line about a hanging call has all goroutines.
const maxLine = 16 << 20

// Read returns the calls in all logs of a folder, in the order of their start. A missing folder has
// none. Lines that are torn or no calls are skipped.
func Read(dir string) ([]Call, error) {
	entries, err := rootfs.ListOwn(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var all []Call
	for _, e := range entries {
		if !e.Type().IsRegular() || !strings.HasPrefix(e.Name(), prefix) || !strings.HasSuffix(e.Name(), suffix) {
			continue
		}
		calls, err := readFile(filepath.Join(dir, e.Name()))
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // ferrus gc may have removed it
			return nil, err
		}
		all = append(all, calls...)
	}
	slices.SortStableFunc(all, func(a, b Call) int { return a.Start().Compare(b.Start()) })
	return all, nil
}

func readFile(path string) ([]Call, error) {
	f, err := rootfs.OpenOwn(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return parse(f), nil
}

// parse returns the calls of one log.
func parse(r io.Reader) []Call {
	var all []Call
	for lines := bufio.NewReader(r); ; {
		line, err := readLine(lines)
		var c Call
		if json.Unmarshal(line, &c) == nil && c.Message == Message && c.Tool != "" && !c.End.IsZero() && !c.Start().After(c.End) {
			all = append(all, c)
		}
		if err != nil {
			return all
		}
	}
}

// readLine reads a line. Of one that is longer than maxLine it returns the beginning, which is no call.
func readLine(r *bufio.Reader) (line []byte, err error) {
	for {
		part, err := r.ReadSlice('\n')
		line = append(line, part[:min(len(part), maxLine-len(line))]...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}
