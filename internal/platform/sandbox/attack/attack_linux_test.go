package attack

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/ferrus-go/ferrus/internal/platform/sandbox"
	"github.com/ferrus-go/ferrus/test/golden"
	"github.com/ferrus-go/ferrus/test/kit"
)

func TestMain(m *testing.M) {
	sandbox.Stage()
	Main()
	os.Exit(m.Run())
}

// TestNoAttackGoesThroughThatTheDocumentationSaysIsStopped: each goes through without a sandbox, so that the test can see it, and
// through none that is to stop it. Without -full each is tried in both sandboxes as they are here, and in a third of their other forms.
func TestNoAttackGoesThroughThatTheDocumentationSaysIsStopped(t *testing.T) {
	var ways []Way
	for v := sandbox.LeastLandlock; v <= sandbox.LandlockVersion(); v++ {
		ways = append(ways, Way{Mechanism: sandbox.Landlock, Landlock: v})
	}
	if _, err := exec.LookPath("bwrap"); err == nil {
		ways = append(ways, Way{Mechanism: sandbox.Bwrap}, Way{Mechanism: sandbox.Bwrap, Offline: true},
			Way{Mechanism: sandbox.Bwrap, Landlock: sandbox.NoLandlock}, Way{Mechanism: sandbox.Bwrap, Landlock: sandbox.NoLandlock, Offline: true})
		for v := 1; v < sandbox.LandlockVersion(); v++ {
			ways = append(ways, Way{Mechanism: sandbox.Bwrap, Landlock: v})
		}
	} else {
		t.Log("bubblewrap is not installed: its column is not tried")
	}
	if len(ways) == 0 {
		t.Skip("this system has neither Landlock 3 nor bubblewrap")
	}
	for i, a := range All() {
		t.Run(a.Name, func(t *testing.T) {
			t.Parallel()
			try := func(w Way) Result {
				got, err := Try(t.Context(), a, w, os.Args[0])
				if err != nil {
					t.Fatalf("%+v: %v", w, err)
				}
				return got
			}
			if got := try(Way{Mechanism: sandbox.None}); !got.Through {
				if got.Impossible() {
					t.Skipf("it cannot be done here without a sandbox either: %s", got.Why)
				}
				t.Fatalf("it does not go through without a sandbox, so that nothing is shown: %s", got.Why)
			}
			for j, w := range ways {
				if !kit.Sampled(9, i, j) && w != (Way{Mechanism: sandbox.Bwrap}) && w != (Way{Mechanism: sandbox.Landlock, Landlock: sandbox.LandlockVersion()}) {
					continue
				}
				if got := try(w); got.Through == a.Stopped(w) {
					t.Errorf("%+v: through is %v, and the documentation says %v: %s", w, got.Through, !a.Stopped(w), got.Why)
				}
			}
		})
	}
}

// TestTheTableOfAttacksIsFresh: docs/security.md lists the attacks, and which of them the test finds stopped.
func TestTheTableOfAttacksIsFresh(t *testing.T) {
	const file = "../../../../docs/security.md"
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var table strings.Builder
	for _, a := range All() {
		cell := func(m sandbox.Mechanism) string {
			switch {
			case a.Through[m] && a.Network && m == sandbox.Bwrap:
				return "stopped without a network"
			case a.Through[m]:
				return "not stopped"
			case m == sandbox.Bwrap && a.Beside > 0:
				return fmt.Sprintf("stopped without a network, or with Landlock %d", a.Beside)
			case m == sandbox.Landlock && a.Since > 0:
				return fmt.Sprintf("stopped from version %d on", a.Since)
			}
			return "stopped"
		}
		fmt.Fprintf(&table, "| %s | %s | %s |\n", a.Name, cell(sandbox.Landlock), cell(sandbox.Bwrap))
	}
	const head = "| attack | landlock | bwrap |\n|---|---|---|\n"
	before, rest, found := strings.Cut(string(data), head)
	_, after, ends := strings.Cut(rest, "\n\n")
	if !found || !ends {
		t.Fatalf("%s has no table of attacks", file)
	}
	golden.Check(t, file, before+head+table.String()+"\n"+after)
}
