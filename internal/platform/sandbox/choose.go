package sandbox

import (
	"context"
	"errors"
	"strings"
	"sync"

	"github.com/ferrus-go/ferrus/internal/platform/proc"
)

// probes are what is known of the mechanisms on this machine.
type probes struct {
	mu    sync.Mutex
	found map[Mechanism]error
	probe func(ctx context.Context, m Mechanism, self string) error
}

// probed is what this process knows. A probe starts processes, so that it is made once.
var probed = probes{found: map[Mechanism]error{}, probe: Probe}

// of returns why a mechanism does not hold, nil when it does. A probe that took too long is made again.
func (p *probes) of(ctx context.Context, m Mechanism) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err, known := p.found[m]; known {
		return err
	}
	self, err := proc.Executable()
	if err == nil {
		err = p.probe(ctx, m, self)
	}
	if !errors.Is(err, ErrSlow) && ctx.Err() == nil {
		p.found[m] = err
	}
	return err
}

// Choose returns the first of some mechanisms that suits the caller and holds on this machine. suits returns nil, or why a mechanism
// is not enough. The error names each mechanism with its reason. This program's main calls [Stage] first.
func Choose(ctx context.Context, from []Mechanism, suits func(Mechanism) error) (Mechanism, error) {
	var why []string
	for _, m := range from {
		err := suits(m)
		if err == nil {
			err = probed.of(ctx, m)
		}
		if ctx.Err() != nil {
			return None, ctx.Err()
		}
		if err == nil {
			return m, nil
		}
		why = append(why, err.Error())
	}
	return None, errors.New(strings.Join(why, "; "))
}
