package ui

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

type actedMsg struct {
	act     Act
	before  uint64 // the newest entry of the task when the act began
	outcome Outcome
	err     error
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

func do(ctx context.Context, src Source, key Key, before uint64, act Act, values map[string]string) tea.Cmd {
	return func() tea.Msg {
		outcome, err := src.Do(ctx, key, act, values)
		return actedMsg{act, before, outcome, err}
	}
}

func later(d time.Duration, msg tea.Msg) tea.Cmd {
	return tea.Tick(d, func(time.Time) tea.Msg { return msg })
}
