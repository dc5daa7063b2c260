package proc

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"time"
)

// A SignalError is the cause of a context that a signal has ended.
type SignalError struct {
	Signal os.Signal
	Exit   int // exit code of the program: 128 and the number of the signal, or 9 for Stop
}

func (e *SignalError) Error() string { return "ended by a signal: " + e.Signal.String() }

// Interruptible returns a context that ends when one of the signals is sent to this process. Its cause is then a
// *SignalError. Later signals are ignored until stop is called: what has been started is being ended.
func Interruptible(parent context.Context, signals ...os.Signal) (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(parent)
	sent := make(chan os.Signal, 1)
	signal.Notify(sent, signals...)
	go func() {
		select {
		case s := <-sent:
			cancel(&SignalError{s, exitOf(s)})
		case <-ctx.Done():
		}
	}()
	return ctx, func() {
		signal.Stop(sent)
		cancel(nil)
	}
}

// Signalled returns the signal that has ended a context of Interruptible, or one derived from it;
// nil when none has.
func Signalled(ctx context.Context) *SignalError {
	var s *SignalError
	errors.As(context.Cause(ctx), &s)
	return s
}

// SignalBehind is Signalled for an error of a command. If err is that of a child that ctrl-C ended, SignalBehind waits as
// AwaitSignal does.
func SignalBehind(ctx context.Context, err error) *SignalError {
	if interruptedChild(err) {
		return AwaitSignal(ctx)
	}
	return Signalled(ctx)
}

// AwaitSignal is Signalled after a child process has ended, perhaps by ctrl-C. A terminal sends ctrl-C to a program and to its
// children alike, so the program's own signal may not have arrived yet. AwaitSignal waits for it, for a second at most.
func AwaitSignal(ctx context.Context) *SignalError {
	select {
	case <-ctx.Done():
	case <-time.After(time.Second):
	}
	return Signalled(ctx)
}

// StoppedExit is the exit code of a program that RequestStop has ended.
const StoppedExit = 9
