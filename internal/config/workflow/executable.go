package workflow

import (
	"strconv"

	"github.com/ferrus-go/ferrus/internal/config/trust"
)

// Executable returns the values of a workflows.json that decide what is started, in the order of
// the file. They need a person's agreement. Prompts are not among them: they instruct a model, and
// other settings decide what the model may do.
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
				if k.Run != "" {
					values = append(values, trust.Value{Key: at + ".run", Value: strconv.Quote(k.Run),
						Does: "Runs this command as a worker of the pipeline."})
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
