package terminal

import (
	"context"
	"errors"
	"os"
	"reflect"
	"sync"
	"time"

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

// frames are how often in a second the screen is drawn while something happens: waiting for that is most of the time from a key to the
// screen. Afterwards it is drawn once in idle: each look whether something has changed costs time of a processor.
const (
	frames = 120
	lively = 200 * time.Millisecond // after the last message
	idle   = time.Second
)

// show runs a program, whose own context ends with it.
func show(ctx context.Context, m tea.Model, own *context.Context, t Terminal) error {
	within, end := context.WithCancel(ctx)
	defer end()
	*own = within
	var p *tea.Program
	at := &pace{resting: true}
	p = tea.NewProgram(m, tea.WithFPS(frames), tea.WithContext(ctx), tea.WithInput(t.In), tea.WithOutput(t.Out), tea.WithEnvironment(t.Environ),
		tea.WithoutSignalHandler(), tea.WithFilter(func(_ tea.Model, msg tea.Msg) tea.Msg {
			at.message(tickerOf(p))
			return msg
		}))
	_, err := p.Run()
	if errors.Is(err, tea.ErrProgramKilled) && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// A pace is how often a program looks whether it must draw.
type pace struct {
	mu      sync.Mutex
	last    time.Time // of the messages
	resting bool
}

// message is called for each message, before the program takes it.
func (a *pace) message(looks *time.Ticker) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.last = time.Now()
	if !a.resting || looks == nil {
		return
	}
	a.resting = false
	looks.Reset(time.Second / frames)
	time.AfterFunc(lively, func() { a.rest(looks) })
}

// rest slows the looks down, unless there were messages since it was planned.
func (a *pace) rest(looks *time.Ticker) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if left := lively - time.Since(a.last); left > 0 {
		time.AfterFunc(left, func() { a.rest(looks) })
		return
	}
	a.resting = true
	looks.Reset(idle)
}

// tickerOf is what a program of bubbletea looks by whether it must draw, which it offers no way to change; nil in a version that has it no more.
// Call it from the program's own goroutine.
func tickerOf(p *tea.Program) *time.Ticker {
	field := reflect.ValueOf(p).Elem().FieldByName("ticker")
	if !field.IsValid() || field.Type() != reflect.TypeFor[*time.Ticker]() {
		return nil
	}
	return (*time.Ticker)(field.UnsafePointer())
}
