package worker

import (
	"context"

	"github.com/ferrus-go/ferrus/internal/tools/gate"
)

// A Tool is one row of the catalogue.
type Tool struct {
	gate.Tool
	Terminal bool     // only a final worker that delivers by itself has it
	Asks     bool     // only a worker that may ask has it
	Turn     gate.Arg // a further argument in a dialogue; zero means none

	run func(ctx context.Context, c *call) error
}

// Catalogue returns all tools of workers, in the order of the documentation.
func Catalogue() []Tool {
	return []Tool{
		{
			Tool: gate.Tool{Name: "get_assignment", Title: "Get your assignment", ReadOnly: true,
				Doc: "Your task, the files you read, the file you write, and your time. Call it first."},
			run: getAssignment,
		},
		{
			Tool: gate.Tool{Name: "wait_for_inputs", Title: "Wait for your inputs", ReadOnly: true,
				Doc: "Wait until your input files exist. On status timeout call it again."},
			run: waitForInputs,
		},
		{
			Tool: gate.Tool{Name: "write_output", Title: "Write your output", Args: []gate.Arg{{Name: "content", Doc: "the whole result", Exact: true}},
				Doc: "Write your result, whole and in one step. A second call replaces it."},
			Turn: gate.Arg{Name: "consensus", Doc: "true only if you agree with the others and nothing is left to say", Flag: true, Optional: true},
			run:  writeOutput,
		},
		{Tool: gate.AskHuman(), Asks: true, run: askHuman},
		{Tool: gate.WaitForAnswer(), Asks: true, run: waitForAnswer},
		{
			Tool: gate.Tool{Name: "heartbeat", Title: "See your time", ReadOnly: true,
				Doc: "The seconds you have left, and whether your work still counts."},
			run: heartbeat,
		},
		{
			Tool: gate.Tool{Name: "deliver", Title: "Deliver the result",
				Doc: "Send your output as the result, once. On status sending call it again."},
			Terminal: true, run: deliver,
		},
	}
}

// A binding has what the workflow says about a worker.
type binding struct {
	terminal bool // it delivers
	speaks   bool // it has turns in a dialogue
	asks     bool // it may ask a person
}

// of returns the tool as the worker sees it.
func (t Tool) of(who binding) gate.Tool {
	own := t.Tool
	if who.speaks && t.Turn.Name != "" {
		own.Args = append(own.Args[:len(own.Args):len(own.Args)], t.Turn)
	}
	return own
}

// has reports whether the worker has the tool.
func (who binding) has(tool string) bool {
	for _, t := range Catalogue() {
		if t.Name == tool {
			return (who.terminal || !t.Terminal) && (who.asks || !t.Asks)
		}
	}
	return false
}
