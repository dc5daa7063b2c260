package cli

import (
	"strings"

	"github.com/ferrus-go/ferrus/internal/agents"
	"github.com/ferrus-go/ferrus/internal/platform/format"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
)

// Variants reads the values of --variant: each is the name of an agent, or AGENT:MODEL.
func Variants(values []string) ([]state.Variant, error) {
	var names []string
	for _, a := range agents.All() {
		names = append(names, a.Name)
	}
	var list []state.Variant
	for _, text := range values {
		agent, model, named := strings.Cut(text, ":")
		if _, err := agents.Find(agent); err != nil {
			meant := refusal.Say("there are %s", strings.Join(names, ", "))
			if near := format.Word(agent, names); near != "" {
				meant = refusal.Say("did you mean %s?", near)
			}
			return nil, UsageError(meant, "--variant %s names no agent", text)
		}
		if named && strings.TrimSpace(model) == "" || strings.ContainsAny(model, "\n\r\t\x00") {
			return nil, UsageError("--variant AGENT, or --variant AGENT:MODEL", "--variant %q names no model", text)
		}
		list = append(list, state.Variant{Agent: agent, Model: model})
	}
	return list, nil
}
