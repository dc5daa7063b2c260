package tools

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/store"
)

// Limits of the history in one result.
const (
	usualEntries = 20
	mostEntries  = 100
	maxHistory   = 8 << 10 // bytes: some clients cut the middle out of a longer result
	maxEntryNote = 120     // characters
)

func showHistory(_ context.Context, c *call) error {
	now, err := c.s.Engine().View()
	if err != nil {
		return err
	}
	c.snap = &now
	list, err := entries(c.s.Engine(), now)
	if err != nil {
		return err
	}
	page := list
	if before := c.Number["before"]; before > 0 {
		for len(page) > 0 && page[len(page)-1].seq >= uint64(before) {
			page = page[:len(page)-1]
		}
	}
	page = newestOf(page, cmp.Or(c.Number["limit"], usualEntries), maxHistory)
	for _, e := range page {
		c.res.History = append(c.res.History, e.text)
	}
	switch {
	case now.Task.TaskID == "":
		c.res.Message = "There is no task, and so no history."
	case len(page) == 0:
		c.res.Message = fmt.Sprintf("The task has no entry before that; its first is %d.", list[0].seq)
	case page[0].seq > list[0].seq:
		c.res.Message = fmt.Sprintf("Entries %d to %d of the task. For the earlier ones call again with before %[1]d.", page[0].seq, page[len(page)-1].seq)
	default:
		c.res.Message = fmt.Sprintf("All entries of the task to %d.", page[len(page)-1].seq)
	}
	return nil
}

// An entry is one event of the task in the words of a line.
type entry struct {
	seq  uint64
	text string
}

// entries returns the events of the present task, oldest first.
func entries(e *engine.Engine, now store.Snapshot) ([]entry, error) {
	if now.Task.TaskID == "" {
		return nil, nil
	}
	var list []entry
	var lines []*store.Line
	for l, err := range e.Store().HistoryFrom(now.Task.Docs[state.TaskDoc].Off) {
		if err != nil {
			return nil, err
		}
		if l.Seq > now.Task.Seq {
			break
		}
		brief := *l
		if utf8.RuneCountInString(l.Note) > maxEntryNote {
			brief.Note = string([]rune(l.Note)[:maxEntryNote-1]) + "…"
		}
		list, lines = append(list, entry{l.Seq, historyLine(&brief)}), append(lines, l)
	}
	for i, left := range store.Abandoned(lines) {
		if left {
			list[i].text = strings.Replace(list[i].text, "  ", "┆ ", 1)
		}
	}
	return list, nil
}

// newestOf returns the newest entries: at most the given number and bytes, but at least one.
func newestOf(list []entry, most, bytes int) []entry {
	from := len(list)
	for size := 0; from > max(0, len(list)-most); from-- {
		if size += len(list[from-1].text); size > bytes && from < len(list) {
			break
		}
	}
	return list[from:]
}
