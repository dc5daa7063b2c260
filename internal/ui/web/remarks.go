package web

import (
	"context"
	"slices"
	"strconv"

	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/status"
	"github.com/ferrus-go/ferrus/internal/ui/web/patch"
)

// A remark is what a rejection says about a line, which is where that line is now.
type remark struct {
	patch.Remark
	Round   *status.Round
	Then    int  // the line's number in that round
	Changed bool // it has been changed since
}

// Key names the line in its file, as [patch.Line.Key] does.
func (r remark) Key() string {
	if r.Removed {
		return "o" + strconv.Itoa(r.Line)
	}
	return "n" + strconv.Itoa(r.Line)
}

// remarks are what the last rejection says about lines of the files of a patch.
func (s *Site) remarks(ctx context.Context, e *engine.Engine, rounds []status.Round, read *readPatch) ([]remark, error) {
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
		return slices.ContainsFunc(read.files, func(f patch.File) bool { return f.Path == path || f.Was == path })
	}
	said := patch.Remarks(round.Text, shown)
	if len(said) == 0 {
		return nil, nil
	}
	since, err := s.patch(ctx, e, round.Tree)
	if err != nil {
		return nil, err
	}
	list := make([]remark, len(said))
	for i, r := range said {
		list[i] = remark{Remark: r, Round: round, Then: r.Line}
		for j := range since.files {
			if f := &since.files[j]; !r.Removed && (f.Path == r.Path || f.Was == r.Path) {
				list[i].Path = f.Path
				list[i].Line, list[i].Changed = f.Now(r.Line)
			}
		}
	}
	return list, nil
}

// about takes those of the file's remarks that are about a line.
func (f *diffFile) about(key string) (said []remark) {
	f.Said = slices.DeleteFunc(f.Said, func(r remark) bool {
		is := r.Key() == key
		if is {
			said = append(said, r)
		}
		return is
	})
	return said
}
