//go:build linux

package e2e

import (
	"fmt"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ferrus-go/ferrus/test/kit"
)

// A usage is what a process uses.
type usage struct{ kib, descriptors, goroutines int }

func readUsage(t testing.TB, pid int, goroutines string) (u usage) {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(status), "VmRSS:")
	fds, errF := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	kib, errK := strconv.Atoi(strings.Fields(rest)[0])
	n, errN := strconv.Atoi(goroutines)
	for _, err := range []error{errF, errK, errN} {
		if err != nil {
			t.Fatal(err)
		}
	}
	return usage{kib, len(fds), n}
}

// usages are what the servers use that live through it all.
func (s *soak) usages(desks []*desk) []usage {
	return []usage{usageOf(s.t, s.lasting.cmd.Process.Pid, s.lasting.stderr),
		usageOf(s.t, desks[0].client.Process().Pid, desks[0].stderr), usageOf(s.t, desks[1].client.Process().Pid, desks[1].stderr)}
}

// goroutines are what a test's server reports when a signal asks for it.
var goroutines = regexp.MustCompile(`goroutines (\d+)\n`)

func usageOf(t testing.TB, pid int, stderr *said) usage {
	before := strings.Count(stderr.String(), "goroutines ")
	if err := syscall.Kill(pid, syscall.SIGUSR1); err != nil {
		t.Fatal(err)
	}
	kit.Eventually(t, "it tells its goroutines", func() bool { return strings.Count(stderr.String(), "goroutines ") > before })
	all := goroutines.FindAllStringSubmatch(stderr.String(), -1)
	return readUsage(t, pid, all[len(all)-1][1])
}

// A sample is one look at the servers that live through a soak.
type sample struct {
	calls   int64 // answered so far, by all
	servers []usage
}

type samples []sample

// quarter is what one server used in one quarter of the soak: the medians.
func (l samples) quarter(n, server int) usage {
	part := l[len(l)*n/4 : len(l)*(n+1)/4]
	middle := func(of func(usage) int) int {
		var list []int
		for _, s := range part {
			list = append(list, of(s.servers[server]))
		}
		slices.Sort(list)
		return list[len(list)/2]
	}
	return usage{middle(func(u usage) int { return u.kib }), middle(func(u usage) int { return u.descriptors }),
		middle(func(u usage) int { return u.goroutines })}
}

// calls is how many calls were answered in a quarter.
func (l samples) calls(n int) int64 {
	return l[len(l)*(n+1)/4-1].calls - l[len(l)*n/4].calls
}

// names of the servers, as they are sampled.
var lasting = []string{"HTTP server", "supervisor's server", "executor's server"}

// flat is whether the last quarter is as the second was; the first is for warming up. It returns what is not. Seconds say
// nothing of that: what settled finds must do for them.
func (s *soak) flat(l samples) (bad int) {
	if !kit.Full() {
		return 0
	}
	for i, name := range lasting {
		was, is := l.quarter(1, i), l.quarter(3, i)
		// Calls under way come and go with what the clients do just then.
		if is.descriptors > was.descriptors*5/4+4 || is.goroutines > was.goroutines*5/4+6 || is.kib > was.kib*5/4+4<<10 {
			s.t.Errorf("the %s grew from %+v to %+v", name, was, is)
			bad++
		}
	}
	if was, is := l.calls(1), l.calls(3); is < was/2 {
		s.t.Errorf("%d calls were answered in the second quarter, %d in the last", was, is)
		bad++
	}
	return bad
}

// settled is whether the servers, with nothing to do any more, use no more than when they were fresh. It returns what does.
func (s *soak) settled(fresh []usage, desks []*desk) (bad int) {
	http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	// The work may be claimed, a connection be closing; what is opened with the first need stays open: the journal that
	// was judged, the folder, the server's log.
	const slack = 9
	var now []usage
	for until := time.Now().Add(kit.Patience / 3); ; time.Sleep(10 * time.Millisecond) {
		now, bad = s.usages(desks), 0
		for i := range now {
			if now[i].descriptors > fresh[i].descriptors+slack || now[i].goroutines > fresh[i].goroutines+slack {
				bad++
			}
		}
		if bad == 0 || time.Now().After(until) {
			break
		}
	}
	if bad > 0 {
		s.t.Errorf("when all is over the servers use (KiB, descriptors, goroutines) %v, and used %v when they were fresh", now, fresh)
	}
	return bad
}

func (l samples) String() string {
	var words []string
	for i, name := range lasting {
		was, is := l.quarter(1, i), l.quarter(3, i)
		words = append(words, fmt.Sprintf("%s: %.1f to %.1f MiB, %d to %d descriptors, %d to %d goroutines", name, float64(was.kib)/1024,
			float64(is.kib)/1024, was.descriptors, is.descriptors, was.goroutines, is.goroutines))
	}
	return fmt.Sprintf("second to last quarter: %d to %d calls; %s", l.calls(1), l.calls(3), strings.Join(words, "; "))
}
