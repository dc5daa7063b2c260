package terminal

import (
	"fmt"
	"time"

	tea "charm.land/bubbletea/v2"
)

// A tab is a part of the right pane: a small model of its own.
type tab interface {
	name() string
	// show takes the item that is selected, nil while it is read.
	show(d *Detail, now time.Time)
	resize(width, height int)
	press(key string) bool
	search(text string)
	view(focused bool) []string
	where() string
	// content are all rows, also those out of sight.
	content() []row
	// load reads what the tab shows beside the detail, nil for nothing.
	load(src Source, key Key) tea.Cmd
	// receive takes what load has read.
	receive(msg tea.Msg)
}

// newTabs are the tabs in the order of the screen.
func newTabs() []tab {
	return []tab{&storyTab{}, &diffTab{}, &checksTab{}, &agentsTab{}, &documentsTab{}, &journalTab{}}
}

// static is the part of a tab that reads nothing by itself.
type static struct{}

func (static) load(Source, Key) tea.Cmd { return nil }
func (static) receive(tea.Msg)          {}

func percent(n, of int) string { return fmt.Sprintf("%d%%", 100*n/max(of, 1)) }
