package status

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/test/kit"
)

// TestOneProjectDelaysNoOther: while one does not answer, the others are read again and again, and it is read once. When it has answered,
// who shows it is told. A later error leaves the facts, with their time.
func TestOneProjectDelaysNoOther(t *testing.T) {
	t.Parallel()
	answer, fails := make(chan struct{}), atomic.Bool{}
	var slows, quicks atomic.Int64
	b := NewInbox(t.Context(), func(ctx context.Context, m project.Member) (int64, error) {
		if m.ID == "slow" {
			n := slows.Add(1)
			<-answer
			if fails.Load() {
				return 0, errors.New("locked")
			}
			return n, nil
		}
		return quicks.Add(1), nil
	})
	gone := errors.New("its record is damaged")
	there := t.TempDir()
	if err := errors.Join(os.Mkdir(filepath.Join(there, project.DirName), 0o700), os.WriteFile(filepath.Join(there, project.DirName, "journal.jsonl"), nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	members := []project.Member{{ID: "slow", Root: there}, {ID: "quick", Root: there}, {ID: "damaged", Err: gone}, {ID: "gone", Root: "/nowhere/at/all"}, {ID: "bare", Root: t.TempDir()}}
	b.Limits[1] = time.Minute // however busy the computer is
	changed := b.Changed()
	kit.Eventually(t, "all but the slow one", func() bool {
		rows := b.Read(members)
		return rows[1].Facts > 0 && rows[2].Err != nil && rows[3].Err != nil && rows[4].Err != nil
	})
	before := quicks.Load()
	for i := range int64(3) {
		rows := b.Read(members)
		if rows[0].Err != nil || !rows[0].At.IsZero() || slows.Load() != 1 {
			t.Errorf("the slow one, read %d times: %+v", slows.Load(), rows[0])
		}
		if rows[1].Err != nil || rows[1].Facts != before+i+1 {
			t.Errorf("the quick one: %+v", rows[1])
		}
		if !errors.Is(rows[2].Err, gone) || rows[3].Err == nil || rows[4].Err == nil {
			t.Errorf("%+v", rows[2:])
		}
	}
	select {
	case <-changed:
		t.Error("told of nothing")
	default:
	}
	close(answer)
	<-changed
	kit.Eventually(t, "what the slow one answers", func() bool { return b.Read(members)[0].Facts > 1 }) // the present reading may have begun before
	fails.Store(true)
	last := b.Read(members)[0]
	if last.Err == nil || last.Facts == 0 || last.At.IsZero() {
		t.Errorf("after an error: %+v", last)
	}
}

// TestACommandNamesItsProject in words of a shell.
func TestACommandNamesItsProject(t *testing.T) {
	t.Parallel()
	for in, want := range map[[2]string]string{
		{"/home/ada/shop", "ferrus trust"}:       "ferrus -C /home/ada/shop trust",
		{"/home/a d'a/$(x)", "ferrus answer q1"}: `ferrus -C '/home/a d'\''a/$(x)' answer q1`,
		{"/home/ada/shop", "run make"}:           "run make",
	} {
		if got := CommandIn(in[0], in[1]); got != want {
			t.Errorf("%s, not %s", got, want)
		}
	}
}
