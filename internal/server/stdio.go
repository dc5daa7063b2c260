package server

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ferrus-go/ferrus/internal/server/web"
)

// maxLine is the longest message in bytes that a client may send.
const maxLine = 16 << 20

// A stdio is the transport to one client over a pair of streams, with one message on each line. It
// answers a line that is not a single JSON-RPC message itself; the SDK's transport would end the
// session, even for a blank before the end of a line. It reads a line once, the SDK's four times.
// Closing it does not end a Read: only the client or the end of the process does.
type stdio struct {
	in   *bufio.Reader
	out  io.Writer
	left chan struct{} // closed after the client has closed its end and the SDK has the last message
	err  error         // why reading ended; nil before left is closed

	writing sync.Mutex // serializes writers
}

// overStdio returns the transport to the client that writes to in and reads from out. It never
// closes them.
func overStdio(in io.Reader, out io.Writer) *stdio {
	return &stdio{in: bufio.NewReaderSize(in, 64<<10), out: out, left: make(chan struct{})}
}

// Connect returns the transport, which is the only connection.
func (s *stdio) Connect(context.Context) (mcp.Connection, error) { return s, nil }

// Close does nothing: the streams belong to the process, and end with it.
func (s *stdio) Close() error { return nil }

// SessionID returns "": there is only one session.
func (s *stdio) SessionID() string { return "" }

// Read returns the next message, or io.EOF after the last one.
func (s *stdio) Read(context.Context) (jsonrpc.Message, error) {
	for s.err == nil {
		line, err := readLine(s.in)
		message, bad := decode(bytes.TrimSpace(line), err)
		if bad != nil {
			s.write(bad)
		}
		if err != nil && !errors.Is(err, errLong) {
			s.err = err
			defer close(s.left)
		}
		if message != nil {
			return message, nil
		}
	}
	return nil, s.err
}

// Write sends a message.
func (s *stdio) Write(ctx context.Context, m jsonrpc.Message) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	text, err := jsonrpc.EncodeMessage(m)
	if err != nil {
		return err
	}
	return s.write(append(text, '\n'))
}

func (s *stdio) write(line []byte) error {
	s.writing.Lock()
	defer s.writing.Unlock()
	_, err := s.out.Write(line)
	return err
}

var errLong = errors.New("too long")

// readLine reads one line with its end. Of a line over maxLine it returns the beginning and skips
// the rest.
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

// decode returns the message of a line, or the answer to a line that is not a message. For a blank
// line it returns neither.
func decode(text []byte, err error) (m jsonrpc.Message, refusal []byte) {
	switch {
	case errors.Is(err, errLong):
		return nil, answer(jsonrpc.CodeInvalidRequest, fmt.Sprintf("the message is longer than %d bytes; put large texts into files of the work tree", maxLine))
	case len(text) == 0:
		return nil, nil
	case text[0] == '[':
		return nil, answer(jsonrpc.CodeInvalidRequest, "batches are not supported; send one message a line")
	case !json.Valid(text):
		return nil, answer(jsonrpc.CodeParseError, "the line is not JSON; send one message a line")
	case text[0] != '{':
		return nil, answer(jsonrpc.CodeInvalidRequest, "the line is no JSON-RPC message")
	}
	if wrong := web.Envelope(text); wrong != "" {
		return nil, answerTo(idOf(text), jsonrpc.CodeInvalidRequest, wrong)
	}
	if m, err = jsonrpc.DecodeMessage(text); err != nil {
		return nil, answerTo(idOf(text), jsonrpc.CodeInvalidRequest, fmt.Sprintf("the line is no JSON-RPC message: %.200s", err))
	}
	return m, nil
}

// idOf returns the id of a message as it was written, null when it has no usable id.
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
