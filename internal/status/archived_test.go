package status

import (
	"slices"
	"testing"
	"time"
)

func TestArchivedTasksOfOneSecondAreNewestFirst(t *testing.T) {
	at := func(ms int) time.Time { return time.Date(2026, 1, 2, 3, 4, 5, ms*1e6, time.UTC) }
	list := []ArchivedTask{
		{TaskID: "t-20260102-030405-bbbb", At: at(1)},
		{TaskID: "t-20260102-030405-aaaa", At: at(2)},
		{TaskID: "t-20260102-030406-cccc"}, // it cannot be read
	}
	for range 2 {
		slices.Reverse(list)
		got := slices.SortedFunc(slices.Values(list), newestFirst)
		if got[0].At != at(2) || got[1].At != at(1) || !got[2].At.IsZero() {
			t.Errorf("%v", got)
		}
	}
}
