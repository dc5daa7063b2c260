package proc_test

import (
	"context"
	"runtime"
	"testing"
	"time"

	"github.com/ferrus-go/ferrus/internal/platform/proc"
)

// TestAShellCommandSaysHowItEnded: the words are those of the shell's user, and the output is behind them.
func TestAShellCommandSaysHowItEnded(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the lines are those of a Unix shell")
	}
	for _, c := range []struct {
		line  string
		limit time.Duration
		want  string
	}{
		{"cat > /dev/null", time.Minute, ""},
		{"echo no; exit 3", time.Minute, "exit status 3: no\n"},
		{"echo no; kill -9 $$", time.Minute, "SIGKILL ended it: no\n"},
		{`echo "$OTHER$PGPASSWORD"; exit 3`, time.Minute, "exit status 3: given\n"},
		{"exec sleep 60", 50 * time.Millisecond, "it did not end within 50ms: "},
	} {
		err := proc.RunShell(context.Background(), c.limit, c.line, t.TempDir(), "text", []string{"OTHER=given", "PGPASSWORD=secret"})
		got := ""
		if err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.line, got, c.want)
		}
	}
}
