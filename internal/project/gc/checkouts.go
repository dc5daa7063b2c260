package gc

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"github.com/ferrus-go/ferrus/internal/config/trust"
	"github.com/ferrus-go/ferrus/internal/platform/rootfs"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/worktree/checkout"
)

// checkoutsFolder is where they are in the state folder.
const checkoutsFolder = "checkouts"

// ByHand stands for the task of the checkout in which a person's own ferrus check runs.
const ByHand = "by-hand"

// CheckoutsDir is the folder of all checkouts of a project.
func CheckoutsDir(root string) (string, error) {
	dir, err := trust.StateDir()
	if err != nil {
		return "", err
	}
	if real, err := filepath.EvalSymlinks(root); err == nil {
		root = real
	}
	return filepath.Join(dir, checkoutsFolder, trust.ID(root)), nil
}

// CheckoutName is the name of the checkout of a task: of a branch, "" for the project's own machine.
func CheckoutName(branch, task string) string {
	return strings.ReplaceAll(branch, "/", "+") + "@" + task
}

// A LeftCheckout is a private checkout that no gate needs any more.
type LeftCheckout struct {
	Branch string `json:"branch,omitempty"` // "" for the project's own machine
	TaskID string `json:"task_id"`          // ByHand for that of ferrus check
	Path   string `json:"path"`
	Bytes  int64  `json:"bytes"`
}

// LeftCheckouts lists the checkouts of a project whose branch is gone, or has another task or none by now. One in use is
// not among them.
func LeftCheckouts(root string) ([]LeftCheckout, error) {
	dir, err := CheckoutsDir(root)
	if err != nil {
		return nil, nil // no state folder, no checkouts
	}
	names, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	needed := map[string]bool{}
	branches, err := project.Branches(root)
	if err != nil {
		return nil, err
	}
	for _, branch := range append(branches, "") {
		task, err := taskAt(project.At(root, branch))
		if err != nil {
			return nil, err
		}
		needed[CheckoutName(branch, task)] = task != ""
	}
	var left []LeftCheckout
	for _, n := range names {
		branch, task, ok := strings.Cut(n.Name(), "@")
		if !ok || needed[n.Name()] || checkout.InUse(filepath.Join(dir, n.Name())) {
			continue
		}
		c := LeftCheckout{Branch: strings.ReplaceAll(branch, "+", "/"), TaskID: task, Path: filepath.Join(dir, n.Name())}
		if folder, err := rootfs.Open(c.Path); err == nil {
			c.Bytes, _ = folder.Size(".") // as far as it can be read
			folder.Close()
		}
		left = append(left, c)
	}
	return left, nil
}

// taskAt is the task that a machine has in progress or merged not yet, "" for none.
func taskAt(place project.Place) (string, error) {
	s, err := place.Open(project.StoreOptions{Log: slog.New(slog.DiscardHandler), ReadOnly: true})
	if err != nil {
		return "", err
	}
	defer s.Close()
	now, err := s.View()
	if err != nil {
		return "", err
	}
	if t := now.Task; t.Underway() || place.Branch != "" && t.State == state.Complete && t.Merged == "" {
		return t.TaskID, nil
	}
	return "", nil
}

// RemoveCheckouts removes checkouts. One that a gate uses by now is left.
func RemoveCheckouts(list []LeftCheckout) error {
	var errs []error
	for _, c := range list {
		errs = append(errs, checkout.Remove(c.Path))
	}
	return errors.Join(errs...)
}

// DropCheckouts removes the checkouts of a machine. What cannot be removed now is logged, and LeftCheckouts finds it later.
func DropCheckouts(on project.Place, log *slog.Logger) {
	dir, err := CheckoutsDir(on.Root)
	if err != nil {
		return // no state folder, no checkouts
	}
	names, _ := os.ReadDir(dir) // none, most of the time
	for _, n := range names {
		if !strings.HasPrefix(n.Name(), CheckoutName(on.Branch, "")) {
			continue
		}
		if err := checkout.Remove(filepath.Join(dir, n.Name())); err != nil {
			log.Warn("the checkout of a check is left", "folder", n.Name(), "error", err)
		}
	}
}
