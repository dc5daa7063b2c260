package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/ferrus-go/ferrus/internal/config"
	"github.com/ferrus-go/ferrus/internal/config/trust"
	"github.com/ferrus-go/ferrus/internal/config/workflow"
	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/platform/format"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/project/agreement"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
)

// ValueText is a value of the project's files and what it does, as ferrus trust shows it.
func ValueText(v trust.Value) string {
	return fmt.Sprintf("  %s = %s\n      %s\n", trust.Visible(v.Key), trust.Visible(v.Value), v.Does)
}

// MayAsk reports whether a person is there to be asked.
func (a *App) MayAsk() bool { return a.InTTY && a.ErrTTY && !a.JSON && a.RefuseAgent("trust") == nil }

// WithTrust runs check, which is one of an engine. What it finds untrusted it asks a person about, if one is there, and
// checks again.
func (a *App) WithTrust(e *engine.Engine, check func() error) error {
	err := check()
	var u *agreement.UntrustedError
	if !errors.As(err, &u) || !a.MayAsk() {
		return err
	}
	if _, _, broken := e.Project().Record(); broken != nil {
		return err
	}
	if err := a.AskTrust(u, e.Place().Root); err != nil {
		return err
	}
	if err := e.Project().Agree(u.Values); err != nil {
		return TrustError(err)
	}
	e.RecordEnviron()
	return check() // the files may have changed while the person read
}

// AskTrust shows what there is to agree to and asks. The error says that the person did not agree.
func (a *App) AskTrust(u *agreement.UntrustedError, root string) error {
	Fprintf(a.Err, "%s\nDo you agree? [y/N] ", Styled(question(u, root)))
	if !a.Agrees(false) {
		return Refuse(refusal.Untrusted, "not agreed; nothing was started", "ferrus trust asks again")
	}
	return nil
}

// question is what is shown before a person agrees. Values stand in it escaped, so that what is read is what runs.
func question(u *agreement.UntrustedError, root string) string {
	var b strings.Builder
	root = trust.Visible(root)
	if u.Tasks > 0 {
		fmt.Fprintf(&b, "%s has %s and no record on this machine: from an older ferrus, another home folder or a backup.\n"+
			"Agree only if you made them.\n\n", root, format.Count(u.Tasks, "task", "tasks"))
	}
	switch {
	case u.Was != nil:
		fmt.Fprintf(&b, "The files of %s changed what they make ferrus run since you agreed:\n\n", root)
		for _, c := range trust.Diff(u.Was, u.Values) {
			was, now := trust.Visible(c.Was), trust.Visible(c.Now)
			if c.Was == "" {
				was = "(default)"
			}
			if c.Now == "" {
				now = "(default)"
			}
			fmt.Fprintf(&b, "  %s\n    was  %s\n    now  %s\n      %s\n", trust.Visible(c.Key), was, now, c.Does)
		}
	case len(u.Values) > 0:
		fmt.Fprintf(&b, "The files of %s make ferrus run the following. Agree only if you know what it does.\n\n", root)
		for _, v := range u.Values {
			b.WriteString(ValueText(v))
		}
	}
	if len(u.Frozen) > 0 {
		b.WriteString("\nThe present task was created with other values, and continues with these:\n\n")
		for _, v := range u.Frozen {
			b.WriteString(ValueText(v))
		}
	}
	return b.String()
}

// TrustOwnFile records a person's word on the ferrus.toml that ferrus init has written for them. It returns what there is to
// warn of: without a record the person is asked later.
func TrustOwnFile(root string, text []byte) (warning string) {
	conf, err := config.Parse(config.FileName, text)
	if err == nil {
		var trusted *trust.Project
		if trusted, err = trust.Open(root); err == nil {
			err = errors.Join(trusted.Agree(conf.Executable()), project.RecordEnviron(trusted, os.Environ()))
		}
	}
	if err != nil {
		return "the agreement was not recorded: " + err.Error()
	}
	return ""
}

// TrustToStart is agreed for a command that starts something from values that it has read itself.
func (a *App) TrustToStart(place project.Place, conf config.Config, values []trust.Value) error {
	if err := agreement.Arguments(conf); err != nil {
		return err
	}
	e, err := a.OpenAt(place)
	if err != nil {
		return err
	}
	defer e.Close()
	return a.WithTrust(e, func() error { return e.TrustedValues(values) })
}

// TrustPipelines is agreedToStart for a pipeline of the workflows.json as it is now.
func (a *App) TrustPipelines(ctx context.Context, conf config.Config) error {
	place, err := a.Place(ctx)
	if err != nil {
		return err
	}
	all, _, err := a.Workflows(ctx)
	if err != nil {
		return err
	}
	return a.TrustToStart(place, conf, agreement.ExecutableWith(place.Root, conf, all))
}

// TrustWorkflow is agreed for a pipeline of a run that has ended: what the project's files make run now, and what the
// run's own copy of its workflow makes run, which a person must have agreed to at some time.
func (a *App) TrustWorkflow(ctx context.Context, conf config.Config, w workflow.Workflow) error {
	place, err := a.Place(ctx)
	if err != nil {
		return err
	}
	now := agreement.Executable(place.Root, conf)
	if err := a.TrustToStart(place, conf, now); err != nil {
		return err
	}
	p, err := trust.Open(place.Root)
	if err != nil {
		return TrustError(err)
	}
	never, err := p.NeverAgreed((workflow.Workflows{w}).Executable(), now)
	if err != nil {
		return TrustError(err)
	}
	if len(never) == 0 {
		return nil
	}
	var b strings.Builder
	for _, v := range never {
		b.WriteString(ValueText(v))
	}
	return Refuse(refusal.Untrusted, "you have never agreed to what the workflow of the run makes run:\n"+strings.TrimRight(b.String(), "\n"),
		refusal.Say("write it into workflows.json and run ferrus trust, or start a new run: ferrus pipeline run %s TOPIC", w.Name))
}

// KeepTrust runs write, which changes files of the project on a person's word: what was agreed to before is afterwards. text is
// what it makes of ferrus.toml, nil where that stays: an edit of somebody else at the same time is not agreed to.
func KeepTrust(root string, write func() error, text []byte) error {
	conf, err := config.LoadFor(filepath.Join(root, config.FileName))
	if err != nil {
		return write()
	}
	project, err := trust.Open(root)
	if err != nil {
		return err
	}
	was := agreement.Executable(root, conf)
	agreed, _ := project.Agreed(was)
	if err := write(); err != nil || !agreed {
		return err
	}
	if text != nil {
		own, err := config.LoadPerson()
		if err == nil {
			conf, err = config.Parse(config.FileName, text)
		}
		if err != nil {
			return err
		}
		conf = conf.With(own)
	}
	if now := agreement.Executable(root, conf); trust.Digest(now) != trust.Digest(was) {
		return project.Agree(now)
	}
	return nil
}
