package status

import (
	"context"

	"github.com/ferrus-go/ferrus/internal/cli"
	"github.com/ferrus-go/ferrus/internal/status"
)

func statusAll(a *cli.App, ctx context.Context, newest int) error {
	place, err := a.Place(ctx)
	if err != nil {
		return err
	}
	v, err := Survey(a, ctx, place.Root, newest)
	if err != nil {
		return err
	}
	if a.JSON {
		return a.PrintJSON(v)
	}
	ShowOverview(a, v)
	return nil
}

// Survey looks at everything in a project.
func Survey(a *cli.App, ctx context.Context, root string, newest int) (*status.Overview, error) {
	v, err := status.ReadOverview(ctx, root, status.Options{Open: a.OpenToReadAt, Newest: newest, Sizes: true})
	if err == nil {
		a.WarnForeign(v.Foreign)
	}
	return v, err
}
