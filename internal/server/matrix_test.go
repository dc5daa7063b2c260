//go:build unix

package server

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/tools"
	"github.com/ferrus-go/ferrus/test/kit"
)

// ways are the transports: one process each, HTTP with the revision that has no sessions, HTTP with sessions, SSE.
var ways = []string{"stdio", "modern", "legacy", "sse"}

// A tally counts what was tried over a transport.
type tally struct{ cells, wrong atomic.Int64 }

// TestEveryToolInEveryStateForEveryCaller calls every tool as everybody in every scene over every transport, and finds
// what the table and the catalogue say: the outcome, that a refusal changes nothing, and that allowed names exactly what
// would succeed. The usual run tries a
// quarter of the cells, each over one of the transports, and every tool and state for everybody over each; -full tries all. S2-21.
func TestEveryToolInEveryStateForEveryCaller(t *testing.T) {
	t.Parallel()
	counts := map[string]*tally{}
	for _, way := range ways {
		counts[way] = &tally{}
	}
	t.Run("scenes", func(t *testing.T) {
		for i, s := range scenes {
			for j, way := range ways {
				if kit.Quick() && (i+j)%len(ways) != 0 {
					continue
				}
				t.Run(s.name+" over "+way, func(t *testing.T) {
					t.Parallel()
					play(t, s, way, counts[way], func(tool, who int) bool { return picked(i, tool, who, j) })
				})
			}
		}
	})
	if !kit.Quick() {
		covered(t)
	}
	var cells, wrong int64
	var each []string
	for _, way := range ways {
		n, bad := counts[way].cells.Load(), counts[way].wrong.Load()
		cells, wrong = cells+n, wrong+bad
		each = append(each, fmt.Sprintf("%s %d, wrong %d", way, n, bad))
	}
	t.Logf("rig: cases=%d bad=%d; %s", cells, wrong, strings.Join(each, "; "))
}

// picked says which cells are tried over a transport.
func picked(scene, tool, who, way int) bool {
	apart := 4 * len(ways)
	switch {
	case kit.Full():
		apart = 1
	case kit.Quick():
		apart = 5
	}
	return (scene+tool+who+way*apart/len(ways))%apart == 0
}

// covered sees to it that what is left out leaves out no tool and no state, for nobody over no transport.
func covered(t *testing.T) {
	t.Helper()
	tried := map[string]bool{}
	cell := func(way, who, what string) string { return what + " is never tried by " + who + " over " + way }
	for i, s := range scenes {
		for k, tool := range tools.Catalogue() {
			for j, way := range ways {
				for n, who := range callers[way] {
					if who.tries(tool) && picked(i, k, n, j) {
						tried[cell(way, who.name, tool.Name)], tried[cell(way, who.name, string(s.state))] = true, true
					}
				}
			}
		}
	}
	for _, way := range ways {
		for _, who := range callers[way] {
			for _, tool := range tools.Catalogue() {
				if c := cell(way, who.name, tool.Name); who.tries(tool) && !tried[c] {
					t.Error(c)
				}
			}
			for _, st := range state.States() {
				if c := cell(way, who.name, string(st)); who.about == nil && !tried[c] {
					t.Error(c)
				}
			}
		}
	}
}

// play tries the picked cells of a scene over a transport.
func play(t *testing.T, s scene, way string, count *tally, pick func(tool, who int) bool) {
	var c *cast
	for k, tool := range tools.Catalogue() {
		for n, who := range callers[way] {
			if !pick(k, n) || !who.tries(tool) {
				continue
			}
			if c == nil {
				c = newCast(t, way)
				for _, line := range s.play {
					c.act(line)
				}
			}
			fresh, bad := c.cell(s, tool, who)
			count.cells.Add(1)
			count.wrong.Add(int64(min(1, len(bad))))
			for _, b := range bad {
				t.Errorf("%s calls %s: %s", who.name, tool.Name, b)
			}
			if !fresh {
				c.close()
				c = nil
			}
		}
	}
}

// helps reports whether an answer names a way on: a refusal has a remedy in words, and in a failed task, out of which no agent
// has a way, each result and refusal names a person's.
func helps(tool string, r tools.Result) bool {
	if r.Code != "" && (strings.TrimSpace(r.Remedy) == "" || strings.HasPrefix(r.Remedy, "next:")) {
		return false
	}
	stuck := []refusal.Code{refusal.WrongState, refusal.NotClaimed, refusal.LeaseLost, refusal.StaleReview}
	looks := []string{"status", "wait_for_task", "wait_for_review"}
	if r.State != state.Failed || !slices.Contains(stuck, r.Code) && !slices.Contains(looks, tool) {
		return true
	}
	text := r.Message + r.Remedy
	return strings.Contains(text, "ferrus reopen") && strings.Contains(text, "ferrus reset")
}

// cell makes one call; fresh tells that the world is as before.
func (c *cast) cell(s scene, tool tools.Tool, who caller) (fresh bool, bad []string) {
	snap, err := c.look.View()
	if err != nil || snap.Task.State != s.state {
		c.t.Fatalf("the state is %s: %v", snap.Task.State, err)
	}
	before := c.disk()
	wrong := func(format string, args ...any) { bad = append(bad, fmt.Sprintf(format, args...)) }
	unchanged := func() {
		if c.disk() != before {
			wrong("it changed the store")
		}
	}
	defer func() { fresh = fresh && len(bad) == 0 }()
	if who.part == "none" && c.office != nil {
		if status := c.stranger(tool); status != 401 {
			wrong("without a token: %d", status)
		}
		unchanged()
		return true, bad
	}
	plain := c.stance(s, snap, who, false)
	plain.id = ""
	r, err := c.try(who.part, "status", nil)
	if want := offered(plain, snap.Task); err != nil || !slices.Equal(r.Allowed, want) {
		wrong("allowed is %v (%v), the table says %v", r.Allowed, err, want)
	}
	if !helps("status", r) {
		wrong("status names no way out: %s", r.Message)
	}
	r, err = c.try(who.part, tool.Name, c.args(tool, who))
	if !tool.For(plain.role) {
		_, none := c.try(who.part, "no_such_tool", c.args(tool, who))
		if err == nil || none == nil || strings.ReplaceAll(err.Error(), strconv.Quote(tool.Name), `"no_such_tool"`) != none.Error() ||
			!strings.Contains(err.Error(), "unknown tool") {
			wrong("a hidden tool answers %v, an unknown one %v", err, none)
		}
		unchanged()
		return true, bad
	}
	if err != nil {
		wrong("%v", err)
		return false, bad
	}
	if !helps(tool.Name, r) {
		wrong("the answer names no way out: code %q (%s), remedy %q", r.Code, r.Message, r.Remedy)
	}
	as := c.stance(s, snap, who, takes(tool, "claim"))
	if want := predicted(tool, as, snap.Task); r.Code != want {
		wrong("code %q (%s), the table says %q", r.Code, r.Message, want)
	}
	if r.Code != "" {
		lacks := c.lacks(tool, who)
		as.id, as.barred = "", false // what was named decides the call, and not what is allowed without
		want := offered(as, snap.Task)
		if lacks && r.Next == tool.Name && !slices.Contains(want, tool.Name) { // it would be let through if it named what it lacks
			want = append(want, tool.Name)
			slices.Sort(want)
		}
		if !slices.Equal(r.Allowed, want) {
			wrong("refused, with %v allowed, the table says %v", r.Allowed, want)
		}
	}
	if r.Code != "" || tool.ReadOnly {
		unchanged()
	}
	// A look that shows something changes what its session may decide, and a run will yet have an outcome.
	later := tool.Name == "wait_for_review" || tool.Name == "review_pending" || r.Status == "running"
	return r.Code != "" || !later && c.disk() == before, bad
}
