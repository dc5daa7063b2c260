package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ferrus-go/ferrus/internal/cli"
	"github.com/ferrus-go/ferrus/internal/cli/status"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/test/projecttest"
	"github.com/ferrus-go/ferrus/test/sharedtest"
)

// TestTheOverviewHasEveryMachine: the project's own and the branches, each with what it has archived, newest first, and one
// that cannot be read takes no other with it.
func TestTheOverviewHasEveryMachine(t *testing.T) {
	sharedtest.InFiles(t, "it damages the journal of a branch")
	dir := projecttest.New(t, "alt", "bad")
	own, alt := project.At(dir, ""), project.At(dir, "alt")
	first, second := projecttest.Task(t, own, "first"), projecttest.Task(t, alt, "second")
	projecttest.Task(t, own, "third")
	projecttest.Task(t, alt, "fourth")
	if err := os.Mkdir(filepath.Join(own.Dir(), "branches", "none"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(own.Dir(), "branches", "bad", "journal.jsonl"), []byte("no line\nat all\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	a := &cli.App{Out: &out, Err: &out}
	v, err := status.Survey(a, t.Context(), dir, 10)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range v.Machines {
		got = append(got, strings.TrimSpace(m.Branch+" "+m.Title+" "+string(m.State)))
	}
	if want := []string{"third Executing", "alt fourth Executing", "bad"}; !slices.Equal(got, want) || v.Machines[2].Error == "" {
		t.Errorf("there are %q", got)
	}
	got = nil
	for _, x := range v.Archived {
		got = append(got, strings.TrimSpace(x.Branch+" "+x.TaskID+" "+x.Title+" "+x.Outcome()))
	}
	slices.Sort(got) // their order has a test of its own: these may have ended in one millisecond
	if want := []string{"alt " + second + " second abandoned", first + " first abandoned"}; !slices.Equal(got, want) {
		t.Errorf("archived are %q, not %q", got, want)
	}
	status.ShowOverview(a, v)
	for _, words := range []string{"project ", "\nalt ", "\nbad ", "cannot be read", "(alt)"} {
		if !strings.Contains(out.String(), words) {
			t.Errorf("no %q in\n%s", words, out.String())
		}
	}
	if v, err := status.Survey(a, t.Context(), dir, 1); err != nil || len(v.Archived) != 1 || v.More != 1 {
		t.Errorf("%+v: %v", v, err)
	}
}
