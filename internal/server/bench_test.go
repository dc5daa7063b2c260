//go:build unix

package server

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"
)

// BenchmarkStart starts ferrusd, as it is built for users, and a server of the SDK alone, and takes the time from the
// start of the process to the first result of a tool. It also reports the memory after that, and the bytes of the list.
func BenchmarkStart(b *testing.B) {
	if runtime.GOOS != "linux" {
		b.Skip("reads /proc")
	}
	built := filepath.Join(b.TempDir(), "ferrusd")
	if out, err := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", built, "../../cmd/ferrusd").CombinedOutput(); err != nil {
		b.Fatalf("%v: %s", err, out)
	}
	self, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	dir := project(b, `"true"`)
	for _, kind := range []struct {
		name, program, what string
		args                []string
	}{
		{"ferrusd", built, "", []string{"--role", "executor"}},
		{"ferrusd in the test binary", self, "ferrusd", []string{"--role", "executor"}},
		{"the SDK alone in the test binary", self, "bare", nil},
	} {
		b.Run(kind.name, func(b *testing.B) {
			var rss, size int
			var took time.Duration
			for b.Loop() {
				began := time.Now()
				w := launch(b, kind.program, kind.what, dir, kind.args...)
				w.initialize("2025-11-25")
				if m := w.request("tools/call", `{"name":"status","arguments":{}}`); m.Error != nil || !strings.Contains(string(m.Result), "Idle") {
					b.Fatalf("status: %s", m.Result)
				}
				took += time.Since(began)
				b.StopTimer()
				rss += resident(b, w.cmd.Process.Pid)
				size = len(w.request("tools/list", "{}").Result)
				w.exit(w.leave)
				b.StartTimer()
			}
			b.ReportMetric(float64(took.Microseconds())/1000/float64(b.N), "ms/start")
			b.ReportMetric(float64(rss)/1024/float64(b.N), "MiB-rss")
			b.ReportMetric(float64(size), "list-bytes")
		})
	}
}

// resident is the resident memory of a process in KiB.
func resident(b *testing.B, pid int) int {
	b.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		b.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(status), "VmRSS:")
	n, err := strconv.Atoi(strings.Fields(rest)[0])
	if err != nil {
		b.Fatal(err)
	}
	return n
}

// TestTheListOnTheWireIsSmall counts what a client really receives.
func TestTheListOnTheWireIsSmall(t *testing.T) {
	t.Parallel()
	dir := project(t, `"true"`)
	for _, role := range []string{"supervisor", "executor"} {
		w := ferrusd(t, dir, role)
		result := w.request("tools/list", "{}").Result
		var list struct{ Tools []json.RawMessage }
		if err := json.Unmarshal(result, &list); err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: %d tools, %d bytes", role, len(list.Tools), len(result))
		if len(list.Tools) > 12 || len(result) > 6144 {
			t.Errorf("%s: %d tools, %d bytes", role, len(list.Tools), len(result))
		}
	}
}
