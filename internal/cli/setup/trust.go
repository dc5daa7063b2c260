package setup

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ferrus-go/ferrus/internal/cli"
	"github.com/ferrus-go/ferrus/internal/config/trust"
	"github.com/ferrus-go/ferrus/internal/platform/format"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/project/agreement"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/worktree/checkout"
)

// A trusting is what ferrus trust is asked to do; the zero value shows the values and asks.
type trusting struct {
	show   bool
	revoke bool
	digest string
}

// TrustCommand is ferrus trust.
func TrustCommand(a *cli.App) *cobra.Command {
	var how trusting
	cmd := &cobra.Command{
		Use:   "trust [--show | --digest D | --revoke]",
		Short: "Review and trust what the project's files can run",
		Long: `Shows every value of ferrus.toml and workflows.json that starts programs or
widens rights, and asks whether you trust it. It also shows the ignored files
that .worktreeinclude has copied into new work trees. Before you agree, ferrus
starts and copies nothing, and commands that would refuse with exit code 4. It
asks again when a value changes or another file matches. In a script, agree to a
digest that you reviewed: see --show.`,
		Example: `  ferrus trust
  ferrus trust --show --json
  ferrus trust --digest 5f2c...
  FERRUS_TRUST=5f2c... ferrus run --headless "update the docs"`,
		Annotations: cli.Reference(`Commands that only read work without an agreement. Files that are not agreed to
are left out of work trees, and stop nothing.

Until you agree, the MCP server of the project answers status only. Later ferrus
asks only about values that changed. Comments, order, defaults that are written
out, and the location of the folder do not matter. Tasks, branches and runs that
have started keep their frozen configuration and never ask.

The digest is the same on every machine. FERRUS_TRUST=DIGEST in the environment
agrees for one process and the processes that it starts, and writes nothing. The
part of the digest after a + is that of the names of .worktreeinclude. Without
it, --digest and FERRUS_TRUST agree to no file. The agreement is stored outside
of the repository, in ~/.local/state/ferrus (or FERRUS_STATE_DIR,
XDG_STATE_HOME).`, `path digest agreed values[{key value does}] changed[{key was now does}] tasks
copies{files[] waiting[] left_out[] missing[]}.`),
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return runTrust(a, cmd.Context(), how) },
	}
	cmd.Flags().BoolVar(&how.show, "show", false, "print the values and their digest")
	cmd.Flags().StringVar(&how.digest, "digest", "", "agree without asking if the values have the digest `D`")
	cmd.Flags().BoolVar(&how.revoke, "revoke", false, "delete every agreement for this project")
	cmd.MarkFlagsMutuallyExclusive("show", "digest", "revoke")
	return cmd
}

// An agreement is what there is to agree to in a project.
type shown struct {
	Path    string         `json:"path"`
	Digest  string         `json:"digest"`
	Agreed  bool           `json:"agreed"`
	Values  []trust.Value  `json:"values"`
	Changed []trust.Change `json:"changed,omitempty"` // since the newest agreement; none when there was none
	Tasks   int            `json:"tasks,omitempty"`   // made without a record here
	Copies  *copied        `json:"copies,omitempty"`  // nil without .worktreeinclude

	values  string // the digest of the values alone
	project *trust.Project
	pending *agreement.UntrustedError // nil when there is nothing to agree to
}

// A copied is what .worktreeinclude names, with a person's word on it.
type copied struct {
	Files   []string `json:"files"`
	Waiting []string `json:"waiting,omitempty"` // those of the files that are not agreed to
	LeftOut []string `json:"left_out,omitempty"`
	Missing []string `json:"missing,omitempty"`
}

// agreementOf reads the project's files and its record. A folder without .ferrus can be agreed to before ferrus init.
func agreementOf(a *cli.App, ctx context.Context) (shown, error) {
	var doubt *agreement.UntrustedError
	if e, err := a.Open(ctx); err == nil {
		defer e.Close()
		conf, err := cli.ValidConfig(e)
		if err != nil {
			return shown{}, err
		}
		if err := e.Trusted(); err != nil && !errors.As(err, &doubt) {
			return shown{}, err
		}
		at, err := found(e.Project(), agreement.Executable(e.Place().Root, conf), doubt)
		if err != nil {
			return at, err
		}
		c, err := e.Copies(ctx)
		if names := c.Names(); err == nil && len(names)+len(c.LeftOut)+len(c.Missing) > 0 {
			at.Copies = &copied{append([]string{}, names...), c.Waiting, c.LeftOut, c.Missing}
			if sum := trust.CopiesDigest(names); sum != "" {
				at.Digest += "+" + sum
			}
		}
		return at, err
	} else if refusal.CodeOf(err) != refusal.NotInitialised {
		return shown{}, err
	}
	conf, path, err := configuration(a, ctx)
	if err != nil {
		return shown{}, err
	}
	root := filepath.Dir(path)
	project, err := trust.Open(root)
	if err != nil {
		return shown{}, err
	}
	values := agreement.Executable(root, conf)
	if ok, err := project.Agreed(values); !ok && err == nil && len(values) > 0 {
		doubt = &agreement.UntrustedError{Values: values}
		if r, _, err := project.Record(); err == nil {
			newest, _ := r.Newest()
			doubt.Was = newest.Values
		}
	}
	return found(project, values, doubt)
}

func found(p *trust.Project, values []trust.Value, doubt *agreement.UntrustedError) (shown, error) {
	at := shown{Path: p.Root(), Digest: trust.Digest(values), Values: append([]trust.Value{}, values...), project: p, pending: doubt,
		Agreed: doubt == nil}
	at.values = at.Digest
	if doubt != nil {
		at.Tasks = doubt.Tasks
		if doubt.Was != nil {
			at.Changed = trust.Diff(doubt.Was, values)
		}
	}
	_, _, err := p.Record()
	return at, cli.TrustError(err)
}

func runTrust(a *cli.App, ctx context.Context, how trusting) error {
	if !how.show {
		if err := a.RefuseAgent("trust"); err != nil {
			return err
		}
	}
	at, err := agreementOf(a, ctx)
	if err != nil {
		return err
	}
	switch {
	case how.show:
		if a.JSON {
			return a.PrintJSON(at)
		}
		showAgreement(a, at)
		return nil
	case how.revoke:
		n, err := at.project.Revoke()
		if err != nil {
			return cli.TrustError(err)
		}
		at.Agreed = false
		return agreedTo(a, at, "deleted "+format.Count(n, "agreement", "agreements")+" for "+at.Path)
	case how.digest != "" && how.digest != at.Digest && how.digest != at.values:
		return cli.Refuse(refusal.Untrusted, "the values of "+at.Path+" have the digest "+at.Digest+", not "+how.digest,
			"review them: ferrus trust --show")
	case how.digest != "":
		at.list(a)
	case at.pending == nil && !at.waits():
		at.list(a)
		if err := at.agreeCopies(); err != nil { // what is not named any more is not agreed to any more
			return err
		}
		return agreedTo(a, at, "nothing to agree to: "+at.settled())
	case !a.MayAsk():
		return cli.Refuse(refusal.Untrusted, "ferrus trust asks a question, and stdin is not a terminal",
			refusal.Say("review the values with ferrus trust --show, then agree to exactly these: ferrus trust --digest %s", at.Digest))
	case at.pending != nil:
		if err := a.AskTrust(at.pending, at.Path); err != nil {
			return err
		}
		at.Values = at.pending.Values // what was shown, be the files others by now
	}
	text := ""
	if at.pending != nil || how.digest != "" {
		if err := at.project.Agree(at.Values); err != nil {
			return cli.TrustError(err)
		}
		at.Agreed = true
		if err := project.RecordEnviron(at.project, os.Environ()); err != nil {
			return cli.TrustError(err)
		}
		text = "agreed to " + format.Count(len(at.Values), "value", "values") + " of " + at.Path
	}
	if how.digest == "" && at.waits() {
		cli.Fprintf(a.Err, "%sDo you agree? [y/N] ", at.copiesText())
		if !a.Agrees(false) {
			return cli.Refuse(refusal.Untrusted, "not agreed; no other file is copied than before", "ferrus trust asks again")
		}
	}
	if at.Copies != nil && how.digest != at.values {
		if err := at.agreeCopies(); err != nil {
			return err
		}
		text = strings.TrimPrefix(text+"; agreed to copy "+format.Count(len(at.Copies.Files), "file", "files"), "; ")
		at.Copies.Waiting = nil
	}
	return agreedTo(a, at, text)
}

// waits reports whether files wait for a person's word.
func (at shown) waits() bool { return at.Copies != nil && len(at.Copies.Waiting) > 0 }

// agreeCopies records a person's word on the files that are copied, which are those that are named now.
func (at shown) agreeCopies() error {
	var names []string
	if at.Copies != nil {
		names = at.Copies.Files
	}
	if r, _, err := at.project.Record(); err != nil || slices.Equal(r.Copies, names) {
		return cli.TrustError(err)
	}
	return cli.TrustError(at.project.AgreeCopies(names))
}

// copiesText shows the files that are copied into new work trees.
func (at shown) copiesText() string {
	if at.Copies == nil {
		return ""
	}
	var b strings.Builder
	if len(at.Copies.Files) > 0 {
		b.WriteString("\n" + checkout.IncludeFile + " names these ignored files. ferrus copies them into each new work tree,\n" +
			"where agents and checks read them, also what is secret in them:\n\n")
	}
	for _, name := range at.Copies.Files {
		b.WriteString("  " + trust.Visible(name))
		if slices.Contains(at.Copies.Waiting, name) {
			b.WriteString("  (not agreed)")
		}
		b.WriteString("\n")
	}
	for _, line := range at.Copies.LeftOut {
		b.WriteString("not copied: " + trust.Visible(line) + "\n")
	}
	for _, name := range at.Copies.Missing {
		b.WriteString("not here: " + trust.Visible(name) + "\n")
	}
	return b.String()
}

// settled says why there is nothing to agree to.
func (at shown) settled() string {
	if len(at.Values) == 0 {
		return "the files of " + at.Path + " run nothing beyond the defaults of ferrus"
	}
	return "you have agreed to the " + format.Count(len(at.Values), "value", "values") + " of " + at.Path
}

func agreedTo(a *cli.App, at shown, text string) error {
	if a.JSON {
		return a.PrintJSON(at)
	}
	a.Say("%s\n", text)
	return nil
}

// list shows the values to a person.
func (at shown) list(a *cli.App) {
	if a.JSON {
		return
	}
	for _, v := range at.Values {
		cli.Fprintf(a.Out, "%s", cli.ValueText(v))
	}
	cli.Fprintf(a.Out, "%s", at.copiesText())
}

func showAgreement(a *cli.App, at shown) {
	at.list(a)
	state := "agreed"
	if at.Agreed && at.waits() {
		state = "agreed to the values, and not to all files: ferrus trust asks, ferrus trust --digest DIGEST agrees in a script"
	} else if !at.Agreed {
		state = "not agreed: ferrus trust asks, ferrus trust --digest DIGEST agrees in a script"
	} else if len(at.Values) == 0 {
		state = at.settled()
	}
	a.Say("digest %s\n%s\n", at.Digest, state)
}
