package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ferrus-go/ferrus/internal/engine/checks"
)

// TestWhatTakesLongShowsThatItIsAtWork: on a terminal a line that is drawn again each second and is gone at the end, elsewhere a plain
// line now and then, each with the last line of output; and nothing of what is quick, or for a program.
func TestWhatTakesLongShowsThatItIsAtWork(t *testing.T) {
	t.Parallel()
	log := filepath.Join(t.TempDir(), "check.log")
	if err := os.WriteFile(log, []byte("==> [1/1] make test\nok one\n 10%\r 20%\x1b[1m\n \n"), 0o600); err != nil {
		t.Fatal(err)
	}
	erased := regexp.MustCompile("\r\x1b\\[[0-9]+A\x1b\\[J")
	for name, c := range map[string]struct {
		app         App
		takes       time.Duration
		out, stderr []string
	}{
		"quick on a terminal":   {App{OutTTY: true}, quick - time.Millisecond, nil, nil},
		"on a terminal":         {App{OutTTY: true}, quick + redraw + time.Millisecond, []string{"merging for 2 s: 20%", "merging for 3 s: 20%", ""}, nil},
		"stdout is a file":      {App{ErrTTY: true}, quick + time.Millisecond, nil, []string{"merging for 2 s: 20%", ""}},
		"quick without one":     {App{}, patient - time.Millisecond, nil, nil},
		"without a terminal":    {App{}, 4*patient + time.Millisecond, nil, []string{"merging for 30 s: 20%\nmerging for 60 s: 20%\nmerging for 2 min: 20%"}},
		"for a program":         {App{JSON: true, OutTTY: true, ErrTTY: true}, time.Hour, nil, nil},
		"of an act on the page": {App{Via: "web"}, time.Hour, nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var out, stderr bytes.Buffer
				a := c.app
				a.Out, a.Err = &out, &stderr
				ctx, end := a.Working(t.Context(), "merging")
				checks.Begun(ctx, checks.Spec{Log: log})
				time.Sleep(c.takes)
				end()
				end()
				time.Sleep(time.Hour)
				for stream, got := range map[string]string{"stdout": out.String(), "stderr": stderr.String()} {
					want := map[string][]string{"stdout": c.out, "stderr": c.stderr}[stream]
					var pieces []string
					for _, p := range erased.Split(got, -1) {
						pieces = append(pieces, strings.TrimSpace(p))
					}
					if strings.Join(pieces, "|") != strings.Join(want, "|") {
						t.Errorf("%s has %q, not %q", stream, pieces, want)
					}
				}
			})
		})
	}
}

// TestTheLastLineOfALogIsOneWithWords, whatever the log is.
func TestTheLastLineOfALogIsOneWithWords(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for text, want := range map[string]string{"": "", "\n\r\n": "", "a\nb": "b", "a\x1b[31m\n\t\n": "a", strings.Repeat("x\n", maxLast) + "last\n": "last"} {
		log := filepath.Join(dir, "log")
		if err := os.WriteFile(log, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := lastLine(log); got != want {
			t.Errorf("%.20q: %q, not %q", text, got, want)
		}
	}
	for _, log := range []string{"", filepath.Join(dir, "none"), dir} {
		if got := lastLine(log); got != "" {
			t.Errorf("%q has the last line %q", log, got)
		}
	}
}
