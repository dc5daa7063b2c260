//go:build linux

package nodes

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/ferrus-go/ferrus/internal/server/mcpclient"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/tools"
	"github.com/ferrus-go/ferrus/test/kit"
)

// agent plays a role at a branch. args has the folder that all computers see, which the test looks at. The text of a task is "steps N": the executor
// adds a line to steps.txt and has it checked, N times, and submits. It waits while the folder has a file hold-BRANCH. A reviewer approves, but rejects
// while the folder has a file more: then as many steps follow.
//
// An agent holds a lock of its branch and duty in that folder as long as it lives: two on two computers would be seen.
func agent(args []string) int {
	side, branch, duty := args[0], os.Getenv("FERRUS_BRANCH"), os.Getenv("FERRUS_DUTY")
	lock, err := os.OpenFile(filepath.Join(side, "lock-"+branch+"-"+duty), os.O_CREATE|os.O_RDWR, 0o600)
	if err == nil {
		err = syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	}
	if err != nil {
		note(side, "violations", "%s of %s on %s while another one lives: %v", duty, branch, os.Getenv("NODE"), err)
		return 2
	}
	note(side, "agents", "%s %s %s %d", branch, duty, os.Getenv("NODE"), os.Getpid())
	ctx, cancel := context.WithTimeout(context.Background(), kit.Patience)
	defer cancel()
	server := exec.Command("/bin/sh", "-c", "exec "+os.Getenv("FERRUS_SERVER"))
	server.Env = append(os.Environ(), part+"=ferrus")
	client, err := mcpclient.Start(ctx, "nodes", server)
	if err != nil {
		fmt.Println(err)
		return 3
	}
	defer client.Close()
	call := func(tool string, args map[string]any) tools.Result {
		for {
			res, err := client.Call(ctx, tool, args)
			if err != nil {
				fmt.Println(tool, err)
				os.Exit(4)
			}
			fmt.Println(tool, res.Status, res.Code, res.Message)
			if res.Status != "timeout" && res.Status != "running" {
				return res
			}
		}
	}
	if duty != "executor" {
		call("review_pending", nil)
		if _, err := os.Lstat(filepath.Join(side, "more")); err == nil {
			if res := call("reject", map[string]any{"notes": "More."}); res.Code == "" {
				note(side, "rejected", "%s %s", branch, os.Getenv("NODE"))
			}
			return 0
		}
		if res := call("approve", nil); res.Code != "" {
			note(side, "refused", "%s %s %s %s", branch, os.Getenv("NODE"), res.Code, res.Message)
			return 7
		}
		note(side, "approved", "%s %s", branch, os.Getenv("NODE"))
		return 0
	}
	claimed := call("wait_for_task", nil)
	_, count, _ := strings.Cut(claimed.Task, "steps ")
	each, err := strconv.Atoi(strings.Fields(count + " x")[0])
	if err != nil {
		fmt.Println("no task:", claimed.Task)
		return 5
	}
	for more := claimed.State == state.Addressing; ; more = false {
		done, _ := os.ReadFile("steps.txt")
		n := strings.Count(string(done), "\n")
		if n > 0 && n%each == 0 && !more {
			break
		}
		if err := os.WriteFile("steps.txt", fmt.Appendf(done, "%d by %s\n", n+1, os.Getenv("NODE")), 0o644); err != nil {
			fmt.Println(err)
			return 6
		}
		if res := call("check", nil); res.Status == "passed" {
			note(side, "steps", "%s %d %s", branch, n+1, os.Getenv("NODE"))
		}
		hold(ctx, filepath.Join(side, "hold-"+branch))
	}
	call("submit", map[string]any{"summary": "Done.", "verification": "Looked."})
	return 0
}

// hold waits until a file is gone.
func hold(ctx context.Context, path string) {
	every := time.NewTicker(10 * time.Millisecond)
	defer every.Stop()
	for {
		if _, err := os.Lstat(path); err != nil || ctx.Err() != nil {
			return
		}
		<-every.C
	}
}

// note appends a line to a file of the folder that all computers see.
func note(side, name, format string, args ...any) {
	f, err := os.OpenFile(filepath.Join(side, name), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err == nil {
		fmt.Fprintf(f, format+"\n", args...)
		f.Close()
	}
}
