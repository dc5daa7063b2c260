//go:build unix

package web_test

import (
	"fmt"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ferrus-go/ferrus/internal/engine/branch"
	"github.com/ferrus-go/ferrus/internal/engine/enginetest"
)

// large is a project whose task has a journal of 1,000 lines and a patch of 1 MB.
func large(b testing.TB) *enginetest.Machine {
	b.Helper()
	m := enginetest.Repository(b, gate+"\n[limits]\nmax_progress_notes = 2000\n").Recorded().Agreed()
	_, ex := m.Begun()
	for i := range 56 {
		var text strings.Builder
		for j := range 250 {
			fmt.Fprintf(&text, "// Line %d of file %d says: \"nothing but %d numbers and words\".\nvar v%d = %d\n", j, i, i*j, j, i*j)
		}
		m.Write(fmt.Sprintf("file%d.go", i), text.String())
	}
	for i := range 990 {
		enginetest.Must(ex.Progress(b.Context(), fmt.Sprintf("note %d", i)))(b)
	}
	enginetest.Submitted(b, ex)
	return m
}

// BenchmarkPages are the pages of a task with 1,000 entries and a patch of 1 MB.
func BenchmarkPages(b *testing.B) {
	load(b, large(b), "/", "/task", "/task?view=diff", "/task?view=diff&file=40", "/task?view=log", "/task?view=log&all=1", "/task?view=documents", "/history")
}

// load measures how long pages of a project take, and how many bytes they have.
func load(b *testing.B, m *enginetest.Machine, paths ...string) {
	br := browse(b, m)
	for _, path := range paths {
		b.Run(strings.NewReplacer("/", "-", "?", "-", "&", "-").Replace(path), func(b *testing.B) {
			size := 0
			for b.Loop() {
				size = len(br.get(path))
			}
			b.ReportMetric(float64(size), "bytes")
		})
	}
}

// BenchmarkManyTasks are the pages of a project with 1,000 tasks that are over.
func BenchmarkManyTasks(b *testing.B) {
	m := made(b)
	human := m.Human()
	for i := range 1000 {
		enginetest.Must(human.CreateTask(b.Context(), fmt.Sprintf("Task %d: refuse what is not in stock.", i), ""))(b)
		enginetest.Must(human.Reset(b.Context(), "enough"))(b)
	}
	load(b, m, "/", "/history", "/history?all=1", "/history?q=task+77")
}

// BenchmarkUpdate is from a change until an open page has been told of it and has fetched itself again.
func BenchmarkUpdate(b *testing.B) {
	m := made(b)
	_, ex := m.Begun()
	br := browse(b, m)
	events := br.stream("/events?branch=", nil)
	events.next()
	i := 0
	for b.Loop() {
		i++
		note := fmt.Sprintf("note %d.", i)
		enginetest.Must(ex.Progress(b.Context(), note))(b)
		for !strings.Contains(br.get("/task"), note) {
			events.next()
		}
		events.next()
	}
}

// BenchmarkOpenPages is how much memory each of 100 open pages takes, and how much of a core all of them while nothing changes.
func BenchmarkOpenPages(b *testing.B) {
	m := made(b)
	m.Begun()
	br := browse(b, m)
	for b.Loop() {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		var open []*http.Response
		for range 100 {
			br.get("/task")
			resp := br.send("GET", "/events?branch=", nil, nil)
			open = append(open, resp)
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		b.ReportMetric(float64(after.Sys)/(1<<20), "MiB")
		b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/100/1024, "KiB/page")
		used, began := processorTime(b), time.Now()
		time.Sleep(2 * time.Second)
		b.ReportMetric(100*float64(processorTime(b)-used)/float64(time.Since(began)), "%core")
		for _, resp := range open {
			resp.Body.Close()
		}
	}
}

// processorTime is how much processor time this process has used.
func processorTime(b *testing.B) time.Duration {
	var used unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// BenchmarkManyBranches are the first page and the one of a task in a project with 200 branches that are worked on.
func BenchmarkManyBranches(b *testing.B) {
	m := enginetest.Repository(b, gate)
	var names []string
	for i := range 200 {
		names = append(names, fmt.Sprintf("b%d", i))
	}
	enginetest.Branched(b, m.Human(), branch.Fork{Names: names, Own: true})
	for _, name := range names {
		enginetest.Must(m.On(name).Human().CreateTask(b.Context(), "Refuse what is not in stock.", ""))(b)
	}
	load(b, m, "/", "/branch/b7")
}

// BenchmarkTwentyProjects is the page of twenty projects, of which three are damaged, locked and hostile: when it is shown first, and again.
func BenchmarkTwentyProjects(b *testing.B) {
	twenty(b)
	b.Run("first", func(b *testing.B) {
		for b.Loop() {
			b.StopTimer()
			br := browseAll(b, false)
			b.StartTimer()
			page := br.get("/")
			b.ReportMetric(float64(strings.Count(page, "being read")), "unread")
		}
	})
	b.Run("again", func(b *testing.B) {
		br := browseAll(b, false)
		for b.Loop() {
			br.get("/")
		}
	})
}
