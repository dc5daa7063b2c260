package published_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/ferrus-go/ferrus/internal/branch"
	"github.com/ferrus-go/ferrus/internal/engine/enginetest"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/refusal"
	"github.com/ferrus-go/ferrus/internal/state"
)

// TestASuccessorsFilesAreNotSwept: the remote has a ref that the journal does not know, which one computer deletes. At whatever question to the remote
// another one takes the task over and publishes meanwhile, its files stay.
func TestASuccessorsFilesAreNotSwept(t *testing.T) {
	came := 0
	for n := range int32(4) {
		a, b, host := enginetest.Computers(t, enginetest.Gate("true"))
		var takeOver func()
		var asked atomic.Int32
		address := enginetest.Serve(t, host, func(_ http.ResponseWriter, q *http.Request) bool {
			if takeOver != nil && strings.Contains(q.URL.RawQuery, "git-upload-pack") && asked.Add(1) == n+1 {
				takeOver()
			}
			return true
		})
		enginetest.Reconfigured(t, "[store]\ntrees = \""+address+"\"\n")
		alt, ex := branched(t, a)
		enginetest.Check(t, ex, state.CheckGreen)
		if err := enginetest.Second(branch.Fetch(t.Context(), b.Human(), "alt", "")); err != nil {
			t.Fatal(err)
		}
		at := enginetest.Must(project.At(a.Dir, "").Shared())(t)
		task := enginetest.View(t, ex).Task.TaskID
		bare := &enginetest.Machine{T: t, Dir: host}
		bare.Git("update-ref", "refs/ferrus/"+at.Project.String()+"/alt@"+task+"/99", "main")
		alt.Write("code.txt", "two\n")

		there, epoch := b.On("alt"), uint64(0)
		takeOver = func() {
			enginetest.Must(there.Human().Release(t.Context(), "It hangs."))(t)
			next := there.Executor("codex")
			enginetest.Claim(t, next)
			there.Write("code.txt", "the successor's\n")
			enginetest.Must(next.Engine().Publish(t.Context()))(t)
			epoch = enginetest.View(t, next).Task.Epoch
		}
		_, err := ex.Engine().Publish(t.Context())
		takeOver = nil
		if epoch == 0 {
			continue // so many questions it does not ask
		}
		came++
		if code := refusal.CodeOf(err); err != nil && code != refusal.LeaseLost {
			t.Errorf("%d: %v", n, err)
		}
		ref := fmt.Sprintf("alt@%s/%d", task, epoch)
		if refs := enginetest.Refs(t, host); refs[ref] == "" {
			t.Errorf("question %d: the successor's files are gone; the remote has %q", n, names(refs))
		} else if text := bare.Git("show", refs[ref]+":code.txt"); text != "the successor's\n" {
			t.Errorf("question %d: the successor's files are %q", n, text)
		}
	}
	if came < 2 {
		t.Errorf("%d questions to the remote were tried", came)
	}
}
