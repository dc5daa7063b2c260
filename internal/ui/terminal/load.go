package terminal

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/ferrus-go/ferrus/internal/status"
)

type overviewMsg struct {
	quick    bool
	overview *status.Overview
	err      error
}

type detailMsg struct {
	key    Key
	detail *Detail
	err    error
}

type changedMsg struct{ err error }

// actedMsg is the end of an act.
type actedMsg struct {
	job     *job
	outcome Outcome
	err     error
}

// possibleMsg is what is possible with the item of a job that waits for its act.
type possibleMsg struct {
	job    *job
	detail *Detail
	err    error
}

// ageMsg makes the ages on the screen right again.
type ageMsg struct{}

// liveMsg reads the output of agents again.
type liveMsg struct{}

const (
	agesEvery = 15 * time.Second
	liveEvery = 500 * time.Millisecond
)

// readOverview reads quickly for the first picture.
func readOverview(ctx context.Context, src Source, quickly bool) tea.Cmd {
	return func() tea.Msg {
		o, err := src.Overview(ctx, quickly)
		return overviewMsg{quickly, o, err}
	}
}

func loadDetail(ctx context.Context, src Source, key Key) tea.Cmd {
	return func() tea.Msg {
		d, err := src.Detail(ctx, key)
		return detailMsg{key, d, err}
	}
}

func awaitChange(ctx context.Context, src Source) tea.Cmd {
	return func() tea.Msg { return changedMsg{src.Changed(ctx)} }
}

// carry carries a job out, or looks up what its key means.
func carry(ctx context.Context, src Source, j *job) tea.Cmd {
	if j.press != "" {
		return func() tea.Msg {
			d, err := src.Detail(ctx, j.key)
			return possibleMsg{j, d, err}
		}
	}
	key, act, values := j.key, j.act, j.values
	return func() tea.Msg {
		outcome, err := src.Do(ctx, key, act, values)
		return actedMsg{j, outcome, err}
	}
}

func later(d time.Duration, msg tea.Msg) tea.Cmd {
	return tea.Tick(d, func(time.Time) tea.Msg { return msg })
}
