package server

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/ferrus-go/ferrus/internal/server/web"
)

// maxLine is the longest message in bytes that a client may send.
const maxLine = 16 << 20

// filter passes on the lines of a client that are single JSON-RPC messages and answers the others itself: a malformed
// line, a batch or an over-long line would end the session in the SDK, and so would a blank before the line's end.
// Close unblocks its reader. left is closed when the client has closed its end.
func filter(in io.Reader, out io.Writer) (_ io.ReadCloser, left <-chan struct{}) {
	r, w := io.Pipe()
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		lines := bufio.NewReaderSize(in, 64<<10)
		for {
			line, err := readLine(lines)
			if bad := refuse(line, err); bad != nil {
				out.Write(bad)
			} else if text := bytes.TrimSpace(line); len(text) > 0 {
				if _, err := w.Write(append(text, '\n')); err != nil {
					return
				}
			}
			if err != nil && !errors.Is(err, errLong) {
				w.CloseWithError(err)
				return
			}
		}
	}()
	return r, gone
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
		return answer(jsonrpc.CodeInvalidRequest, fmt.Sprintf("the message is longer than %d bytes; put large texts into files of the work tree", maxLine))
	case len(text) == 0:
		return nil
	case text[0] == '[':
		return answer(jsonrpc.CodeInvalidRequest, "batches are not supported; send one message a line")
	case !json.Valid(text):
		return answer(jsonrpc.CodeParseError, "the line is not JSON; send one message a line")
	case text[0] != '{':
		return answer(jsonrpc.CodeInvalidRequest, "the line is no JSON-RPC message")
	}
	if wrong := web.Envelope(text); wrong != "" {
		return answerTo(idOf(text), jsonrpc.CodeInvalidRequest, wrong)
	}
	if _, err := jsonrpc.DecodeMessage(text); err != nil {
		return answerTo(idOf(text), jsonrpc.CodeInvalidRequest, fmt.Sprintf("the line is no JSON-RPC message: %.200s", err))
	}
	return nil
}

// idOf returns the id of a message as it is written, null when it has none that could be answered.
func idOf(text []byte) json.RawMessage {
	var m struct {
		ID json.RawMessage `json:"id"`
	}
	if json.Unmarshal(text, &m) != nil || len(m.ID) == 0 || len(m.ID) > 100 || bytes.ContainsAny(m.ID[:1], "{[tf") {
		return json.RawMessage("null")
	}
	return m.ID
}

func answer(code int64, message string) []byte {
	return answerTo(json.RawMessage("null"), code, message)
}

func answerTo(id json.RawMessage, code int64, message string) []byte {
	type rpcError struct {
		Code    int64  `json:"code"`
		Message string `json:"message"`
	}
	text, err := json.Marshal(struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Error   rpcError        `json:"error"`
	}{"2.0", id, rpcError{code, message}})
	if err != nil {
		panic(err) // two strings, a number, and an id that was JSON
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
