package storetest

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/ferrus-go/ferrus/internal/state/refusal"
)

// counter is the sequential model of a machine whose epoch is counted up: an input is whether it counts or reads, an output what was seen.
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

// linearizable lets several processes count and read at once. Their calls are measured here, around them.
func linearizable(t *testing.T, k Kind) {
	p := k.New(t)
	each := most(20, 60)
	began := time.Now()
	var mu sync.Mutex
	var calls []porcupine.Operation
	var all sync.WaitGroup
	for client := range 4 {
		proc := start(t, p, "count")
		all.Go(func() {
			for n := range each {
				note := ""
				if (n+client)%3 == 0 {
					note = "counts"
				}
				call := time.Since(began)
				answer, err := proc.ask(note)
				back := time.Since(began)
				saw, bad := strconv.ParseUint(answer, 10, 64)
				if err != nil || bad != nil {
					t.Errorf("%v after the answer %q", err, answer)
					return
				}
				mu.Lock()
				calls = append(calls, porcupine.Operation{ClientId: client, Input: note != "", Call: call.Nanoseconds(), Output: saw, Return: back.Nanoseconds()})
				mu.Unlock()
			}
		})
	}
	all.Wait()
	if len(calls) != 4*each {
		t.Fatalf("%d calls, want %d", len(calls), 4*each)
	}
	if result, _ := porcupine.CheckOperationsVerbose(counter, calls, time.Minute); result != porcupine.Ok {
		t.Errorf("%d operations: %s", len(calls), result)
	}
}

// killedWriters kills processes that count. Each note that was acknowledged has its line, and none has two.
func killedWriters(t *testing.T, k Kind) {
	p := k.New(t)
	rounds := most(4, 12)
	acknowledged, asked := map[string]bool{}, map[string]bool{}
	for round := range rounds {
		var all sync.WaitGroup
		var mu sync.Mutex
		for w := range 3 {
			proc := start(t, p, "count")
			all.Go(func() {
				for n := 0; ; n++ {
					note := fmt.Sprint(round, "-", w, "-", n)
					mu.Lock()
					asked[note] = true
					mu.Unlock()
					_, _ = fmt.Fprintln(proc.in, note)
					if n == 5+3*round%7 { // the line, its answer or neither may be there
						proc.kill()
					}
					if _, err := proc.says(); err != nil {
						return
					}
					mu.Lock()
					acknowledged[note] = true
					mu.Unlock()
				}
			})
		}
		all.Wait()
	}
	seen := map[string]int{}
	for _, l := range history(t, k.open(t, p)) {
		seen[l.Note]++
		if !asked[l.Note] {
			t.Errorf("line %d has the note %q, for which nobody asked", l.Seq, l.Note)
		}
	}
	for note := range acknowledged {
		if seen[note] != 1 {
			t.Errorf("%s was acknowledged and has %d lines", note, seen[note])
		}
	}
	for note, n := range seen {
		if n > 1 {
			t.Errorf("%s has %d lines", note, n)
		}
	}
	if want := rounds * 3 * 5; len(acknowledged) < want {
		t.Errorf("%d acknowledged, want at least %d", len(acknowledged), want)
	}
}

// noUpdateIsLost lets goroutines of several opened machines count.
func noUpdateIsLost(t *testing.T, k Kind) {
	p := k.New(t)
	const machines, each = 4, 25
	var all sync.WaitGroup
	for range machines {
		m := k.open(t, p)
		for range 2 {
			all.Go(func() {
				for range each {
					if _, err := m.Apply(context.Background(), count); err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
	}
	all.Wait()
	m := k.open(t, p)
	if got := view(t, m); got.Task.Epoch != machines*2*each || got.Task.Seq != got.Task.Epoch {
		t.Errorf("%d counted in %d lines, want %d", got.Task.Epoch, got.Task.Seq, machines*2*each)
	}
	history(t, m)
}

// stoppedWriter lets a process stand still while it decides. Another either waits for it or goes on, and then the first decides anew.
func stoppedWriter(t *testing.T, k Kind) {
	p := k.New(t)
	m := k.open(t, p)
	apply(t, m, noted("first"))
	slow := start(t, p, "slow")
	if line, err := slow.says(); err != nil || line != "decides at 1" {
		t.Fatal(line, err)
	}
	if k.Hurry != nil {
		k.Open = k.Hurry
	}
	m = k.open(t, p)
	wrote := 0
	if _, err := m.Apply(context.Background(), noted("other")); err == nil {
		wrote++
	} else if code(err) != refusal.LockBusy {
		t.Errorf("the other one: %v", err)
	}
	if got := view(t, m); got.Task.Epoch != uint64(1+wrote) {
		t.Errorf("the machine is at %d, %d written", got.Task.Epoch, 1+wrote)
	}
	answer := slow.must(t, "")
	for strings.HasPrefix(answer, "decides at") {
		answer = slow.must(t, "")
	}
	if answer != fmt.Sprint(2+wrote, " <nil>") {
		t.Errorf("it says %q, with %d written", answer, 1+wrote)
	}
	lines := history(t, m)
	if last := lines[len(lines)-1]; last.Note != fmt.Sprint("slow after ", 1+wrote) {
		t.Errorf("it wrote %q, with %d written", last.Note, 1+wrote)
	}
}
