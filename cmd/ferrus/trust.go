package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ferrus-go/ferrus/internal/config"
	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/trust"
)

// A trusting is what ferrus trust is asked to do; the zero value shows the values and asks.
type trusting struct {
	show   bool
	revoke bool
	digest string
}

func trustCommand(a *app) *cobra.Command {
	var how trusting
	cmd := &cobra.Command{
		Use:   "trust [--show | --digest D | --revoke]",
		Short: "Agree to what the project's files make ferrus run",
		Long: `Shows every value of ferrus.toml and workflows.json that makes something run or widens rights, with what it does, and
asks whether you agree. Until you agree, ferrus starts nothing in the project: commands that would refuse with exit code 4,
and its MCP server answers status only. Reading commands (status, log, diff, show) work without it.

You are asked again when a value changes, and then only about what changed. Comments, order, spelled-out defaults and the
place of the folder's files do not matter. Tasks, branches and runs that have started keep the configuration that was
frozen for them and never ask.

In a script, agree to exactly the values that you reviewed: ferrus trust --show prints their digest, which is the same on
every machine. FERRUS_TRUST=DIGEST in the environment agrees for one process and those it starts, and writes nothing.

The agreement is kept outside of the repository, in ~/.local/state/ferrus (or FERRUS_STATE_DIR, XDG_STATE_HOME).

Examples:
  ferrus trust
  ferrus trust --show --json
  ferrus trust --digest 5f2c...
  FERRUS_TRUST=5f2c... ferrus run --headless "update the docs"

With --json: path digest agreed values[{key value does}] changed[{key was now does}] tasks.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.trust(cmd.Context(), how) },
	}
	cmd.Flags().BoolVar(&how.show, "show", false, "print the values and their digest, and change nothing")
	cmd.Flags().StringVar(&how.digest, "digest", "", "agree without a question if the values have exactly the digest `D`")
	cmd.Flags().BoolVar(&how.revoke, "revoke", false, "forget every agreement for this project")
	cmd.MarkFlagsMutuallyExclusive("show", "digest", "revoke")
	return cmd
}

// An agreement is what there is to agree to in a project.
type agreement struct {
	Path    string         `json:"path"`
	Digest  string         `json:"digest"`
	Agreed  bool           `json:"agreed"`
	Values  []trust.Value  `json:"values"`
	Changed []trust.Change `json:"changed,omitempty"` // since the newest agreement; none when there was none
	Tasks   int            `json:"tasks,omitempty"`   // made without a record here

	project *trust.Project
	pending *engine.UntrustedError // nil when there is nothing to agree to
}

// agreement reads the project's files and its record. A folder without .ferrus can be agreed to before ferrus init.
func (a *app) agreement(ctx context.Context) (agreement, error) {
	var doubt *engine.UntrustedError
	if e, err := a.open(ctx); err == nil {
		defer e.Close()
		conf, err := soundConfig(e)
		if err != nil {
			return agreement{}, err
		}
		if err := e.Trusted(); err != nil && !errors.As(err, &doubt) {
			return agreement{}, err
		}
		return found(e.Project(), engine.Executable(e.Place().Root, conf), doubt)
	} else if engine.CodeOf(err) != engine.NotInitialised {
		return agreement{}, err
	}
	conf, path, err := a.configuration(ctx)
	if err != nil {
		return agreement{}, err
	}
	root := filepath.Dir(path)
	project, err := trust.Open(root)
	if err != nil {
		return agreement{}, err
	}
	values := engine.Executable(root, conf)
	if ok, err := project.Agreed(values); !ok && err == nil && len(values) > 0 {
		doubt = &engine.UntrustedError{Values: values}
		if r, _, err := project.Record(); err == nil {
			newest, _ := r.Newest()
			doubt.Was = newest.Values
		}
	}
	return found(project, values, doubt)
}

func found(p *trust.Project, values []trust.Value, doubt *engine.UntrustedError) (agreement, error) {
	at := agreement{Path: p.Root(), Digest: trust.Digest(values), Values: append([]trust.Value{}, values...), project: p, pending: doubt,
		Agreed: doubt == nil}
	if doubt != nil {
		at.Tasks = doubt.Tasks
		if doubt.Was != nil {
			at.Changed = trust.Diff(doubt.Was, values)
		}
	}
	_, _, err := p.Record()
	return at, untrustable(err)
}

func (a *app) trust(ctx context.Context, how trusting) error {
	if !how.show {
		if err := a.refuseAgent("trust"); err != nil {
			return err
		}
	}
	at, err := a.agreement(ctx)
	if err != nil {
		return err
	}
	switch {
	case how.show:
		if a.json {
			return a.print(at)
		}
		a.showAgreement(at)
		return nil
	case how.revoke:
		n, err := at.project.Revoke()
		if err != nil {
			return untrustable(err)
		}
		at.Agreed = false
		return a.agreedTo(at, "forgot "+count(n, "agreement", "agreements")+" for "+at.Path)
	case how.digest != "" && how.digest != at.Digest:
		return refuse(engine.Untrusted, "the values of "+at.Path+" have the digest "+at.Digest+", not "+how.digest,
			"review them: ferrus trust --show")
	case how.digest != "":
	case at.pending == nil:
		return a.agreedTo(at, "nothing to agree to: "+at.settled())
	case !a.mayAsk():
		return refuse(engine.Untrusted, "ferrus trust asks, and there is no terminal to ask in",
			"review the values with ferrus trust --show, then agree to exactly them: ferrus trust --digest "+at.Digest)
	default:
		if err := a.askTrust(at.pending, at.Path); err != nil {
			return err
		}
	}
	if err := at.project.Agree(at.Values); err != nil {
		return untrustable(err)
	}
	at.Agreed = true
	if err := engine.RecordEnviron(at.project, os.Environ()); err != nil {
		return untrustable(err)
	}
	return a.agreedTo(at, "agreed to "+count(len(at.Values), "value", "values")+" of "+at.Path)
}

// settled says why there is nothing to agree to.
func (at agreement) settled() string {
	if len(at.Values) == 0 {
		return "the files of " + at.Path + " make nothing run beyond ferrus's defaults"
	}
	return "you have agreed to the " + count(len(at.Values), "value", "values") + " of " + at.Path
}

func (a *app) agreedTo(at agreement, text string) error {
	if a.json {
		return a.print(at)
	}
	a.say("%s\n", text)
	return nil
}

func (a *app) showAgreement(at agreement) {
	for _, v := range at.Values {
		say(a.out, "%s", valueText(v))
	}
	state := "agreed"
	if !at.Agreed {
		state = "not agreed: ferrus trust asks, ferrus trust --digest DIGEST agrees in a script"
	} else if len(at.Values) == 0 {
		state = at.settled()
	}
	a.say("digest %s\n%s\n", at.Digest, state)
}

func valueText(v trust.Value) string {
	return fmt.Sprintf("  %s = %s\n      %s\n", trust.Visible(v.Key), trust.Visible(v.Value), v.Does)
}

// mayAsk reports whether a person is there to be asked.
func (a *app) mayAsk() bool { return a.inTTY && a.errTTY && !a.json && a.refuseAgent("trust") == nil }

// agreed runs check, which is one of an engine. What it finds untrusted it asks a person about, if one is there, and
// checks again.
func (a *app) agreed(e *engine.Engine, check func() error) error {
	err := check()
	var u *engine.UntrustedError
	if !errors.As(err, &u) || !a.mayAsk() {
		return err
	}
	if _, _, broken := e.Project().Record(); broken != nil {
		return err
	}
	if err := a.askTrust(u, e.Place().Root); err != nil {
		return err
	}
	if err := e.Project().Agree(u.Values); err != nil {
		return untrustable(err)
	}
	e.RecordEnviron()
	return check() // the files may have changed while the person read
}

// askTrust shows what there is to agree to and asks. The error says that the person did not agree.
func (a *app) askTrust(u *engine.UntrustedError, root string) error {
	say(a.err, "%s\nDo you agree? [y/N] ", ink(question(u, root)))
	if answer := strings.ToLower(a.word()); answer != "y" && answer != "yes" {
		return refuse(engine.Untrusted, "not agreed; nothing was started", "ferrus trust asks again")
	}
	return nil
}

// question is what is shown before a person agrees. Values stand in it escaped, so that what is read is what runs.
func question(u *engine.UntrustedError, root string) string {
	var b strings.Builder
	root = trust.Visible(root)
	if u.Tasks > 0 {
		fmt.Fprintf(&b, "%s has %s and no record on this machine: from an older ferrus, another home folder or a backup.\n"+
			"Agree only if you made them.\n\n", root, count(u.Tasks, "task", "tasks"))
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
		fmt.Fprintf(&b, "The files of %s make ferrus run what follows. Agree only if you know what it does.\n\n", root)
		for _, v := range u.Values {
			b.WriteString(valueText(v))
		}
	}
	if len(u.Frozen) > 0 {
		b.WriteString("\nThe task under way was created with other values, and goes on with these:\n\n")
		for _, v := range u.Frozen {
			b.WriteString(valueText(v))
		}
	}
	return b.String()
}

// agreeToOwn records a person's word on the ferrus.toml that ferrus init has written for them. It returns what there is to
// warn of: without a record the person is asked later.
func agreeToOwn(root string, text []byte) (warning string) {
	conf, err := config.Parse(config.FileName, text)
	if err == nil {
		var project *trust.Project
		if project, err = trust.Open(root); err == nil {
			err = errors.Join(project.Agree(conf.Executable()), engine.RecordEnviron(project, os.Environ()))
		}
	}
	if err != nil {
		return "the agreement was not recorded: " + err.Error()
	}
	return ""
}

// goneRecords is after how long gc removes the record of a project whose folder is gone.
const goneRecords = 90 * 24 * time.Hour

// agreedToStart is agreed for a command that starts something from values that it has read itself.
func (a *app) agreedToStart(place engine.Place, conf config.Config, values []trust.Value) error {
	if err := engine.Arguments(conf); err != nil {
		return err
	}
	e, err := a.openAt(place)
	if err != nil {
		return err
	}
	defer e.Close()
	return a.agreed(e, func() error { return e.TrustedValues(values) })
}

// agreedPipelines is agreedToStart for a pipeline of the workflows.json as it is now.
func (a *app) agreedPipelines(ctx context.Context, conf config.Config) error {
	place, err := a.place(ctx)
	if err != nil {
		return err
	}
	all, _, err := a.workflows(ctx)
	if err != nil {
		return err
	}
	return a.agreedToStart(place, conf, engine.ExecutableWith(place.Root, conf, all))
}

// agreedAcross runs write, which changes files of the project on a person's word: what was agreed to before is afterwards. text is
// what it makes of ferrus.toml, nil where that stays: an edit of somebody else at the same time is not agreed to.
func agreedAcross(root string, write func() error, text []byte) error {
	conf, err := config.LoadFor(filepath.Join(root, config.FileName))
	if err != nil {
		return write()
	}
	project, err := trust.Open(root)
	if err != nil {
		return err
	}
	was := engine.Executable(root, conf)
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
	if now := engine.Executable(root, conf); trust.Digest(now) != trust.Digest(was) {
		return project.Agree(now)
	}
	return nil
}
