package file_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/store"
	"github.com/ferrus-go/ferrus/internal/store/file"
)

// A transition reads the state under the lock and commits one line of the
// journal. Another process that opens the same folder sees it.
func ExampleStore_Apply() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	folder := filepath.Join(dir, ".ferrus")
	s, _, err := file.Create(folder, file.Options{})
	if err != nil {
		panic(err)
	}

	after, err := s.Apply(context.Background(), func(now store.Snapshot) (*store.Change, error) {
		next, err := state.Step(now.Task, state.CreateTask, state.Human, state.Limits{})
		if err != nil {
			return nil, err
		}
		next.TaskID, next.Title = "t-20260102-150405-0001", "say hello"
		return &store.Change{
			Actor: store.Actor{Role: state.Human, Agent: "human"},
			Event: state.CreateTask,
			Next:  next,
			Docs:  map[state.Doc]string{state.TaskDoc: "Say hello."},
		}, nil
	})
	if err != nil {
		panic(err)
	}
	fmt.Println("line", after.Task.Seq, "leads to", after.Task.State)

	other, err := file.Open(folder, file.Options{})
	if err != nil {
		panic(err)
	}
	seen, err := other.View()
	if err != nil {
		panic(err)
	}
	fmt.Println("another process sees:", seen.Task.State, seen.Task.Title)
	// Output:
	// line 1 leads to Executing
	// another process sees: Executing say hello
}
