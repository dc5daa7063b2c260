package gate

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"
)

// TestAPanicIsAnErrorAndInTheLog.
func TestAPanicIsAnErrorAndInTheLog(t *testing.T) {
	var said bytes.Buffer
	log, other := slog.New(slog.NewTextHandler(&said, nil)), errors.New("another")
	if err := Safely(log, "there", func() error { panic("a bug") }); !errors.Is(err, ErrBug) {
		t.Errorf("%v", err)
	}
	if !strings.Contains(said.String(), "a bug") || !strings.Contains(said.String(), "there") || !strings.Contains(said.String(), "server_test.go") {
		t.Errorf("the log says %s", &said)
	}
	if err := Safely(log, "there", func() error { return other }); !errors.Is(err, other) {
		t.Errorf("%v", err)
	}
}
