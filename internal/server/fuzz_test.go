package server

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// FuzzLines: whatever a client writes, what goes on to the SDK is a message for a line, every other line but a blank one
// is answered by one error, and none is lost.
func FuzzLines(f *testing.F) {
	const ping = `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	for _, s := range []string{"", "\n", ping, ping + "\n" + ping + "\r\n", "  " + ping + " \t\n", "[" + ping + "]\n", "{}\n{\n", "null\n\x00\xff\n",
		`{"jsonrpc":"2.0","id":{},"method":"ping"}` + "\n", `{"jsonrpc":"1.0","id":"é","method":"ping"}` + "\n",
		`{"jsonrpc":"2.0","result":{},"id":7}` + "\n", `{"jsonrpc":"2.0","id":1e400,"method":5}` + "\n"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var answers bytes.Buffer
		in, err := overStdio(bytes.NewReader(data), &answers).Connect(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var passed []jsonrpc.Message
		for {
			m, err := in.Read(t.Context())
			if err == io.EOF {
				break
			}
			if err != nil || m == nil {
				t.Fatalf("%q: passed on %v: %v", data, m, err)
			}
			passed = append(passed, m)
		}
		n := len(passed)
		for line := range bytes.Lines(answers.Bytes()) {
			var a struct {
				ID    json.RawMessage `json:"id"`
				Error struct {
					Code    int
					Message string
				}
			}
			if err := json.Unmarshal(line, &a); err != nil || a.Error.Code >= 0 || a.Error.Message == "" || a.ID == nil {
				t.Fatalf("%q: answered %q: %v", data, line, err)
			}
			n++
		}
		for line := range strings.Lines(string(data)) {
			if strings.TrimSpace(line) != "" {
				n--
			}
		}
		if n != 0 {
			t.Fatalf("%q: %d more answers and messages than lines:\n%s\n%s", data, n, passed, answers.String())
		}
	})
}
