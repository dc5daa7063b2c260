package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrus-go/ferrus/internal/cli"
	"github.com/ferrus-go/ferrus/internal/cli/root"
	setupcmd "github.com/ferrus-go/ferrus/internal/cli/setup"
	"github.com/ferrus-go/ferrus/internal/config"
	"github.com/ferrus-go/ferrus/internal/config/workflow"
	"github.com/ferrus-go/ferrus/internal/pipeline/run"
	"github.com/ferrus-go/ferrus/test/golden"
	"github.com/ferrus-go/ferrus/test/sharedtest"
)

// TestTheSameFilesAreDecidedTheSame, byte for byte (X6), and to look changes none of them.
func TestTheSameFilesAreDecidedTheSame(t *testing.T) {
	t.Setenv("FERRUS_AGENT", "researcher-a:command:1") // an agent may look too
	const file = "testdata/tick.golden"
	for range 2 {
		dir := walk(t)
		before := listing(t, dir)
		var out bytes.Buffer
		a := &cli.App{In: os.Stdin, Out: &out, Err: os.Stderr, Dir: dir}
		if code := root.Run(a, t.Context(), []string{"-C", dir, "tick", "--dry-run", "--json"}); code != cli.ExitOK {
			t.Fatalf("exit code %d", code)
		}
		if diff := cmp.Diff(before, listing(t, dir)); diff != "" {
			t.Error(diff)
		}
		golden.Check(t, file, out.String())
	}
}

// walk makes a project with a run for each of the decisions of the specification's walk, launched long ago.
func walk(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if _, err := setupcmd.SetUp((&cli.App{}), t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	sharedtest.Move(t, dir)
	text, err := os.ReadFile("../../internal/pipeline/testdata/workflows.json")
	if err != nil {
		t.Fatal(err)
	}
	all, err := workflow.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	at := run.At(dir, config.Default().Pipelines)
	launched := time.Date(2020, 11, 20, 18, 1, 41, 0, time.UTC)
	for i, outputs := range [][]string{nil, {"researcher-a.md"}, {"researcher-a.md", "researcher-b.md"},
		{"researcher-a.md", "researcher-b.md", "synthesizer.md"}} {
		now := launched.Add(time.Duration(i) * time.Hour)
		f, err := at.Launch(all[0], "FSA architecture", at.Settings(config.Default()), now)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range append(outputs, "workflow.json") {
			path := f.Path(name)
			if name != "workflow.json" {
				if err := os.WriteFile(path, []byte("by "+name+"\n"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.Chtimes(path, now, now); err != nil {
				t.Fatal(err)
			}
		}
	}
	return dir
}

// listing are the files below a folder with their contents.
func listing(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		files[path] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}
