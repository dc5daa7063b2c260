package workflow

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrus-go/ferrus/internal/config/trust"
)

// TestEveryValueThatStartsSomethingIsExecutable: who delivers, an agent, its model and a command are; a prompt and an exit
// code are not.
func TestEveryValueThatStartsSomethingIsExecutable(t *testing.T) {
	t.Parallel()
	w := flow(t, workers(`"deliver_by": "terminal",`, ph("a", "", `{"role": "lint", "run": "make lint > \"$FERRUS_OUTPUT\"", "ok_exit": [1]}`),
		ph("z", "", wk("end", final+reads("lint.md")+`, "agent": "codex", "model": "best"`))))
	want := []trust.Value{
		{Key: "workflows.p.deliver_by", Value: `"terminal"`, Does: "The last worker of the pipeline sends the result, instead of ferrus."},
		{Key: "workflows.p.a.lint.run", Value: `"make lint > \"$FERRUS_OUTPUT\""`, Does: "Runs this command as a worker of the pipeline."},
		{Key: "workflows.p.z.end.agent", Value: `"codex"`, Does: "Decides which program is started as a worker of the pipeline."},
		{Key: "workflows.p.z.end.model", Value: `"best"`, Does: "Decides which model works as a worker of the pipeline."},
	}
	if got := (Workflows{w}).Executable(); !cmp.Equal(got, want) {
		t.Error(cmp.Diff(want, got))
	}
	copied, err := w.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if again := flow(t, string(copied)); !cmp.Equal(again, w) {
		t.Errorf("the copy differs: %s", cmp.Diff(w, again))
	}
}
