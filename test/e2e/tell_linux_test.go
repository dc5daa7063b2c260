package e2e

import (
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"syscall"
)

// tell has a server of the tests tell its goroutines whenever it gets SIGUSR1.
func tell() {
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, syscall.SIGUSR1)
	go func() {
		for range asked {
			fmt.Fprintf(os.Stderr, "goroutines %d\n", runtime.NumGoroutine())
		}
	}()
}
