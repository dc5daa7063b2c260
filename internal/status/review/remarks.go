package review

import (
	"context"
	"slices"
	"strconv"

	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/status"
	"github.com/ferrus-go/ferrus/internal/status/review/patch"
)

// A Remark is what a rejection says about a line, which is where that line is now.
type Remark struct {
	patch.Remark
	Round   *status.Round
	Then    int  // the line's number in that round
	Changed bool // it has been changed since
}

// Key names the line in its file, as [patch.Line.Key] does.
func (r Remark) Key() string {
	if r.Removed {
		return "o" + strconv.Itoa(r.Line)
	}
	return "n" + strconv.Itoa(r.Line)
}

// remarks are what the last rejection says about lines of the files of a patch.
func (r *Reader) remarks(ctx context.Context, e *engine.Engine, rounds []status.Round, read *Patch) ([]Remark, error) {
	var round *status.Round
	for i := range rounds {
		if rounds[i].Verdict == state.Reject && rounds[i].Tree != "" {
			round = &rounds[i]
		}
	}
	if round == nil {
		return nil, nil
	}
	shown := func(path string) bool {
		return slices.ContainsFunc(read.Files, func(f patch.File) bool { return f.Path == path || f.Was == path })
	}
	said := patch.Remarks(round.Text, shown)
	if len(said) == 0 {
		return nil, nil
	}
	since, err := r.patch(ctx, e, round.Tree)
	if err != nil {
		return nil, err
	}
	list := make([]Remark, len(said))
	for i, one := range said {
		list[i] = Remark{Remark: one, Round: round, Then: one.Line}
		for j := range since.Files {
			if f := &since.Files[j]; !one.Removed && (f.Path == one.Path || f.Was == one.Path) {
				list[i].Path = f.Path
				list[i].Line, list[i].Changed = f.Now(one.Line)
			}
		}
	}
	return list, nil
}
