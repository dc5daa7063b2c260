// Package agreement says what the files of a project make run, and refuses what no person has agreed to. Package
// trust stores the record of what was agreed to.
package agreement

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	adapters "github.com/ferrus-go/ferrus/internal/agents"
	"github.com/ferrus-go/ferrus/internal/config"
	"github.com/ferrus-go/ferrus/internal/config/trust"
	"github.com/ferrus-go/ferrus/internal/config/workflow"
	"github.com/ferrus-go/ferrus/internal/platform/format"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
)

// An UntrustedError is the refusal of what no person has agreed to. It is a *refusal.RefusedError of code Untrusted.
type UntrustedError struct {
	refusal.RefusedError
	Values []trust.Value // what the project's files make run now
	Was    []trust.Value // what was agreed to last; nil when nothing was
	Frozen []trust.Value // what the task under way was frozen with, where its record is not from here and it differs
	Tasks  int           // how many tasks the journal has that were made without a record here
}

// Unwrap returns the refusal.
func (u *UntrustedError) Unwrap() error { return &u.RefusedError }

// Executable lists what the files of the project at root make run: the values of conf, settings of clients that they cannot
// be told to ignore, and the values of its workflows.json.
// One that is missing or broken makes nothing run.
func Executable(root string, conf config.Config) []trust.Value {
	var all workflow.Workflows
	if text, _, err := project.Workflows(root); err == nil {
		all, _ = workflow.Parse(text) // none of a broken file
	}
	return ExecutableWith(root, conf, all)
}

// ExecutableWith is Executable for workflows that the caller has read.
func ExecutableWith(root string, conf config.Config, all workflow.Workflows) []trust.Value {
	return slices.Concat(conf.Executable(), clientFiles(root, conf), all.Executable())
}

// Arguments refuses arguments of agents that a project's file must not set, and says where a person may.
func Arguments(conf config.Config) error {
	for table, a := range conf.ProjectArgs() {
		bad := adapters.Harmful(a.Agent, a.Args)
		if bad == nil {
			continue
		}
		path := filepath.Join("~", ".config", "ferrus", config.PersonFile)
		if own, err := config.LoadPerson(); err == nil {
			path = own.Path
		}
		return &refusal.RefusedError{Code: refusal.Untrusted, Person: true,
			Message: fmt.Sprintf("%s.args of ferrus.toml has %s, which is not known to be harmless; a repository may not loosen %s",
				table, trust.Visible(strings.Join(bad, " ")), a.Agent),
			Remedy: refusal.Say("if you want it, write into %s:\n%s", path, trust.VisibleLines(config.PersonLine(table, a.Agent, a.Args)))}
	}
	return nil
}

// sentence says in one line what is not agreed to.
func (u *UntrustedError) sentence(root string) string {
	var names []string
	for _, c := range trust.Diff(u.Was, u.Values) {
		names = append(names, trust.Visible(c.Key))
	}
	const most = 6
	if n := len(names) - most; n > 0 {
		names = append(names[:most], fmt.Sprintf("and %d more", n))
	}
	list := strings.Join(names, ", ")
	switch {
	case u.Was != nil:
		return "the files of " + root + " changed what they make run, and you have not agreed to that: " + list
	case len(u.Values) > 0:
		return "you have not agreed to what the files of " + root + " make run: " + list
	}
	return fmt.Sprintf("the %s in %s were not made by you on this machine, as far as ferrus knows", format.Count(u.Tasks, "task", "tasks"), root)
}

// Agree records a person's word on what the files of the project at root make run now.
func Agree(root string) error {
	conf, err := config.Load(filepath.Join(root, config.FileName))
	if err != nil {
		return refusal.Config(err)
	}
	p, err := trust.Open(root)
	if err != nil {
		return err
	}
	return p.Agree(Executable(root, conf))
}

// shellQuoted is a path as it can be pasted into a shell.
func shellQuoted(path string) string {
	plain := func(r rune) bool {
		return r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' || strings.ContainsRune("/._-+:@", r)
	}
	if strings.IndexFunc(path, func(r rune) bool { return !plain(r) }) < 0 {
		return path
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}

// unreadable is the refusal where the record of agreements cannot be read.
func unreadable(root string, values []trust.Value, err error) *UntrustedError {
	u := &UntrustedError{RefusedError: refusal.RefusedError{Code: refusal.Untrusted, Person: true}, Values: values}
	u.Message, u.Remedy = "the agreement for "+root+" cannot be read: "+err.Error(), refusal.Say("run %s", command(root))
	var mine *refusal.RefusedError
	if errors.As(err, &mine) {
		u.Remedy = mine.Remedy
	}
	return u
}

// in returns the refusal of these values in the project at root, with its message and remedy.
func (u UntrustedError) in(root string) *UntrustedError {
	u.Code, u.Person = refusal.Untrusted, true
	u.Message, u.Remedy = u.sentence(root), refusal.Say("a person runs %s, which shows the values and asks", command(root))
	return &u
}

// command is how a person agrees.
func command(root string) string { return "ferrus trust -C " + shellQuoted(root) }
