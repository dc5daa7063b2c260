package gc

import (
	"context"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/ferrus-go/ferrus/internal/project"
)

// Names returns the names of all trees that are saved for a project under refs/ferrus, also of its present tasks. What may be another
// project's is not among them. The error is one of [Find].
func Names(ctx context.Context, root string) ([]string, error) {
	home, err := project.At(root, "").OpenHome()
	if err != nil {
		return nil, err
	}
	defer home.Close()
	living, removed, kept, err := usages(ctx, home, root)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, m := range append(living, removed...) {
		had, _, _ := strings.Cut(m.branch, "@") // which no branch has in its name
		if m.branch != "" {                     // no other project of the repository has a branch of its name
			names = append(names, below(kept, m.branch)...)
		}
		for task := range m.tasks {
			names = append(names, below(kept, path.Join(had, task))...)
		}
		idle := *m
		idle.branch = had
		names = append(names, idle.idleSnapshots(kept, time.Now()).kept...)
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}
