package web

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/ferrus-go/ferrus/internal/platform/format"
	"github.com/ferrus-go/ferrus/internal/server/tokens"
)

// gauge is the secret of a token of the role metrics.
const gauge = "s-gauge"

// TestOnlyATokenOfMetricsReadsTheNumbers, and it does nothing else.
func TestOnlyATokenOfMetricsReadsTheNumbers(t *testing.T) {
	t.Parallel()
	fail := false
	p := serve(t, func(o *Options) {
		o.Metrics = func(context.Context) ([]format.Metric, error) {
			if fail {
				return nil, errors.New("the disk is full")
			}
			m := format.Metric{Name: "ferrus_queued_tasks", Type: "gauge", Help: "Tasks in the queue."}
			m.Add(3)
			return []format.Metric{m}, nil
		}
	})
	p.book.all[gauge] = tokens.Token{ID: "tk-000006", Role: tokens.Metrics, Name: "prometheus"}
	scrape := func(method, secret string) (status int, text string) {
		t.Helper()
		resp := p.send(raw{method: method, path: "/metrics", header: map[string]string{"Authorization": secret}})
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		if resp.StatusCode == 200 && resp.Header.Get("Content-Type") != "text/plain; version=0.0.4; charset=utf-8" {
			t.Errorf("it is of the type %s", resp.Header.Get("Content-Type"))
		}
		return resp.StatusCode, string(body)
	}
	for secret, want := range map[string]int{"": 401, "Bearer s-nobody": 401, "Bearer " + old: 401, "Bearer " + boss: 403, "Bearer " + worker: 403, "Bearer " + odd: 403, "Bearer " + gauge: 200} {
		if status, text := scrape("GET", secret); status != want || (want == 200) != strings.Contains(text, "\nferrus_queued_tasks 3\n") {
			t.Errorf("%s: %d %s", secret, status, text)
		}
	}
	if status, _ := scrape("POST", "Bearer "+gauge); status != http.StatusMethodNotAllowed {
		t.Errorf("POST: %d", status)
	}
	for kind, r := range first(gauge) {
		if status, _ := p.status(r); status != 403 {
			t.Errorf("%s for a token of metrics: %d", kind, status)
		}
	}
	fail = true
	if status, text := scrape("GET", "Bearer "+gauge); status != 500 || strings.Contains(text, "disk") {
		t.Errorf("numbers that cannot be read: %d %s", status, text)
	}
	p.site.opts.Metrics = nil
	if status, _ := scrape("GET", "Bearer "+gauge); status != 404 {
		t.Errorf("no numbers: %d", status)
	}
}

// TestTheDurationOfCallsIsCounted by method and tool, of which a client can make up none.
func TestTheDurationOfCallsIsCounted(t *testing.T) {
	t.Parallel()
	p := serve(t)
	c := p.client("legacy", worker, nil)
	for range 2 {
		if _, err := call(t.Context(), c, "who"); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := call(t.Context(), c, "made-up"); err == nil {
		t.Error("a tool that is not there has answered")
	}
	var text strings.Builder
	if err := format.WriteMetrics(&text, []format.Metric{p.site.took.metric()}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"# TYPE mcp_server_operation_duration_seconds histogram\n",
		`mcp_server_operation_duration_seconds_count{mcp_method_name="tools/call",gen_ai_tool_name="who"} 2` + "\n",
		`mcp_server_operation_duration_seconds_count{mcp_method_name="tools/call",error_type="-32602"} 1` + "\n",
		`mcp_server_operation_duration_seconds_count{mcp_method_name="initialize"} 1` + "\n",
	} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("without %s", want)
		}
	}
	if t.Failed() || strings.Contains(text.String(), "made-up") {
		t.Error(text.String())
	}
}
