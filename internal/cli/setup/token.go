package setup

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/ferrus-go/ferrus/internal/cli"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/server/tokens"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/status"
)

// TokenCommand is ferrus token.
func TokenCommand(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "token",
		Short: "Manage the tokens of HTTP clients",
		Long: `Creates, lists and revokes the tokens by which "ferrus serve --http" recognises
its clients. A token fixes the role and the name of its agent.`,
		Example: `  ferrus token new --role executor --name laptop
  ferrus token list
  ferrus token revoke laptop`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	var role, name, expires string
	fresh := &cobra.Command{
		Use:   "new --role ROLE --name NAME [--expires WHEN]",
		Short: "Create a token and show its secret once",
		Long: `Creates a token for a client that connects over HTTP, with a role and the name
of an agent. The secret is shown only now; .ferrus/tokens.json has its SHA-256.
A role has one token of each name. A token of the role metrics reads the numbers
of "ferrus metrics" at /metrics, and can do nothing else.`,
		Example: `  ferrus token new --role executor --name laptop
  ferrus token new --role supervisor --name ci --expires 30d`,
		Annotations: cli.Reference("", "id role name created expires secret."),
		Args:        cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return tokenNew(a, cmd.Context(), role, name, expires)
		},
	}
	fresh.Flags().StringVar(&role, "role", "", "`ROLE` of the client: supervisor, executor or metrics")
	fresh.Flags().StringVar(&name, "name", "", "`NAME` of the agent in status and journal")
	fresh.Flags().StringVar(&expires, "expires", "", "expire at `WHEN`: after 30d or 12h, or on 2027-01-31")
	fresh.Flags().SortFlags = false
	cmd.AddCommand(fresh,
		&cobra.Command{
			Use:   "list",
			Short: "List the tokens, without their secrets",
			Long:  "Lists the tokens with their roles, names and dates, including expired ones.",
			Example: `  ferrus token list
  ferrus token list --json`,
			Annotations: cli.Reference("", "[{id role name created expires expired}]."),
			Args:        cobra.NoArgs,
			RunE:        func(cmd *cobra.Command, _ []string) error { return tokenList(a, cmd.Context()) },
		},
		&cobra.Command{
			Use:         "revoke ID|NAME",
			Short:       "Revoke a token",
			Long:        "Deletes a token. The next request that uses it is refused.",
			Example:     "  ferrus token revoke laptop",
			Annotations: cli.Reference("", "id role name created expires."),
			Args:        cobra.ExactArgs(1),
			RunE:        func(cmd *cobra.Command, args []string) error { return tokenRevoke(a, cmd.Context(), args[0]) },
		},
	)
	return cmd
}

// openTokens opens the tokens of the project. It does not read the journal: with a corrupt one tokens can still be revoked.
func openTokens(a *cli.App, ctx context.Context, verb string) (*tokens.Book, error) {
	if err := a.RefuseAgent("token " + verb); err != nil {
		return nil, err
	}
	if a.Branch != "" {
		return nil, cli.UsageError("omit --branch", "tokens belong to the project, not to a branch")
	}
	place, err := a.Place(ctx)
	if err != nil {
		return nil, err
	}
	main := project.At(place.Root, "")
	if !main.Initialised() {
		return nil, cli.Refuse(refusal.NotInitialised, main.Dir()+" was not made by this ferrus", "ferrus doctor{branch} shows what it is")
	}
	return tokens.Open(main.Dir()), nil
}

func tokenNew(a *cli.App, ctx context.Context, role, name, expires string) error {
	book, err := openTokens(a, ctx, "new")
	if err != nil {
		return err
	}
	if role == "" || name == "" {
		return cli.UsageError("ferrus token new --role executor --name NAME", "a token needs a role and a name")
	}
	until, err := expiry(expires, time.Now())
	if err != nil {
		return err
	}
	secret, t, err := book.New(state.Role(role), name, until)
	if err != nil {
		return err
	}
	if a.JSON {
		return a.PrintJSON(struct {
			tokens.Token
			Secret string `json:"secret"`
		}{t, secret})
	}
	a.Say("%s is the token of %s %s; it %s. Its secret is shown only now:\n\n  %s\n",
		a.Paint(cli.Bold, t.ID), string(t.Role), t.Name, ending(t), a.Paint(cli.Bold, secret))
	if t.Role == tokens.Metrics {
		a.Say(`
Give it to Prometheus as the credentials of a scrape, in a file that others
cannot read. With ferrusd --http 127.0.0.1:7433 in the project, the path is
/metrics at that address.
`)
		return nil
	}
	a.Say(`
Set it as FERRUS_TOKEN in the environment of the client. Do not write it into a
file of the project. With ferrusd --http 127.0.0.1:7433 in the project:

  Claude Code, .mcp.json
    {"mcpServers": {"ferrus": {"type": "http", "url": "http://127.0.0.1:7433/mcp",
      "headers": {"Authorization": "Bearer ${FERRUS_TOKEN}"}}}}
  Codex, ~/.codex/config.toml
    [mcp_servers.ferrus]
    url = "http://127.0.0.1:7433/mcp"
    bearer_token_env_var = "FERRUS_TOKEN"
  any other
    Authorization: Bearer and the secret, as a header of every request
`)
	return nil
}

func tokenList(a *cli.App, ctx context.Context) error {
	book, err := openTokens(a, ctx, "list")
	if err != nil {
		return err
	}
	list, err := book.List()
	if err != nil {
		return err
	}
	type row struct {
		tokens.Token
		Expired bool `json:"expired"`
	}
	rows, now := []row{}, time.Now()
	for _, t := range list {
		rows = append(rows, row{t, t.Expired(now)})
	}
	if a.JSON {
		return a.PrintJSON(rows)
	}
	if len(rows) == 0 {
		a.Say("no tokens: no client can connect over HTTP\n")
		a.ShowSteps([]status.Step{{Command: "ferrus token new --role executor --name NAME", Why: "creates one"}})
	}
	for _, r := range rows {
		end := cli.Styled(ending(r.Token))
		if r.Expired {
			end = a.Paint(cli.Red, "expired "+cli.Moment(r.Expires))
		}
		a.Say("%s  %-10s  %-16s  created %s  %s\n", a.Paint(cli.Bold, r.ID), string(r.Role), r.Name, cli.Moment(r.Created), end)
	}
	return nil
}

func tokenRevoke(a *cli.App, ctx context.Context, which string) error {
	book, err := openTokens(a, ctx, "revoke")
	if err != nil {
		return err
	}
	t, err := book.Revoke(which)
	if err != nil {
		return err
	}
	if a.JSON {
		return a.PrintJSON(t)
	}
	a.Say("%s of %s %s is revoked: the next request that uses it is refused\n", t.ID, string(t.Role), t.Name)
	if t.Role == state.Executor {
		a.ShowSteps([]status.Step{{Command: "ferrus release", Why: "lets another executor claim the task now, if it has claimed it"}})
	}
	return nil
}

// ending says until when a token is good.
func ending(t tokens.Token) string {
	if t.Expires.IsZero() {
		return "never expires"
	}
	return "expires " + cli.Moment(t.Expires)
}

// expiry is when a token ends: after so many days or hours, or with a day where the person is. A zero time is never.
func expiry(text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if span, ok := cli.Span(text); ok && span > 0 {
		return now.Add(span).Truncate(time.Second), nil
	}
	if day, err := time.ParseInLocation(time.DateOnly, text, now.Location()); err == nil {
		end := time.Date(day.Year(), day.Month(), day.Day(), 23, 59, 59, 0, now.Location())
		if end.After(now) {
			return end, nil
		}
		return time.Time{}, cli.UsageError("name a day in the future", "--expires %s is in the past", text)
	}
	return time.Time{}, cli.UsageError("--expires 30d, --expires 12h or --expires 2027-01-31", "--expires %q is not a time in the future", text)
}
