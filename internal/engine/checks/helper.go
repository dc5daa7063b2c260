package checks

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"syscall"
)

// helperCalled is set once, by Helper. A program without that call would answer HelperArg by
// running as usual; a test binary would start the next helper, and so on without end.
var helperCalled bool

// Helper runs the check helper if the program was started as one, and then never returns. Call it
// first in every main that may call Start, and in the TestMain of every test that may.
func Helper() {
	helperCalled = true
	if len(os.Args) != 2 || os.Args[1] != HelperArg {
		return
	}
	// The kernel ties the death signal of a child to the thread that started it.
	runtime.LockOSThread()
	if err := helper(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "check helper:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

func helper(stdin io.Reader, stdout io.Writer) error {
	// SIGPIPE is handled, not ignored: the commands would inherit an ignored signal. When the
	// server is dead, a write must fail and must not kill the helper before it has killed its
	// processes.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	dec := json.NewDecoder(stdin)
	var o order
	if err := dec.Decode(&o); err != nil {
		return fmt.Errorf("read the order on stdin: %v: this command is for ferrus itself, run ferrus without %s", err,
			HelperArg)
	}
	go func() {
		_, _ = io.Copy(io.Discard, stdin) // the server sends nothing more: this returns when the server closes the pipe or dies
		stop()
	}()
	enc := json.NewEncoder(stdout)
	report := func(m message) { _ = enc.Encode(m) } // an error means that the server is dead; ctx is then done, too
	result := run(ctx, o, report)
	report(message{Result: &result})
	return nil
}
