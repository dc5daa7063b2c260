package engine

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	adapters "github.com/ferrus-go/ferrus/internal/agents"
	"github.com/ferrus-go/ferrus/internal/config"
	"github.com/ferrus-go/ferrus/internal/format"
	"github.com/ferrus-go/ferrus/internal/pipeline/workflow"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/refusal"
	"github.com/ferrus-go/ferrus/internal/rootfs"
	"github.com/ferrus-go/ferrus/internal/trust"
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

// WorkflowsName is the name of the file that defines pipelines, in the project's root or in its .ferrus.
const WorkflowsName = "workflows.json"

// Executable lists what the files of the project at root make run: the values of conf, settings of clients that they cannot
// be told to ignore, and the values of its workflows.json.
// One that is missing or broken makes nothing run.
func Executable(root string, conf config.Config) []trust.Value {
	for _, dir := range []string{root, filepath.Join(root, project.DirName)} {
		text, err := readWorkflows(filepath.Join(dir, WorkflowsName))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		all, _ := workflow.Parse(text) // none of a broken file
		return ExecutableWith(root, conf, all)
	}
	return ExecutableWith(root, conf, nil)
}

// ExecutableWith is Executable for workflows that the caller has read.
func ExecutableWith(root string, conf config.Config, all workflow.Workflows) []trust.Value {
	return slices.Concat(conf.Executable(), clientFiles(root, conf.HQ), all.Executable())
}

// maxWorkflows bounds what is read of a workflows.json, in bytes.
const maxWorkflows = 1 << 20

func readWorkflows(path string) ([]byte, error) {
	return rootfs.ReadFile(path, maxWorkflows)
}

// Trusted returns nil when a person has agreed to what the project's files make run now, which is what anything new needs:
// a task, a branch, a trial of the checks, a pipeline. The error is an *UntrustedError, or one of the configuration.
func (e *Engine) Trusted() error {
	conf, err := e.Config()
	if err != nil {
		return refusal.Config(err)
	}
	return e.trusted(conf)
}

// trusted is Trusted for a configuration that the caller is about to use.
func (e *Engine) trusted(conf config.Config) error {
	if err := Arguments(conf); err != nil && e.opts.Project != nil {
		return err
	}
	return e.TrustedValues(Executable(e.place.Root, conf))
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
			Remedy: "if you want it, write into " + path + ":\n" + trust.VisibleLines(config.PersonLine(table, a.Agent, a.Args))}
	}
	return nil
}

// TrustedValues is Trusted for values that the caller has read and is about to use.
func (e *Engine) TrustedValues(values []trust.Value) error {
	p := e.opts.Project
	if p == nil {
		return nil
	}
	ok, err := p.Agreed(values)
	if err == nil && !ok && len(values) == 0 {
		ok, err = e.nothingToAgree()
	}
	if ok && err == nil {
		return nil
	}
	return e.untrusted(values, err)
}

// nothingToAgree is the case of a project whose files make nothing run: a new one is ours by its first task, and one that
// has tasks without a record here is adopted by a person.
func (e *Engine) nothingToAgree() (bool, error) {
	p := e.opts.Project
	known, err := p.Known()
	if err != nil || known {
		return known, err
	}
	snap, err := e.View()
	if err != nil || snap.Task.Seq > 0 {
		return false, err
	}
	return true, p.Agree(nil)
}

// Known returns nil when a person has agreed to something in this project, by which its journal is of this machine's
// making: work under way goes on by its frozen configuration and asks nobody. Otherwise it is Trusted.
func (e *Engine) Known() error {
	p := e.opts.Project
	if p == nil {
		return nil
	}
	if known, err := p.Known(); known && err == nil {
		return nil
	}
	return e.Trusted()
}

// untrusted says what has to be agreed to, and how. broken is why the record cannot be read, nil when it can.
func (e *Engine) untrusted(values []trust.Value, broken error) error {
	u := &UntrustedError{RefusedError: refusal.RefusedError{Code: refusal.Untrusted, Person: true}, Values: values}
	agree := "ferrus trust -C " + shellQuoted(e.place.Root)
	if broken != nil {
		u.Message, u.Remedy = "the agreement for "+e.place.Root+" cannot be read: "+broken.Error(), "run "+agree
		var mine *trust.Error
		if errors.As(broken, &mine) {
			u.Remedy = mine.Remedy
		}
		return u
	}
	r, _, err := e.opts.Project.Record()
	if err != nil {
		return e.untrusted(values, err)
	}
	if newest, ok := r.Newest(); ok {
		u.Was = newest.Values
	} else {
		u.Tasks = e.Tasks()
		u.Frozen = e.frozen(values)
	}
	u.Message, u.Remedy = u.sentence(e.place.Root), "a person runs "+agree+", which shows the values and asks"
	return u
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

// frozen are the values that the task under way was frozen with and that differ from those of the files.
func (e *Engine) frozen(now []trust.Value) []trust.Value {
	snap, err := e.View()
	if err != nil || !snap.Task.Underway() {
		return nil
	}
	gate, err := e.Gate(snap)
	if err != nil {
		return nil
	}
	return slices.DeleteFunc(gate.Executable(), func(v trust.Value) bool {
		return slices.ContainsFunc(now, func(is trust.Value) bool { return is.Key == v.Key && is.Value == v.Value })
	})
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

// accepted records a person's word on the part of the configuration that is frozen with a task. What was agreed to of the
// rest stays as it was: the person has not seen more. A record that cannot be written costs a question later.
func (e *Engine) accepted(conf config.Config) {
	p := e.opts.Project
	if p == nil {
		return
	}
	r, _, err := p.Record()
	if err == nil {
		newest, _ := r.Newest()
		values := conf.Gate().Executable()
		for _, v := range newest.Values {
			same := func(is trust.Value) bool { return is.Key == v.Key }
			if !config.InGate(v.Key) && !slices.ContainsFunc(values, same) {
				values = append(values, v)
			}
		}
		err = p.Agree(values)
	}
	if err != nil {
		e.log.Warn("the agreement was not recorded", "error", err)
	}
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
