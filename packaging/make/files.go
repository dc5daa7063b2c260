package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ferrus-go/ferrus/internal/cli"
	"github.com/ferrus-go/ferrus/internal/cli/root"
)

// files writes man pages, completions, the licences of what is linked in, a link named ferrusd, and server.json with the version.
func files(args []string) error {
	dir, version, date := args[0], args[1], args[2]
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	tree := root.Tree(&cli.App{})
	for name, text := range manual(tree, version, date) {
		if err := write(filepath.Join(dir, "man", name+".1"), []byte(text), 0o644); err != nil {
			return err
		}
	}
	for name, generate := range map[string]func(io.Writer) error{
		"ferrus.bash": func(w io.Writer) error { return tree.GenBashCompletionV2(w, true) },
		"_ferrus":     tree.GenZshCompletion,
		"ferrus.fish": func(w io.Writer) error { return tree.GenFishCompletion(w, true) },
		"ferrus.ps1":  tree.GenPowerShellCompletionWithDesc,
	} {
		var b bytes.Buffer
		if err := generate(&b); err != nil {
			return err
		}
		if err := write(filepath.Join(dir, "completions", name), b.Bytes(), 0o644); err != nil {
			return err
		}
	}
	text, err := notices()
	if err != nil {
		return err
	}
	if err := write(filepath.Join(dir, "THIRD-PARTY-NOTICES.txt"), text, 0o644); err != nil {
		return err
	}
	if text, err = os.ReadFile("packaging/server.json"); err != nil {
		return err
	}
	if err := write(filepath.Join(dir, "server.json"), bytes.ReplaceAll(text, []byte("0.0.0"), []byte(version)), 0o644); err != nil {
		return err
	}
	// Archives take the link as it is. It is looked up before, and so needs a file that it leads to.
	if err := write(filepath.Join(dir, "link", "ferrus"), nil, 0o644); err != nil {
		return err
	}
	return os.Symlink("ferrus", filepath.Join(dir, "link", "ferrusd"))
}

// systems are those for which programs are built: their dependencies differ.
var systems = []string{"linux", "darwin", "windows"}

// notices returns the licences of all modules that are linked into ferrus on any system, and that of Go. A module without one is an error.
func notices() ([]byte, error) {
	var modules []string
	for _, system := range systems {
		list := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}} {{.Dir}}{{end}}{{end}}", "./cmd/ferrus")
		list.Env = append(os.Environ(), "GOOS="+system, "CGO_ENABLED=0")
		list.Stderr = os.Stderr
		out, err := list.Output()
		if err != nil {
			return nil, err
		}
		modules = append(modules, strings.Split(strings.TrimSpace(string(out)), "\n")...)
	}
	out, err := exec.Command("go", "env", "GOVERSION", "GOROOT").Output()
	if err != nil {
		return nil, err
	}
	modules = append(modules, "Go "+strings.Join(strings.Fields(string(out)), " "))
	slices.Sort(modules)
	var b bytes.Buffer
	b.WriteString("ferrus contains these modules, under these licences.\n")
	for _, line := range slices.Compact(modules) {
		f := strings.Fields(line)
		if len(f) == 0 {
			continue
		}
		entries, err := os.ReadDir(f[2])
		if err != nil {
			return nil, err
		}
		found := false
		for _, e := range entries {
			name := strings.ToUpper(e.Name())
			if !e.Type().IsRegular() || !slices.ContainsFunc([]string{"LICENSE", "LICENCE", "COPYING", "NOTICE"}, func(p string) bool { return strings.HasPrefix(name, p) }) {
				continue
			}
			text, err := os.ReadFile(filepath.Join(f[2], e.Name()))
			if err != nil {
				return nil, err
			}
			found = true
			fmt.Fprintf(&b, "\n%s\n%s %s: %s\n\n%s\n", strings.Repeat("-", 80), f[0], f[1], e.Name(), bytes.TrimSpace(text))
		}
		if !found {
			return nil, fmt.Errorf("%s %s has no licence: name one in packaging/make/files.go, or do without the module", f[0], f[1])
		}
	}
	return b.Bytes(), nil
}

// manual returns the manual pages by their names: ferrus, ferrusd, and one for each command with those below it.
func manual(tree *cobra.Command, version, date string) map[string]string {
	day, _, _ := strings.Cut(date, "T")
	head := func(name string) string {
		return fmt.Sprintf(".TH %q 1 %q %q \"ferrus\"\n", strings.ToUpper(name), day, "ferrus "+version)
	}
	var b strings.Builder
	pages := map[string]string{}
	b.WriteString(head("ferrus") + ".SH NAME\nferrus \\- " + roff(strings.ToLower(tree.Short)) + "\n.SH SYNOPSIS\n.B ferrus\nCOMMAND [FLAGS]\n" +
		".SH DESCRIPTION\n" + prose(tree.Long))
	for _, g := range tree.Groups() {
		fmt.Fprintf(&b, ".SH %q\n", strings.ToUpper(strings.TrimSuffix(g.Title, ":")))
		for _, c := range tree.Commands() {
			if c.GroupID != g.ID || c.IsAdditionalHelpTopicCommand() {
				continue
			}
			name := "ferrus-" + c.Name()
			fmt.Fprintf(&b, ".TP\n.BR %s (1)\n%s\n", roff(name), roff(c.Short))
			pages[name] = head(name) + ".SH NAME\n" + roff(name) + " \\- " + roff(c.Short) + "\n" + command(c, true) + ".SH SEE ALSO\n.BR ferrus (1)\n"
		}
	}
	b.WriteString(".SH FLAGS OF ALL COMMANDS\n" + flags(tree, true))
	for _, c := range tree.Commands() {
		if c.IsAdditionalHelpTopicCommand() {
			fmt.Fprintf(&b, ".SH %q\n%s", strings.ToUpper(c.Short), code(c.Long))
		}
	}
	pages["ferrus"] = b.String()
	pages["ferrusd"] = head("ferrusd") + ".SH NAME\nferrusd \\- " + roff("the MCP server of ferrus") + "\n.SH SYNOPSIS\n.B ferrusd\n[FLAGS]\n" +
		".SH DESCRIPTION\n" + prose("ferrusd is ferrus under another name: it does what \"ferrus serve\" does. \"ferrusd --help\" lists its flags.") +
		".SH SEE ALSO\n.BR ferrus\\-serve (1)\n"
	return pages
}

// command describes a command, and those below it, each in a section of its own.
func command(c *cobra.Command, top bool) string {
	c.InitDefaultHelpFlag()
	var b strings.Builder
	if top {
		b.WriteString(".SH SYNOPSIS\n.B " + roff(c.Parent().CommandPath()+" "+c.Use) + "\n.SH DESCRIPTION\n")
	} else {
		fmt.Fprintf(&b, ".SH %q\n.B %s\n.PP\n", strings.ToUpper(c.CommandPath()), roff(c.Parent().CommandPath()+" "+c.Use))
	}
	b.WriteString(prose(c.Long))
	if text := c.Annotations[cli.Details]; text != "" {
		b.WriteString(".PP\n" + prose(text))
	}
	b.WriteString(flags(c, false))
	if c.Example != "" {
		b.WriteString(".PP\nExamples:\n" + code(c.Example))
	}
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() {
			b.WriteString(command(sub, false))
		}
	}
	return b.String()
}
