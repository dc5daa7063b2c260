package demo

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

const maxAdded = `package sum

// Max returns the greatest of xs, 0 when there are none.
func Max(xs []int) int {
	most := 0
	for i, x := range xs {
		if i == 0 || x > most {
			most = x
		}
	}
	return most
}
`

// besides has another task worked on in a work tree of its own, and approved there.
func besides(s *stage) (string, error) {
	if _, err := s.person("branch", "max", "--task", "Add Max: the greatest of a list, 0 for none"); err != nil {
		return "", err
	}
	if err := s.enter("fourth", "executor", 4, "--branch", "max"); err != nil {
		return "", err
	}
	r, err := s.waitClaim("fourth")
	if err != nil {
		return "", err
	}
	if err := os.WriteFile(filepath.Join(r.Worktree, "max.go"), []byte(maxAdded), 0o644); err != nil {
		return "", err
	}
	if _, err := s.submitUntil("fourth", "Max is there.", "go test ./..."); err != nil {
		return "", err
	}
	if _, err := s.person("approve", "--branch", "max"); err != nil {
		return "", err
	}
	if _, err := os.Stat(filepath.Join(s.dir, "max.go")); err == nil {
		return "", fmt.Errorf("the project has the file already")
	}
	return "ferrus branch max: in .ferrus/worktrees/max; approved; the project's files did not change", nil
}

// mergeIn brings it into the project, where something else has changed meanwhile.
func mergeIn(s *stage) (string, error) {
	if err := s.edit("README.md", "Numbers, added.\n"); err != nil {
		return "", err
	}
	out, err := s.person("merge", "max")
	if err != nil {
		return "", err
	}
	for name, want := range map[string]string{"max.go": maxAdded, "README.md": "Numbers, added.\n", "sum.go": sumMended} {
		if got, err := os.ReadFile(filepath.Join(s.dir, name)); err != nil || string(got) != want {
			return "", fmt.Errorf("%s is %q: %v", name, got, err)
		}
	}
	first, _, _ := strings.Cut(out, "\n")
	return first, nil
}
