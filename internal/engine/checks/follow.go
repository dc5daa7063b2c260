package checks

import "context"

type followKey struct{}

// Followed returns a context under which follow gets the path of the log of each run of commands that has begun.
func Followed(ctx context.Context, follow func(log string)) context.Context {
	return context.WithValue(ctx, followKey{}, follow)
}

// Begun tells whoever follows the context that the commands of a spec run.
func Begun(ctx context.Context, spec Spec) {
	if follow, ok := ctx.Value(followKey{}).(func(string)); ok {
		follow(spec.Log)
	}
}
