//go:build linux

package e2e

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ferrus-go/ferrus/internal/engine/enginetest"
	"github.com/ferrus-go/ferrus/internal/project/agreement"
	"github.com/ferrus-go/ferrus/internal/server/tokens"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/test/kit"
)

// TestPrometheusReadsTheNumbers: the real one scrapes a server by a token of metrics, and answers each query of the dashboard.
func TestPrometheusReadsTheNumbers(t *testing.T) {
	t.Parallel()
	prometheus, err := exec.LookPath("prometheus")
	if err != nil {
		t.Skip("prometheus is not installed: apt-get install prometheus")
	}
	p := enginetest.Repository(t, enginetest.Gate("true"))
	if err := agreement.Agree(p.Dir); err != nil {
		t.Fatal(err)
	}
	ex := p.Executor("codex")
	enginetest.Must(p.Supervisor().CreateTask(t.Context(), "Build it.", ""))(t)
	enginetest.Claim(t, ex)
	enginetest.Check(t, ex, state.CheckGreen)
	secret, _, err := tokens.Open(filepath.Join(p.Dir, ".ferrus")).New(tokens.Metrics, "prometheus", time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	served := &post{soak: &soak{storm: &storm{world: &world{t: t, dir: p.Dir}}}}
	served.begin()
	target := strings.TrimSuffix(strings.TrimPrefix(served.address(), "http://"), "/mcp")

	dir := t.TempDir()
	config := filepath.Join(dir, "prometheus.yml")
	text := fmt.Sprintf("scrape_configs:\n- job_name: ferrus\n  scrape_interval: 1s\n  scrape_timeout: 1s\n  authorization:\n    credentials: %s\n  static_configs:\n  - targets: [%q]\n", secret, target)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	at := freeAddress(t)
	cmd := exec.Command(prometheus, "--config.file="+config, "--storage.tsdb.path="+filepath.Join(dir, "data"), "--web.listen-address="+at)
	said := &said{}
	cmd.Stderr = said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })

	query := func(expr string) (values []string) {
		resp, err := http.Get("http://" + at + "/api/v1/query?query=" + url.QueryEscape(expr))
		if err != nil {
			return nil // it does not listen yet
		}
		defer resp.Body.Close()
		var answer struct {
			Status, Error string
			Data          struct{ Result []struct{ Value [2]any } }
		}
		err = json.NewDecoder(resp.Body).Decode(&answer)
		if resp.StatusCode == http.StatusServiceUnavailable {
			return nil // it starts
		}
		if err != nil || answer.Status != "success" {
			t.Fatalf("%s: %v %s", expr, err, answer.Error)
		}
		for _, r := range answer.Data.Result {
			values = append(values, fmt.Sprint(r.Value[1]))
		}
		return values
	}
	// On a busy computer a scrape may take longer than it may; the next ones do not.
	answers := func(what, expr string, fits func(values []string) bool) {
		t.Helper()
		got := []string(nil)
		defer func() {
			if t.Failed() {
				t.Logf("%s is %v\n%s", expr, got, said)
			}
		}()
		kit.Eventually(t, what+" is answered by "+expr, func() bool {
			got = query(expr)
			return fits(got)
		})
	}
	some := func(values []string) bool { return len(values) > 0 }
	answers("two scrapes", `sum_over_time(up{job="ferrus"}[1h]) >= 2`, some)
	for expr, want := range map[string]string{`sum(ferrus_tasks)`: "1", `ferrus_transitions_total{event="check_passed"}`: "1", `ferrus_build_info`: "1"} {
		answers(want, expr, func(values []string) bool { return slices.Equal(values, []string{want}) })
	}
	var dashboard struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
	}
	board, err := os.ReadFile("../../docs/grafana.json")
	if err == nil {
		err = json.Unmarshal(board, &dashboard)
	}
	if err != nil || len(dashboard.Panels) < 10 {
		t.Fatalf("the dashboard has %d panels: %v", len(dashboard.Panels), err)
	}
	for _, panel := range dashboard.Panels {
		for _, target := range panel.Targets {
			answers(panel.Title, target.Expr, some)
		}
	}
}

// freeAddress is an address of the loopback at which nobody listens at the moment.
func freeAddress(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}
