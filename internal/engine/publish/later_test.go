package publish_test

import (
	"fmt"
	"net/http"
	"path"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/engine/branch"
	"github.com/ferrus-go/ferrus/internal/engine/enginetest"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/test/kit"
)

// A contest is a task that one computer publishes and another one can take over meanwhile.
type contest struct {
	alt  *enginetest.Machine // the branch on the first computer
	ex   *engine.Session     // its executor there
	host *enginetest.Machine // the remote
	refs string              // the full names of the task's refs there begin with it

	at    atomic.Int32 // the question to the remote at which the task is taken over; 0 while none is counted
	asked atomic.Int32
	epoch uint64 // of the second computer; 0 until it has the task
}

// contested makes a task that was published and has changed since. The remote has a ref of it of an epoch that the journal does not have. about is
// in the questions to the remote that are counted.
func contested(t *testing.T, epoch int, about string) *contest {
	t.Helper()
	a, b, host := enginetest.Computers(t, enginetest.Gate("true"))
	o := &contest{host: &enginetest.Machine{T: t, Dir: host}}
	there := b.On("alt")
	address := enginetest.Serve(t, host, func(_ http.ResponseWriter, q *http.Request) bool {
		if n := o.at.Load(); n == 0 || !strings.Contains(q.URL.RawQuery, about) || o.asked.Add(1) != n {
			return true
		}
		enginetest.Must(there.Human().Release(t.Context(), "It hangs."))(t)
		next := there.Executor("codex")
		enginetest.Claim(t, next)
		there.Write("code.txt", "the successor's\n")
		enginetest.Must(next.Engine().Publish(t.Context()))(t)
		o.epoch = enginetest.View(t, next).Task.Epoch
		return true
	})
	enginetest.Reconfigured(t, "[store]\ntrees = \""+address+"\"\n")
	o.alt, o.ex = branched(t, a)
	enginetest.Check(t, o.ex, state.CheckGreen)
	if err := enginetest.Second(branch.Fetch(t.Context(), b.Human(), "alt", "")); err != nil {
		t.Fatal(err)
	}
	at := enginetest.Must(project.At(a.Dir, "").Shared())(t)
	o.refs = "refs/ferrus/" + at.Project.String() + "/alt@" + enginetest.View(t, o.ex).Task.TaskID
	o.host.Git("update-ref", fmt.Sprintf("%s/%d", o.refs, epoch), "main")
	o.alt.Write("code.txt", "two\n")
	return o
}

// TestASuccessorsFilesAreNotSwept: the remote has a ref that the journal does not know, which one computer deletes. At whatever question to the remote
// another one takes the task over and publishes meanwhile, its files stay.
func TestASuccessorsFilesAreNotSwept(t *testing.T) {
	came := 0
	for n := range int32(4) {
		if !kit.Every(2, int(n)) {
			continue
		}
		o := contested(t, 99, "git-upload-pack")
		o.at.Store(n + 1)
		_, err := o.ex.Engine().Publish(t.Context())
		o.at.Store(0)
		if o.epoch == 0 {
			break // so many questions it does not ask
		}
		came++
		if code := refusal.CodeOf(err); err != nil && code != refusal.LeaseLost {
			t.Errorf("%d: %v", n, err)
		}
		ref := fmt.Sprintf("%s/%d", path.Base(o.refs), o.epoch)
		if refs := enginetest.Refs(t, o.host.Dir); refs[ref] == "" {
			t.Errorf("question %d: the successor's files are gone; the remote has %q", n, names(refs))
		} else if text := o.host.Git("show", refs[ref]+":code.txt"); text != "the successor's\n" {
			t.Errorf("question %d: the successor's files are %q", n, text)
		}
	}
	if came < 2 {
		t.Errorf("%d questions to the remote were tried", came)
	}
}
