package file

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/ferrus-go/ferrus/internal/store"
	"github.com/ferrus-go/ferrus/test/kit"
)

// counter is the sequential model of a machine whose epoch is counted up: an input is whether it counts or reads, an
// output what was seen.
var counter = porcupine.Model{
	Init: func() any { return uint64(0) },
	Step: func(now, counts, saw any) (bool, any) {
		next := now.(uint64)
		if counts.(bool) {
			next++
		}
		return saw.(uint64) == next, next
	},
}

// race lets several stores on one folder count and read at once, and returns what each saw.
func race(t testing.TB, open func() *Store, stores, each int) []porcupine.Operation {
	began := time.Now()
	var mu sync.Mutex
	var history []porcupine.Operation
	var all sync.WaitGroup
	for n := range stores {
		s := open()
		for _, client := range []int{2 * n, 2*n + 1} {
			all.Go(func() {
				for n := range each {
					counts := (n+client)%3 == 0
					call := time.Since(began)
					var snap store.Snapshot
					var err error
					if counts {
						snap, err = s.Apply(context.Background(), func(now store.Snapshot) (*store.Change, error) {
							next := now.Task.Clone()
							next.Epoch++
							return &store.Change{Event: "repair", Next: next}, nil
						})
					} else {
						snap, err = s.View()
					}
					if err != nil {
						t.Error(err)
						return
					}
					mu.Lock()
					history = append(history, porcupine.Operation{ClientId: client, Input: counts,
						Call: call.Nanoseconds(), Output: snap.Task.Epoch, Return: time.Since(began).Nanoseconds()})
					mu.Unlock()
				}
			})
		}
	}
	all.Wait()
	return history
}

func TestReadsAndWritesAreLinearizable(t *testing.T) {
	t.Parallel()
	each := 120
	if kit.Quick() {
		each = 30
	}
	s := fresh(t, Options{Log: quiet})
	history := race(t, func() *Store { return reopen(t, s) }, 4, each)
	if result, _ := porcupine.CheckOperationsVerbose(counter, history, time.Minute); result != porcupine.Ok {
		t.Errorf("%d operations: %s", len(history), result)
	}
}
