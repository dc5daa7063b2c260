package terminal

import (
	"fmt"
	"testing"

	"github.com/ferrus-go/ferrus/internal/status"
)

// BenchmarkAThousandItems is a key and the picture after it, and what an overview of a thousand items costs.
func BenchmarkAThousandItems(b *testing.B) {
	src := busy(b)
	for i := range 1000 {
		src.overview.Queue = append(src.overview.Queue, status.QueuedTask{Name: fmt.Sprintf("n%d", i), Title: fmt.Sprintf("Task %d", i)})
	}
	s := onStage(b, src, 120, 40)
	b.Run("key", func(b *testing.B) {
		for b.Loop() {
			s.Update(pressed("j"))
			s.View()
		}
	})
	b.Run("overview", func(b *testing.B) {
		for b.Loop() {
			s.takeOverview(overviewMsg{overview: src.overview})
			s.View()
		}
	})
}
