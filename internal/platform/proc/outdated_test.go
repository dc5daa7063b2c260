package proc

import (
	"fmt"
	"path/filepath"
	"testing"
)

// TestWhoRunsAReplacedProgram names the processes of the project, and no others.
func TestWhoRunsAReplacedProgram(t *testing.T) {
	root, other := real(t.TempDir()), real(t.TempDir())
	old := func(f fake, dir string) fake { f.old, f.cwd = true, dir; return f }
	slot := filepath.Join(root, ".ferrus", "live", "agent-main-reviewer.lock")
	w := world{
		10: old(cmd(1, "ferrus "+Shim+" reviewer "+slot), "/"),
		11: old(cmd(1, "ferrusd --role executor"), filepath.Join(root, "sub")),
		12: old(cmd(1, "/usr/bin/ferrus -C "+root+" run --parallel 2"), other),
		13: old(cmd(1, "ferrus ui"), root),
		14: old(cmd(1, "ferrus serve --role=supervisor --root="+root), other),
		20: cmd(1, "ferrus run -C "+root),                        // runs the present program
		21: old(cmd(1, "ferrus run"), other),                     // another project
		22: old(cmd(1, "ferrus __checks"), root),                 // ends with its check
		23: old(cmd(1, "vim ferrus.toml"), root),                 // another program
		24: old(cmd(1, "ferrus "+Shim+" executor /x.lock"), "/"), // another project's agent
		99: old(cmd(1, "ferrus status"), root),                   // this process
	}
	want := "[the reviewer of a run (process 10) the server of the executor (process 11) ferrus run (process 12) ferrus ui (process 13) the server of the supervisor (process 14)]"
	if got := fmt.Sprint(outdated(w, 99, root)); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
