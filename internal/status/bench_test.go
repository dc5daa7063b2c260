package status_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/ferrus-go/ferrus/internal/engine/enginetest"
	"github.com/ferrus-go/ferrus/internal/status"
)

// BenchmarkHistory searches 10,000 tasks that are over, with an index and without one.
func BenchmarkHistory(b *testing.B) {
	m := enginetest.Repository(b, enginetest.Gate("true"))
	enginetest.Must(m.Human().CreateTask(b.Context(), "Print a receipt", ""))(b)
	id := enginetest.View(b, m.Human()).Task.TaskID
	enginetest.Must(m.Human().Reset(b.Context(), "enough"))(b)
	archive := filepath.Join(m.Dir, ".ferrus", "archive")
	text, err := os.ReadFile(filepath.Join(archive, id, "journal.jsonl"))
	if err != nil {
		b.Fatal(err)
	}
	for i := range 10_000 {
		dir := filepath.Join(archive, fmt.Sprintf("t-20260101-%06d-%08x", i, i))
		if err := os.Mkdir(dir, 0o700); err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "journal.jsonl"), text, 0o600); err != nil {
			b.Fatal(err)
		}
	}
	for _, indexed := range []bool{true, false} {
		b.Run(fmt.Sprintf("index-%v", indexed), func(b *testing.B) {
			search := func() {
				list, err := status.ReadHistory(m.Dir, status.Search{Words: []string{"receipt", "7777"}}, indexed)
				if err != nil || len(list) == 0 {
					b.Fatal(err, len(list))
				}
			}
			search()
			for b.Loop() {
				search()
			}
			_ = os.Remove(filepath.Join(m.Dir, ".ferrus", "history.index"))
		})
	}
}
