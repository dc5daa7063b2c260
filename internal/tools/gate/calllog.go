package gate

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

// LogMessage is the message of a line that is about a call.
const LogMessage = "call"

// Keys of the values that connect a call with the journal, and with the run and the output of an agent.
const (
	LogTask  = "task"  // id of the task, or name of the pipeline's run
	LogSeq   = "seq"   // number of the newest line of the journal after the call
	LogBegan = "began" // when the call began
	LogRun   = "run"   // of the agent, such as executor-1; without it a person started the agent
	LogArgs  = "args"  // see jsonx.Digest
)

// A LoggedCall is a line of the log. Lines of older versions have no began, task, seq, run and args.
type LoggedCall struct {
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
func (c LoggedCall) Start() time.Time {
	if !c.Began.IsZero() {
		return c.Began
	}
	return c.End.Add(-c.Took)
}

// Files begin with logPrefix and end with logSuffix.
const logPrefix, logSuffix = "serve-", ".log"

// LogName returns the name of the file of a server: whom it serves, the time, and its process.
func LogName(identity, clock, pid string) string {
	return logPrefix + strings.ReplaceAll(identity, ":", "-") + "-" + clock + "-" + pid + logSuffix
}

// maxLogLine bounds a line in bytes. A line about a hanging call has all goroutines.
const maxLogLine = 16 << 20

// ReadLog returns the calls in all logs of a folder, in the order of their start. A missing folder has
// none. Lines that are torn or no calls are skipped.
func ReadLog(dir string) ([]LoggedCall, error) {
	entries, err := rootfs.ListOwn(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var all []LoggedCall
	for _, e := range entries {
		if !e.Type().IsRegular() || !strings.HasPrefix(e.Name(), logPrefix) || !strings.HasSuffix(e.Name(), logSuffix) {
			continue
		}
		calls, err := readLogFile(filepath.Join(dir, e.Name()))
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // ferrus gc may have removed it
			return nil, err
		}
		all = append(all, calls...)
	}
	slices.SortStableFunc(all, func(a, b LoggedCall) int { return a.Start().Compare(b.Start()) })
	return all, nil
}

func readLogFile(path string) ([]LoggedCall, error) {
	f, err := rootfs.OpenOwn(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return parseLog(f), nil
}

// parseLog returns the calls of one log.
func parseLog(r io.Reader) []LoggedCall {
	var all []LoggedCall
	for lines := bufio.NewReader(r); ; {
		line, err := readLogLine(lines)
		var c LoggedCall
		if json.Unmarshal(line, &c) == nil && c.Message == LogMessage && c.Tool != "" && !c.End.IsZero() && !c.Start().After(c.End) {
			all = append(all, c)
		}
		if err != nil {
			return all
		}
	}
}

// readLogLine reads a line. Of one that is longer than maxLogLine it returns the beginning, which is no call.
func readLogLine(r *bufio.Reader) (line []byte, err error) {
	for {
		part, err := r.ReadSlice('\n')
		line = append(line, part[:min(len(part), maxLogLine-len(line))]...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}
