package main

import (
	"bytes"
	"context"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ferrus-go/ferrus/internal/cli"
	"github.com/ferrus-go/ferrus/internal/cli/root"
)

// internals are words of libraries, which help nobody at a terminal.
var internals = regexp.MustCompile(`strconv\.|invalid syntax|json:|toml:|time: |context deadline|parse error|signal: `)

// TestAWrongCommandLineIsAnsweredInPlainWords: each flag of each command with a wrong value, and each command with too many
// arguments, exits with 2 or says what else is wrong, and no line repeats itself.
func TestAWrongCommandLineIsAnsweredInPlainWords(t *testing.T) {
	dir := t.TempDir()
	cases := [][]string{{"foo"}, {"help", "foo"}, {"token", "foo"}, {"config", "foo"}, {"status", "--nope"}}
	all(root.Tree((&cli.App{})), func(c *cobra.Command) {
		path := strings.Fields(c.CommandPath())[1:]
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			switch f.Value.Type() {
			case "int", "uint", "bool", "duration", "int64", "uint64", "float64":
				cases = append(cases, append(path, "--"+f.Name+"=none"), append(path, "--"+f.Name+"=99999999999999999999"))
			}
		})
		if c.Args != nil && c.Args(c, []string{"1", "2", "3", "4"}) != nil {
			cases = append(cases, append(path, "1", "2", "3", "4"))
		}
	})
	if len(cases) < 60 {
		t.Errorf("there are %d cases", len(cases))
	}
	for _, args := range cases {
		var out, said bytes.Buffer
		a := &cli.App{In: strings.NewReader(""), Out: &out, Err: &said}
		code := root.Run(a, context.Background(), append([]string{"-C", dir}, args...))
		first, remedy, _ := strings.Cut(said.String(), "\n")
		if code != cli.ExitUsage || !strings.HasPrefix(first, "ferrus: ") || strings.TrimSpace(remedy) == "" || internals.MatchString(said.String()) {
			t.Errorf("ferrus %v: exit code %d\n%s", args, code, &said)
		}
		parts := strings.Split(first, ": ")
		for i := 1; i < len(parts); i++ {
			if parts[i] == parts[i-1] {
				t.Errorf("ferrus %v: %q repeats itself", args, first)
			}
		}
	}
}
