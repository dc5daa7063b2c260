package log

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/ferrus-go/ferrus/internal/agents"
	"github.com/ferrus-go/ferrus/internal/cli"
	"github.com/ferrus-go/ferrus/internal/engine/enginetest"
)

// TestATraceIsSentAsACollectorTakesIt: the request that --json prints, at the path of OTLP, with the headers of the environment. What a collector
// refuses is said in its words, and a redirect is not followed: the headers may be secret.
func TestATraceIsSentAsACollectorTakesIt(t *testing.T) {
	p := enginetest.Repository(t, enginetest.Gate("true"))
	ex := p.Executor("codex")
	enginetest.Must(p.Supervisor().CreateTask(t.Context(), "Build the secret.", ""))(t)
	enginetest.Claim(t, ex)
	var got []byte
	var path, header, kind string
	requests := 0
	answer := http.StatusOK
	sink := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests++
		got, _ = io.ReadAll(r.Body)
		path, header, kind = r.URL.Path, r.Header.Get("Authorization"), r.Header.Get("Content-Type")
		if w.Header().Set("Location", "/elsewhere"); answer != http.StatusOK {
			w.WriteHeader(answer)
			_, _ = io.WriteString(w, "no\x1b[31m room")
		}
	}))
	defer sink.Close()
	t.Setenv("OTEL_EXPORTER_OTLP_HEADERS", "authorization=Bearer%20s3cret,x=y")
	address, err := collector(sink.URL)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	a := &cli.App{Dir: p.Dir, Out: &out, Err: &out}
	if err := sendTrace(a, t.Context(), "", address); err != nil {
		t.Fatal(err)
	}
	id := enginetest.View(t, ex).Task.TaskID
	if !strings.Contains(out.String(), "sent 1 span: trace "+agents.TraceID(id)) || path != "/v1/traces" || header != "Bearer s3cret" || kind != "application/json" {
		t.Errorf("%s to %s with %q as %s", &out, path, header, kind)
	}
	out.Reset()
	a.JSON = true
	if err := showTrace(a, t.Context(), id); err != nil {
		t.Fatal(err)
	}
	var sent, shown any
	if json.Unmarshal(got, &sent) != nil || json.Unmarshal(out.Bytes(), &shown) != nil || !equalJSON(sent, shown) {
		t.Errorf("sent\n%s\nand shown\n%s", got, &out)
	}
	if bytes.Contains(got, []byte("secret")) || bytes.Contains(got, []byte(p.Dir)) || bytes.Contains(got, []byte("code.txt")) {
		t.Errorf("a text of the task is sent:\n%s", got)
	}
	for _, answer = range []int{http.StatusInsufficientStorage, http.StatusFound} {
		requests = 0
		err := sendTrace(a, t.Context(), "", address)
		if err == nil || !strings.Contains(err.Error(), "the collector answers") || strings.Contains(err.Error(), "\x1b") || requests != 1 {
			t.Errorf("%d: %v after %d requests", answer, err, requests)
		}
	}
	for text, want := range map[string]string{"http://h:1": "http://h:1/v1/traces", "https://h/": "https://h/v1/traces", "http://h/x/v1/traces": "http://h/x/v1/traces",
		"h:1": "", "ftp://h": "", "": "", "http://": ""} {
		if got, err := collector(text); got != want || (err == nil) != (want != "") {
			t.Errorf("%q is %q, %v", text, got, err)
		}
	}
}

// equalJSON compares what was decoded.
func equalJSON(a, b any) bool {
	x, _ := json.Marshal(a)
	y, _ := json.Marshal(b)
	return bytes.Equal(x, y)
}
