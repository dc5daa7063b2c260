package ui

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"time"

	"github.com/spf13/cobra"

	"github.com/ferrus-go/ferrus/internal/cli"
	"github.com/ferrus-go/ferrus/internal/cli/setup"
	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/status"
	"github.com/ferrus-go/ferrus/internal/ui/web"
)

// WebCommand is ferrus web.
func WebCommand(a *cli.App) *cobra.Command {
	var at address
	var all bool
	cmd := &cobra.Command{
		Use:   "web [--all] [--http HOST:PORT] [--url URL]",
		Short: "Show the project in your browser, and act there",
		Long: `Serves a page of the project until you press ctrl-C: what needs you, all tasks,
diffs that you can comment, and your acts as forms. It prints a link that logs
one browser in, once, within a minute. Enter prints another link. --all serves
all projects that you have agreed to, from one inbox. It listens on the
loopback; another address needs TLS. For a phone put a proxy with TLS in front
and name its address with --url. No agent may start it.`,
		Example: `  ferrus web
  ferrus web --all
  ferrus web --http 127.0.0.1:7434 --url https://desk.example.ts.net
  ferrus web --http desk.local:7443 --tls-cert cert.pem --tls-key key.pem`,
		Annotations: cli.Reference(`It does not open a browser. A browser stays logged in for 12 hours, or until
ferrus web ends. The page has no more rights than your commands: it runs them.
See docs/security.md for what the way in promises.

`+allNote, `{url expires_at address}, a line for each link.`),
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return serve(a, cmd.Context(), at, all) },
	}
	cmd.Flags().BoolVar(&all, "all", false, "serve all projects that you have agreed to")
	cmd.Flags().StringVar(&at.http, "http", "127.0.0.1:0", "listen at `HOST:PORT`; port 0 is a free one")
	cmd.Flags().StringVar(&at.url, "url", "", "the `URL` at which browsers reach it, https only")
	cmd.Flags().StringVar(&at.cert, "tls-cert", "", "`FILE` of the certificate, for https")
	cmd.Flags().StringVar(&at.key, "tls-key", "", "`FILE` of its key")
	cmd.Flags().SortFlags = false
	return cmd
}

// A page is what a browser sees: that of a project, or of all.
type page interface {
	Link() (string, time.Time)
	Serve(context.Context, []net.Listener, *tls.Config) error
}

func serve(a *cli.App, ctx context.Context, at address, all bool) error {
	if err := a.RefuseAgent("web"); err != nil {
		return err
	}
	what, g := "all projects", newDoorkeeper(a, "web --all")
	var place project.Place
	var err error
	if all {
		err = g.start()
	} else if place, err = a.Place(ctx); err == nil {
		what = place.Root
	}
	if err != nil {
		return err
	}
	listeners, conf, origin, err := at.listen(ctx)
	if err != nil {
		return err
	}
	var site page
	if all {
		site, err = web.NewAll(ctx, web.AllOptions{Origin: origin, Version: setup.VersionText(), Log: cli.Warnings(a.Err), Members: project.Members,
			Of: func(m project.Member) web.Options {
				return siteOf(a, m.Root, func() error { return g.may(m.Root) })
			}})
	} else {
		opts := siteOf(a, place.Root, func() error { return untrusted(a, place) })
		opts.Origin, opts.Version, opts.Log = origin, setup.VersionText(), cli.Warnings(a.Err)
		site, err = web.New(ctx, opts)
	}
	if err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- site.Serve(ctx, listeners, conf) }()
	if !a.JSON {
		a.Say("The page of %s, at %s. Open this link within a minute; it can be used once:\n", what, listeners[0].Addr())
	}
	if err := link(a, site, listeners[0].Addr()); err != nil {
		return err
	}
	if !a.JSON {
		a.Say("Enter prints another link, ctrl-C ends.\n")
	}
	go func() {
		each := &cli.LineWriter{Show: func(string) { _ = link(a, site, listeners[0].Addr()) }} // the person sees that no link is printed
		_, _ = io.Copy(each, a.In)
	}()
	err = <-ended
	if ctx.Err() != nil {
		return a.Interrupted(ctx)
	}
	return err
}

// siteOf is how a project is read and used by a page.
func siteOf(a *cli.App, root string, untrusted func() error) web.Options {
	return web.Options{Root: root, Open: a.OpenToReadAt, Untrusted: untrusted,
		Do: func(ctx context.Context, what status.Act, values map[string]string) (status.Outcome, error) {
			return a.Do(ctx, root, "web", what, values)
		}}
}

// link prints a new link.
func link(a *cli.App, site page, at net.Addr) error {
	url, until := site.Link()
	if a.JSON {
		return a.PrintJSONLine(struct {
			URL     string    `json:"url"`
			Expires time.Time `json:"expires_at"`
			Address string    `json:"address"` // at which it listens
		}{url, until.UTC(), at.String()})
	}
	a.Say("\n  %s\n\n", url)
	return nil
}

// untrusted returns why nothing may be done in the project, nil when the person has agreed to it.
func untrusted(a *cli.App, place project.Place) error {
	e, err := a.OpenToReadAt(project.At(place.Root, ""))
	if err != nil {
		return err
	}
	defer e.Close()
	return errors.Join(e.Foreign(), known(e))
}

func known(e *engine.Engine) error {
	if e.Foreign() != nil {
		return nil // it says enough
	}
	return e.Known()
}
