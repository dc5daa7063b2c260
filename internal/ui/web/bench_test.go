package web_test

import (
	"fmt"
	"net/http"
	"runtime"
	"strings"
	"testing"

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
	br := browse(b, large(b))
	for _, path := range []string{"/", "/task", "/task?view=diff", "/task?view=log", "/task?view=log&all=1", "/task?view=documents", "/history"} {
		b.Run(strings.NewReplacer("/", "-", "?", "-", "&", "-").Replace(path), func(b *testing.B) {
			size := 0
			for b.Loop() {
				size = len(br.get(path))
			}
			b.ReportMetric(float64(size), "bytes")
		})
	}
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

// BenchmarkOpenPages is how much memory each of 100 open pages takes.
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
		for _, resp := range open {
			resp.Body.Close()
		}
	}
}
