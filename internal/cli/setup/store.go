package setup

import (
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/ferrus-go/ferrus/internal/cli"
	"github.com/ferrus-go/ferrus/internal/config"
	"github.com/ferrus-go/ferrus/internal/platform/format"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/project/sharing"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/status"
	"github.com/ferrus-go/ferrus/internal/store/postgres"
)

// StoreCommand is ferrus store.
func StoreCommand(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "store",
		Short: "Keep the state in PostgreSQL, for several computers",
		Long: `Shows where the state of the project is kept: in its files, or in a PostgreSQL
database, so that several computers work on one project.
"ferrus store move" moves it there; "ferrus store join" is for other clones.`,
		Example: `  ferrus store
  ferrus store move 'postgres://db.example.com/team?sslmode=verify-full'
  ferrus store join`,
		Annotations: cli.Reference("", `url, project, nodes [{id host root joined_at last_seen lost silent_s
sessions}], conducted [{branch node host here since lost}], troubles [{name node
host here text since}], ignored_url; url is empty for files. A trouble says why
a node does not work on a branch or on a task of the queue. ignored_url is that
of your own configuration if it is another one.`),
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return storeShow(a, cmd.Context()) },
	}
	var files bool
	move := &cobra.Command{
		Use:   "move [URL]",
		Short: "Move the state into a database, or back into files",
		Long: `Moves the journals of the project and its branches, and its queue, into the
database at URL, else at [store] url of your own configuration. With --files it
moves them back, into the files of this computer. Nothing may be at work; what
is at work is named, with the command that ends it. A move that was cut off is
finished by the same command.`,
		Example: `  ferrus store move 'postgres://db.example.com/team?sslmode=verify-full'
  ferrus store move --files`,
		Annotations: cli.Reference(`Nothing may be at work: no claim, agent, run, check, merge or pipeline on this
computer, and with --files no claim, agent or conductor on any other. With
--files the newest files of each task must be on this computer. One computer can
take a project into its files. On another one the command fails and names the
first. The journals that were moved stay in .ferrus/archive.`, "project name url machines events queued kept."),
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return storeMove(a, cmd.Context(), append(args, "")[0], files)
		},
	}
	move.Flags().BoolVar(&files, "files", false, "move the state from the database into files")
	var which string
	join := &cobra.Command{
		Use:   "join [URL]",
		Short: "Take part in a project of a database",
		Long: `Lets this clone take part in a project whose state is in the database at URL,
else at [store] url of your own configuration. Without --project it is the one
that is named like the folder, or the only one. The queue of the folder is moved
into the database.`,
		Example: `  ferrus store join 'postgres://db.example.com/team?sslmode=verify-full'
  ferrus store join --project website`,
		Annotations: cli.Reference("", "project name url machines events queued."),
		Args:        cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return storeJoin(a, cmd.Context(), append(args, "")[0], which)
		},
	}
	join.Flags().StringVar(&which, "project", "", "join the project `NAME`, which may be its id")
	remove := &cobra.Command{
		Use:   "remove PROJECT [URL]",
		Short: "Remove a project that nobody uses from the database",
		Long: `Removes a project, named by its id or name, from the database at URL. By default
it is the database of this folder, else of your own configuration. A project
that a folder has joined, or in which somebody has worked, is refused.`,
		Example: "  ferrus store remove 6f1c0a52-0b1e-4c7f-9a53-5d0a3c1f8e11",
		Annotations: cli.Reference(`Older versions of ferrus left a project in the database when a move did not
succeed. Its journals stay in the tables.`, "project name url machines."),
		Args: cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return storeRemove(a, cmd.Context(), args[0], append(args, "")[1])
		},
	}
	cmd.AddCommand(move, join, remove,
		&cobra.Command{
			Use:   "export FILE",
			Short: "Write the journal to a file",
			Long: `Verifies the journal and writes it to FILE; - is standard output. The bytes are
the same wherever the state is kept. With --branch it is that branch's journal.`,
			Example:     "  ferrus store export backup.jsonl",
			Annotations: cli.Reference("", "bytes h."),
			Args:        cobra.ExactArgs(1),
			RunE:        func(cmd *cobra.Command, args []string) error { return storeExport(a, cmd.Context(), args[0]) },
		},
		&cobra.Command{
			Use:   "import FILE",
			Short: "Read the journal from a file",
			Long: `Makes the state from a journal that "ferrus store export" wrote; - is standard
input. The project must have no tasks yet. Every line and link is verified.`,
			Example:     "  ferrus store import backup.jsonl",
			Annotations: cli.Reference("", "events."),
			Args:        cobra.ExactArgs(1),
			RunE:        func(cmd *cobra.Command, args []string) error { return storeImport(a, cmd.Context(), args[0]) },
		})
	return cmd
}

// storePlace returns the place of a command of the whole project.
func storePlace(a *cli.App, ctx context.Context, verb string) (project.Place, error) {
	if err := a.RefuseAgent("store " + verb); err != nil {
		return project.Place{}, err
	}
	if a.Branch != "" {
		return project.Place{}, cli.UsageError("omit --branch", "all machines of a project are kept together")
	}
	return a.Place(ctx)
}

// databaseURL returns the URL that was given, else that of the person's own configuration. Where PGPASSFILE names a file, the URL names it too: other
// processes of ferrus do not get that variable.
func databaseURL(given string) (string, error) {
	person, err := config.LoadPerson()
	if err != nil && given == "" {
		return "", refusal.Config(err)
	}
	url := cmp.Or(given, person.Store.URL)
	if url == "" {
		path, _ := config.PersonPath()
		return "", cli.UsageError(refusal.Say(`ferrus store move URL, or write url = "postgres://..." under [store] in %s`, path), "no database is named")
	}
	return postgres.WithPassFile(url, os.Getenv("PGPASSFILE")), nil
}

func storeMove(a *cli.App, ctx context.Context, url string, files bool) error {
	place, err := storePlace(a, ctx, "move")
	if err != nil {
		return err
	}
	if files {
		if url != "" {
			return cli.UsageError("ferrus store move --files", "--files takes no URL")
		}
		ctx, end := a.Working(ctx, "moving the project")
		defer end()
		did, err := sharing.Return(ctx, place.Root)
		end()
		return showMoved(a, did, err, "is in files of this computer again")
	}
	main := project.At(place.Root, "")
	if at, err := main.Arriving(); err != nil {
		return err
	} else if at == nil && !main.InDatabase() {
		if url, err = databaseURL(url); err != nil {
			return err
		}
	}
	ctx, end := a.Working(ctx, "moving the project")
	defer end()
	did, err := sharing.Move(ctx, place.Root, url, time.Now())
	end()
	return showMoved(a, did, err, "is in the database now")
}

func storeJoin(a *cli.App, ctx context.Context, url, which string) error {
	if err := a.RefuseAgent("store join"); err != nil {
		return err
	}
	if a.Branch != "" {
		return cli.UsageError("omit --branch", "all machines of a project are kept together")
	}
	root, err := a.WorkingDir()
	if err != nil {
		return err
	}
	if url, err = databaseURL(url); err != nil {
		return err
	}
	if _, err := SetUp(a, ctx, root); err != nil {
		return err
	}
	ctx, end := a.Working(ctx, "joining the project")
	defer end()
	did, err := sharing.Join(ctx, root, url, which, time.Now())
	end()
	return showMoved(a, did, err, "is joined")
}

func storeRemove(a *cli.App, ctx context.Context, which, url string) error {
	place, err := storePlace(a, ctx, "remove")
	if err != nil {
		return err
	}
	if at, err := project.At(place.Root, "").Shared(); err == nil && at != nil && url == "" {
		url = at.URL
	} else if url, err = databaseURL(url); err != nil {
		return err
	}
	ctx, end := a.Working(ctx, "removing the project")
	defer end()
	did, err := sharing.Discard(ctx, place.Root, url, which)
	end()
	return showMoved(a, did, err, "is removed from the database")
}

// showMoved says what was done.
func showMoved(a *cli.App, did sharing.Moved, err error, what string) error {
	if err != nil {
		return err
	}
	if a.JSON {
		return a.PrintJSON(did)
	}
	a.Say("%s %s: %s, %s\n", did.Name, what, format.Count(did.Machines, "machine", "machines"), format.Count(int(did.Events), "event", "events"))
	if did.Queued > 0 {
		a.Say("%s moved too\n", format.Count(did.Queued, "task of the queue was", "tasks of the queue were"))
	}
	if did.Kept != "" {
		a.Say("the files that were moved are in .ferrus/%s\n", did.Kept)
	}
	a.ShowSteps([]status.Step{{Command: "ferrus store", Why: "shows where the state is, and which computers work on it"}})
	return nil
}

func storeShow(a *cli.App, ctx context.Context) error {
	place, err := a.Place(ctx)
	if err != nil {
		return err
	}
	shown := struct {
		URL     string          `json:"url"`
		Project *uuid.UUID      `json:"project,omitempty"`
		Nodes   []postgres.Node `json:"nodes"`

		Conducted []postgres.Conducted `json:"conducted"`
		Troubles  []postgres.Trouble   `json:"troubles,omitempty"`
		Ignored   string               `json:"ignored_url,omitempty"`
	}{Nodes: []postgres.Node{}, Conducted: []postgres.Conducted{}}
	at, err := project.At(place.Root, "").Shared()
	if err != nil {
		return err
	}
	if at != nil {
		d, err := at.Database(ctx, nil)
		if err == nil {
			shown.Nodes, err = d.Nodes(ctx, at.Project)
		}
		if err == nil {
			shown.Conducted, err = d.Posts(ctx, at.Project)
		}
		if err == nil {
			shown.Troubles, err = d.Troubles(ctx, at.Project)
		}
		if err == nil {
			shown.Ignored, err = at.Ignored()
		}
		if err != nil {
			return err
		}
		shown.URL, shown.Project = at.URL, &at.Project
	}
	if a.JSON {
		return a.PrintJSON(shown)
	}
	if at == nil {
		a.Say("the state is in the files of %s\n", place.Dir())
		a.ShowSteps([]status.Step{{Command: "ferrus store move URL", Why: "moves it into a PostgreSQL database, for several computers"}})
		return nil
	}
	a.Say("the state is in %s\nproject %s\n", at.URL, at.Project.String())
	if shown.Ignored != "" {
		a.Say("%s\n", a.Paint(cli.Yellow, "not used: "+shown.Ignored+", which is [store] url of your own configuration now"))
		a.Say("  if the database has moved there: %s\n", at.Rejoin())
	}
	for _, n := range shown.Nodes {
		here := ""
		if n.ID == at.Node {
			here = "  (this folder)"
		}
		a.Say("%s  %s  %s%s\n", a.Name(n.Host, 24), cmp.Or(format.Line(n.Root), "(folder not known)"), presence(a, n), here)
		for _, c := range shown.Conducted {
			if c.Node == n.ID {
				a.Say("  conducts %s since %s\n", a.Name(cmp.Or(c.Branch, "the project"), 24), format.Age(c.Since))
			}
		}
		for _, w := range shown.Troubles {
			if w.Node == n.ID {
				a.Say("  %s\n", a.Paint(cli.Yellow, "does not work on "+w.Name+", since "+format.Age(w.Since)+": "+format.Line(w.Text)))
			}
		}
	}
	return nil
}

// presence says whether a computer is there, or when it was last.
func presence(a *cli.App, n postgres.Node) cli.Styled {
	sessions := format.Count(n.Sessions, "session", "sessions")
	switch {
	case n.Heard.IsZero():
		return cli.Styled("joined " + format.Age(n.Joined) + " ago, no agent has worked there")
	case !n.Lost && n.Sessions > 0:
		return cli.Styled(sessions + ", there now")
	case !n.Lost:
		return cli.Styled("there " + format.Age(n.Heard) + " ago")
	case n.Sessions > 0:
		return a.Paint(cli.Red, "lost with "+sessions+", last there "+format.Age(n.Heard)+" ago")
	}
	return cli.Styled("last there " + format.Age(n.Heard) + " ago")
}

func storeExport(a *cli.App, ctx context.Context, name string) error {
	if err := a.RefuseAgent("store export"); err != nil {
		return err
	}
	place, err := a.Place(ctx)
	if err != nil {
		return err
	}
	if name == "-" {
		_, err := sharing.Export(place, a.Out)
		return err
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, os.ErrExist) {
		return cli.Refuse(refusal.InvalidInput, name+" exists", "name another file")
	}
	if err != nil {
		return refusal.Folder(err)
	}
	defer f.Close()
	_, over := a.Working(ctx, "writing the journal")
	defer over()
	end, err := sharing.Export(place, f)
	if err == nil {
		err = refusal.Folder(f.Sync())
	}
	over()
	if err != nil {
		return errors.Join(err, os.Remove(name))
	}
	if a.JSON {
		return a.PrintJSON(map[string]any{"bytes": end.Bytes, "h": end.H})
	}
	a.Say("%s: %s\n", name, format.Size(end.Bytes))
	return nil
}

func storeImport(a *cli.App, ctx context.Context, name string) error {
	place, err := storePlace(a, ctx, "import")
	if err != nil {
		return err
	}
	in := io.Reader(a.In)
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return refusal.Folder(err)
		}
		defer f.Close()
		in = f
	}
	ctx, end := a.Working(ctx, "reading the journal")
	defer end()
	events, err := sharing.Import(ctx, project.At(place.Root, ""), in)
	end()
	if err != nil {
		return err
	}
	if a.JSON {
		return a.PrintJSON(map[string]any{"events": events})
	}
	a.Say("%s, every hash and link valid\n", format.Count(int(events), "event", "events"))
	return nil
}
