package cli

import (
	"io"
	"os"
	"strings"
	"testing"
)

// TestATextOfARunIsNoArgument: 200 kB are too long for one, and other users could read it. What is no text stays.
func TestATextOfARunIsNoArgument(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	long := strings.Repeat("x", 200_000)
	args := []string{"--root", "/p", "run", "--headless", "--", long}
	f, err := textFile(args)
	if err != nil || f == nil {
		t.Fatal(f, err)
	}
	defer os.Remove(f.Name())
	defer f.Close()
	if text, err := io.ReadAll(f); err != nil || string(text) != long || strings.Join(args, " ") != "--root /p run --headless -- -" {
		t.Errorf("%v: %d bytes, %.80v", err, len(text), args)
	}
	if info, err := f.Stat(); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	if f, err := textFile([]string{"resume", "--headless"}); f != nil || err != nil {
		t.Error(f, err)
	}
}
