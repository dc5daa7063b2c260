//go:build unix

package ui

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/ferrus-go/ferrus/internal/cli"
)

// TestABlankVariableNamesNoEditor: the next one does.
func TestABlankVariableNamesNoEditor(t *testing.T) {
	editor := filepath.Join(t.TempDir(), "editor")
	if err := os.WriteFile(editor, []byte("#!/bin/sh\necho edited >> \"$1\"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("VISUAL", "  ")
	t.Setenv("EDITOR", " "+editor+" ")
	got, err := editIn(&cli.App{}, nil, nil)(t.Context(), "\ttext")
	if err != nil || got != "text\n\nedited" && got != "text\nedited" {
		t.Errorf("%q, %v", got, err)
	}
}
