package terminal

import (
	"context"
	"errors"
	"os"

	tea "charm.land/bubbletea/v2"
)

// A Terminal is what a screen is shown on.
type Terminal struct {
	In, Out *os.File
	Environ []string
	// Edit lets the person edit a text in their editor, with the terminal to itself.
	Edit func(ctx context.Context, text string) (string, error)
}

// Run shows a screen until the person closes it or the context ends. However it ends, the terminal is as it was. For an editor
// the program ends and another one goes on: a program that only hands its terminal over may not draw any more.
func Run(ctx context.Context, m *Model, t Terminal) error {
	m.ascii = onlyASCII(t.Environ)
	for {
		if err := show(ctx, m, &m.ctx, t); err != nil || m.editing == nil {
			return err
		}
		f := m.editing
		m.editing = nil
		m.dialog = f
		m.edited(t.Edit(ctx, f.inputs[f.at].text()))
	}
}

// edited takes over what the editor has left.
func (m *Model) edited(text string, err error) {
	if err != nil {
		m.say(err.Error(), true)
	} else if f, ok := m.dialog.(*form); ok {
		f.inputs[f.at].set(text)
	}
}

// frames are how often in a second the screen may be drawn. Looking whether it must be is nearly all that an idle screen costs,
// and waiting for it is most of the time from a key to the screen.
const frames = 40

// show runs a program, whose own context ends with it.
func show(ctx context.Context, m tea.Model, own *context.Context, t Terminal) error {
	within, end := context.WithCancel(ctx)
	defer end()
	*own = within
	_, err := tea.NewProgram(m, tea.WithFPS(frames), tea.WithContext(ctx), tea.WithInput(t.In), tea.WithOutput(t.Out), tea.WithEnvironment(t.Environ),
		tea.WithoutSignalHandler()).Run()
	if errors.Is(err, tea.ErrProgramKilled) && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}
