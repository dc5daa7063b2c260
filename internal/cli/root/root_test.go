package root

import (
	"bytes"
	"slices"
	"testing"
)

// TestACommandHasTheNameThatItIsFoundBy, so that a command line which names it makes it.
func TestACommandHasTheNameThatItIsFoundBy(t *testing.T) {
	for _, g := range groups {
		for _, c := range g.commands {
			if got := c.make(screen()).Name(); got != c.name {
				t.Errorf("%s is listed as %s", got, c.name)
			}
		}
	}
}

// TestACommandLineMakesWhatItNames, and the help and a word that is no command have the whole tree.
func TestACommandLineMakesWhatItNames(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		args  []string
		whole bool
	}{
		{[]string{"version"}, false},
		{[]string{"/version"}, false},
		{[]string{"-C", dir, "--json", "status"}, false},
		{[]string{"--branch", "run", "token", "list", "-C", dir}, false},
		{[]string{"status", "--help"}, false},
		{[]string{"status", "--no-such"}, false},
		{[]string{"help", "status"}, true},
		{[]string{"help", "states"}, true},
		{[]string{"--help"}, true},
		{[]string{"--version"}, true},
		{[]string{"sttaus"}, true},
		{[]string{"--branch", "status", "sttaus"}, true},
		{[]string{"__complete", "sta"}, true},
		{[]string{"completion", "bash"}, true},
		{[]string{"--no-such"}, true},
	} {
		all := len(Tree(screen()).Commands())
		args := unslashed(c.args)
		if made := len(treeFor(screen(), args).Commands()); (made == all) != c.whole || !c.whole && made > 2 {
			t.Errorf("%q makes %d of %d commands", c.args, made, all)
		}
		var want, got bytes.Buffer
		a, b := screen(), screen()
		a.Out, a.Err, b.Out, b.Err = &want, &want, &got, &got
		root := Tree(a)
		root.SetArgs(args)
		_, err := root.ExecuteC()
		if code := Run(b, t.Context(), c.args); (code == 0) != (err == nil) || err == nil && !bytes.Equal(want.Bytes(), got.Bytes()) {
			t.Errorf("%q: %d, %v, %q, want %q", c.args, code, err, got.String(), want.String())
		}
	}
	if slices.ContainsFunc(topics, func(t topic) bool { return isCommand(t.name) }) {
		t.Error("a topic has the name of a command")
	}
}
