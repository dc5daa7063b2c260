package checkrun

import (
	"os"
	"slices"

	"github.com/ferrus-go/ferrus/internal/engine/checks"
	"github.com/ferrus-go/ferrus/internal/project"
)

// WithPorts returns the run of commands with the variable of the ports of its folder.
func WithPorts(spec checks.Spec) checks.Spec {
	if spec.Environ == nil {
		spec.Environ = os.Environ()
	}
	spec.Environ = append(slices.Clone(spec.Environ), project.PortEnv(spec.Dir)...)
	return spec
}
