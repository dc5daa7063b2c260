package pipeline

import (
	"strconv"

	"github.com/ferrus-go/ferrus/internal/trust"
)

// Executable lists the values by which a workflows.json decides what is started, in the order of the file: those that
// need a person's agreement. Prompt texts are none: they are orders to a model, and what it may do is decided elsewhere.
func (ws Workflows) Executable() []trust.Value {
	var values []trust.Value
	for _, w := range ws {
		if w.DeliverBy == byTerminal {
			values = append(values, trust.Value{Key: "workflows." + w.Name + ".deliver_by", Value: strconv.Quote(w.DeliverBy),
				Does: "The last worker of the pipeline sends the result, instead of ferrus."})
		}
		for _, p := range w.Phases {
			for _, k := range p.Workers {
				at := "workflows." + w.Name + "." + p.ID + "." + k.Role
				if k.Agent != "" {
					values = append(values, trust.Value{Key: at + ".agent", Value: strconv.Quote(k.Agent),
						Does: "Decides which program is started as a worker of the pipeline."})
				}
				if k.Model != "" {
					values = append(values, trust.Value{Key: at + ".model", Value: strconv.Quote(k.Model),
						Does: "Decides which model works as a worker of the pipeline."})
				}
			}
		}
	}
	return values
}
