package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"

	"github.com/rogpeppe/go-internal/testscript"
)

// serviceCommand starts a local server that appends what it is sent to a file, until the script ends: service FILE VARIABLE. The
// variable gets its HOST:PORT. It answers as a webhook and as ntfy do.
func serviceCommand(ts *testscript.TestScript, _ bool, args []string) {
	path := ts.MkAbs(args[0])
	var mu sync.Mutex
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		defer f.Close()
		body, _ := io.ReadAll(r.Body)
		_, _ = f.Write(append(body, '\n'))
		_, _ = io.WriteString(w, "{}")
	}))
	ts.Defer(s.Close)
	ts.Setenv(args[1], strings.TrimPrefix(s.URL, "http://"))
}
