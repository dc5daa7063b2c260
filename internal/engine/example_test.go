package engine_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/state"
)

// A session acts for one caller. What it may do follows from its role and from
// the state; the engine adds the facts, such as the verdict of the checks.
func ExampleSession() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	check := []byte("[checks]\ncommands = [\"grep -q hello greeting\"]\n")
	if err := os.WriteFile(filepath.Join(dir, "ferrus.toml"), check, 0o644); err != nil {
		panic(err)
	}
	if _, err := project.Init(dir); err != nil {
		panic(err)
	}
	e, err := engine.Open(project.At(dir, ""), engine.Options{Log: slog.New(slog.NewTextHandler(io.Discard, nil))})
	if err != nil {
		panic(err)
	}
	defer e.Close()
	supervisor := e.Session(engine.Caller{Role: state.Supervisor, Agent: "supervisor:example:1"})
	executor := e.Session(engine.Caller{Role: state.Executor, Agent: "executor:example:1"})
	ctx, patience := context.Background(), 20*time.Second

	done, err := supervisor.CreateTask(ctx, "Write hello into the file greeting.", "")
	fmt.Println("created:", done.Task.State, err)
	_, snap, err := executor.AwaitTask(ctx, patience, true)
	fmt.Println("claimed:", snap.Task.ClaimedBy, err)

	checked, err := executor.Check(ctx, patience)
	fmt.Println("checked:", checked.Status, checked.Task.State, err)
	if err := os.WriteFile(filepath.Join(dir, "greeting"), []byte("hello\n"), 0o644); err != nil {
		panic(err)
	}
	submitted, err := executor.Submit(ctx, engine.Submitting{Summary: "Done.", Verification: "The check."}, patience)
	fmt.Println("submitted:", submitted.Accepted, submitted.Done.Task.State, err)

	_, _, err = supervisor.Review(ctx)
	fmt.Println("read:", err)
	done, err = supervisor.Approve(ctx, "", "")
	fmt.Println("approved:", done.Task.State, err)
	// Output:
	// created: Executing <nil>
	// claimed: executor:example:1 <nil>
	// checked: failed Addressing <nil>
	// submitted: true Reviewing <nil>
	// read: <nil>
	// approved: Complete <nil>
}
