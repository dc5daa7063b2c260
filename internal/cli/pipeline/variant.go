package pipeline

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/ferrus-go/ferrus/internal/cli"
	"github.com/ferrus-go/ferrus/internal/pipeline/run"
)

func variantFlag(cmd *cobra.Command, variants *[]string) {
	cmd.Flags().StringArrayVar(variants, "variant", nil, "let `AGENT[:MODEL]` do the work; repeat it for more runs")
}

// variantsOf returns the settings of one run for each variant, and of one run without a variant for none.
func variantsOf(s run.Settings, names []string) ([]run.Settings, error) {
	variants, err := cli.Variants(names)
	if err != nil || len(variants) == 0 {
		return []run.Settings{s}, err
	}
	var all []run.Settings
	for _, v := range variants {
		s.Variant = v.String()
		all = append(all, s)
	}
	return all, nil
}

// eachVariant begins a run with each of the settings. A single one is conducted to its end; of several, or with detach, the
// first workers are started. begin returns nil for what is no run.
func eachVariant(a *cli.App, ctx context.Context, at run.Place, all []run.Settings, detach bool, begin func(run.Settings) (*run.Folder, error)) error {
	for _, s := range all {
		f, err := begin(s)
		switch {
		case err != nil:
			return err
		case f == nil:
		case detach || len(all) > 1:
			err = once(a, ctx, at, f)
		default:
			err = conductRun(a, ctx, at, f, "")
		}
		if err != nil {
			return err
		}
	}
	return nil
}
