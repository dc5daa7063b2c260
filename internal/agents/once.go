package agents

import (
	"context"
	"sync"
)

// answers are what clients have said under a context, by what they were asked.
type answers struct {
	mu   sync.Mutex
	list map[string]*answer
}

type answer struct {
	once sync.Once
	said any
}

type answersKey struct{}

// AskOnce returns a context under which each client is asked for its version once, and once whether it is logged in: each start of a
// client takes a second or two. Who asks the same at the same time waits for the one answer. A context of AskOnce stays as it is.
func AskOnce(ctx context.Context) context.Context {
	if _, ok := ctx.Value(answersKey{}).(*answers); ok {
		return ctx
	}
	return context.WithValue(ctx, answersKey{}, &answers{list: map[string]*answer{}})
}

// answered returns what ask returns, or what it has returned under the context.
func answered[T any](ctx context.Context, what string, ask func() T) T {
	all, ok := ctx.Value(answersKey{}).(*answers)
	if !ok {
		return ask()
	}
	all.mu.Lock()
	of := all.list[what]
	if of == nil {
		of = &answer{}
		all.list[what] = of
	}
	all.mu.Unlock()
	of.once.Do(func() { of.said = ask() })
	said, _ := of.said.(T)
	return said
}
