package sandbox

import (
	"context"
	"errors"
	"fmt"
	"testing"
)

// TestAMechanismIsProbedOnce, but again where the probe took too long or was given up.
func TestAMechanismIsProbedOnce(t *testing.T) {
	missing := errors.New("not installed")
	for name, c := range map[string]struct {
		first error
		asks  int
	}{
		"it holds":         {nil, 1},
		"it does not hold": {missing, 1},
		"it is slow":       {fmt.Errorf("bwrap: %w", ErrSlow), 3},
	} {
		asks := 0
		p := probes{found: map[Mechanism]error{}, probe: func(context.Context, Mechanism, string) error { asks++; return c.first }}
		for range 3 {
			if err := p.of(t.Context(), Bwrap); err != c.first {
				t.Errorf("%s: %v", name, err)
			}
		}
		if asks != c.asks {
			t.Errorf("%s: asked %d times", name, asks)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	p := probes{found: map[Mechanism]error{}, probe: func(ctx context.Context, _ Mechanism, _ string) error { return ctx.Err() }}
	cancel()
	if err := p.of(ctx, Landlock); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if err := p.of(t.Context(), Landlock); err != nil {
		t.Error(err)
	}
}
