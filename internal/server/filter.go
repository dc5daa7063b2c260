package server

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
)

// maxLine is the longest message in bytes that a client may send.
const maxLine = 16 << 20

// JSON-RPC error codes.
const (
	parseError     = -32700
	invalidRequest = -32600
)

// filter passes on the lines of a client that are single JSON messages and answers the others itself: a malformed
// line, a batch or an over-long line would end the session in the SDK. Close unblocks its reader.
func filter(in io.Reader, out io.Writer) io.ReadCloser {
	r, w := io.Pipe()
	go func() {
		lines := bufio.NewReaderSize(in, 64<<10)
		for {
			line, err := readLine(lines)
			if bad := refuse(line, err); bad != nil {
				out.Write(bad)
			} else if len(line) > 0 {
				if _, err := w.Write(line); err != nil {
					return
				}
			}
			if err != nil && !errors.Is(err, errLong) {
				w.CloseWithError(err)
				return
			}
		}
	}()
	return r
}

var errLong = errors.New("too long")

// readLine reads one line with its end. Of a line over maxLine it returns the beginning, having skipped the rest.
func readLine(r *bufio.Reader) ([]byte, error) {
	var line []byte
	long := false
	for {
		part, err := r.ReadSlice('\n')
		if !long {
			line = append(line, part...)
		}
		if len(line) > maxLine {
			long, line = true, line[:1<<10]
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if err == nil && long {
			err = errLong
		}
		return line, err
	}
}

// refuse returns the answer to a line that is no message, nil for one that is.
func refuse(line []byte, err error) []byte {
	text := bytes.TrimSpace(line)
	switch {
	case errors.Is(err, errLong):
		return answer(invalidRequest, fmt.Sprintf("the message is longer than %d bytes; put large texts into files of the work tree", maxLine))
	case len(text) == 0:
		return nil
	case text[0] == '[':
		return answer(invalidRequest, "batches are not supported; send one message a line")
	case !json.Valid(text):
		return answer(parseError, "the line is not JSON; send one message a line")
	case text[0] != '{':
		return answer(invalidRequest, "the line is no JSON-RPC message")
	}
	return nil
}

func answer(code int, message string) []byte {
	type rpcError struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	}
	text, err := json.Marshal(struct {
		Version string   `json:"jsonrpc"`
		ID      *int     `json:"id"`
		Error   rpcError `json:"error"`
	}{"2.0", nil, rpcError{code, message}})
	if err != nil {
		panic(err) // two strings and a number
	}
	return append(text, '\n')
}

// A lockedWriter keeps messages of several writers whole.
type lockedWriter struct {
	mu sync.Mutex
	w  io.Writer
}

func (l *lockedWriter) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(p)
}

// Close does nothing: the process's stdout ends with it.
func (l *lockedWriter) Close() error { return nil }
