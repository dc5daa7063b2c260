package worktree_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/ferrus-go/ferrus/internal/worktree/worktreetest"
)

func TestAPatchMakesTheSameTree(t *testing.T) {
	t.Parallel()
	dir := committed(t)
	write(t, dir, "bin", "\x00\x01\x02")
	write(t, dir, "old name", strings.Repeat("line\n", 20))
	tree := open(t, dir)
	from, err := tree.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	base := filepath.Join(t.TempDir(), "base")
	runGit(t, dir, "add", "-A", ":!.ferrus")
	runGit(t, dir, "commit", "-qm", "base")
	runGit(t, dir, "clone", "-q", dir, base)
	// Settings that change what a person's git diff prints.
	configure(t, dir, "[diff]\nnoprefix = true\nexternal = false\ncontext = 0\nmnemonicPrefix = true\n[color]\nui = always\n")

	write(t, dir, "bin", "\x00\xff\x02")
	write(t, dir, "a.txt", "no newline")
	remove(t, dir, "src/b.go")
	remove(t, dir, "old name")
	write(t, dir, "new name", strings.Repeat("line\n", 20))
	write(t, dir, "-dash", "x")
	write(t, dir, "empty", "")
	if runtime.GOOS != "windows" {
		write(t, dir, "quo\"te\nnewline\ttab", "x")
		write(t, dir, "umlaut \u00fc", "x")
		link(t, "a.txt", filepath.Join(dir, "link"))
		write(t, dir, "run.sh", "#!/bin/sh\n")
		if err := os.Chmod(filepath.Join(dir, "run.sh"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if runtime.GOOS == "linux" {
		write(t, dir, "latin \xfc", "x")
	}
	to := fingerprint(t, tree)
	var patch bytes.Buffer
	if err := tree.Patch(t.Context(), from, to, &patch); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Dir(base), "p", patch.String())
	runGit(t, base, "apply", filepath.Join(filepath.Dir(base), "p"))
	if got := fresh(t, base); got != to {
		t.Errorf("applied: %s, want %s", got, to)
	}

	paths, err := tree.Changed(t.Context(), from, to)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"-dash", "a.txt", "bin", "new name", "old name", "src/b.go"} {
		if !slices.Contains(paths, want) {
			t.Errorf("Changed lacks %q: %q", want, paths)
		}
	}
	if runtime.GOOS == "linux" && (!slices.Contains(paths, `"latin \xfc"`) || !slices.Contains(paths, `"quo\"te\nnewline\ttab"`)) {
		t.Errorf("Changed does not quote: %q", paths)
	}
	stat, err := tree.Diffstat(t.Context(), from, to)
	if err != nil || !strings.Contains(stat, "old name => new name") || !strings.Contains(stat, "files changed") {
		t.Errorf("Diffstat: %v\n%s", err, stat)
	}
	if stat, err := tree.Diffstat(t.Context(), to, to); stat != "no changes\n" || err != nil {
		t.Errorf("Diffstat of equals: %q, %v", stat, err)
	}
}

func TestTextsAreBounded(t *testing.T) {
	t.Parallel()
	dir := committed(t)
	tree := open(t, dir)
	from := fingerprint(t, tree)
	for i := range 250 {
		write(t, dir, fmt.Sprintf("n/%03d", i), "x\n")
	}
	to := fingerprint(t, tree)
	paths, err := tree.Changed(t.Context(), from, to)
	if err != nil || len(paths) != 101 || paths[100] != "… and 150 more" {
		t.Errorf("Changed: %d paths, last %q, %v", len(paths), paths[len(paths)-1], err)
	}
	stat, err := tree.Diffstat(t.Context(), from, to)
	if lines := strings.Count(stat, "\n"); err != nil || lines > 62 || !strings.Contains(stat, "250 files changed") {
		t.Errorf("Diffstat: %d lines, %v\n%s", lines, err, stat)
	}
}

func TestOnlyWholeIDsAreCompared(t *testing.T) {
	t.Parallel()
	dir := committed(t)
	tree := open(t, dir)
	id := fingerprint(t, tree)
	for _, bad := range []string{"HEAD", "--output=x", id[:7], id + "\n", strings.Repeat("0", 39) + "1"} {
		if _, err := tree.Changed(t.Context(), bad, id); err == nil {
			t.Errorf("%q is taken for an id", bad)
		}
	}
}

type full struct{}

var errFull = errors.New("full")

func (full) Write([]byte) (int, error) { return 0, errFull }

func TestAPatchReturnsTheErrorOfItsWriter(t *testing.T) {
	t.Parallel()
	dir := committed(t)
	tree := open(t, dir)
	if err := tree.Patch(t.Context(), "", fingerprint(t, tree), full{}); !errors.Is(err, errFull) {
		t.Errorf("err = %v", err)
	}
}

func BenchmarkFingerprint(b *testing.B) {
	dir := repository(b)
	for i := range 2000 {
		write(b, dir, fmt.Sprintf("d%02d/f%04d.go", i%40, i), fmt.Sprintf("package d // %d\n", i))
	}
	runGit(b, dir, "add", ".")
	runGit(b, dir, "commit", "-qm", "one")
	tree := open(b, dir)
	fingerprint(b, tree)
	b.Run("unchanged", func(b *testing.B) {
		for b.Loop() {
			fingerprint(b, tree)
		}
	})
	b.Run("one edit", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			write(b, dir, "d00/f0000.go", fmt.Sprint(i))
			fingerprint(b, tree)
		}
	})
	b.Run("snapshot of one edit", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			write(b, dir, "d00/f0000.go", fmt.Sprint("s", i))
			if _, err := tree.Snapshot(context.Background()); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("git write-tree", func(b *testing.B) {
		for b.Loop() {
			runGit(b, dir, "write-tree")
		}
	})
	b.Run("git status", func(b *testing.B) {
		for b.Loop() {
			runGit(b, dir, "status", "--porcelain")
		}
	})
}

func TestWhatLiesInFilesOfItsOwnIsReadWithoutGit(t *testing.T) {
	dir := committed(t)
	tree := open(t, dir)
	from, err := tree.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	write(t, dir, "src/c.go", "package c\n")
	to, err := tree.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	calls := filepath.Join(t.TempDir(), "calls")
	worktreetest.Wrap(t, "echo call >>'"+calls+"'")
	got, err := tree.ChangedPaths(t.Context(), from, to)
	if err != nil || !slices.Equal(got, []string{"src/c.go"}) {
		t.Fatalf("%q, %v", got, err)
	}
	if _, err := tree.Verify(t.Context(), from, to, 1, 1<<20); err != nil {
		t.Fatal(err)
	}
	if text, _ := os.ReadFile(calls); len(text) > 0 {
		t.Errorf("git was called: %q", text)
	}
}
