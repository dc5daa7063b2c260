package enginetest

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ferrus-go/ferrus/internal/platform/rootfs"
	"github.com/ferrus-go/ferrus/internal/project/gc"
)

// Aged has a task that ended forty days ago, one that has just ended, and one under way.
func (p *Machine) Aged() (clock *Dial, old, young, present string) {
	p.T.Helper()
	clock = p.Clocked()
	old = p.Finished("one")
	clock.Pass(40 * Day)
	young = p.Finished("two")
	sup, ex := p.Begun()
	AllKept(sup, ex)
	return clock, old, young, View(p.T, sup).Task.TaskID
}

// Finished is a task that was made, checked, submitted and approved.
func (p *Machine) Finished(text string) string {
	p.T.Helper()
	sup, ex := p.Supervisor(), p.Executor("codex")
	Must(sup.CreateTask(p.T.Context(), text, ""))(p.T)
	Claim(p.T, ex)
	p.Write("code.txt", text+"\n")
	Submitted(p.T, ex)
	Must2(sup.Review(p.T.Context()))(p.T)
	id := Must(sup.Approve(p.T.Context(), "Good.", ""))(p.T).Task.TaskID
	p.Write(".ferrus/runs/"+id+".jsonl", "")
	p.Write(".ferrus/logs/agent-"+id+"-executor-1.log", "said")
	AllKept(sup, ex)
	return id
}

// Of is all that there is of a task but the journal: files below .ferrus, and kept trees.
func (p *Machine) Of(task string) []string {
	p.T.Helper()
	list := strings.Fields(p.Git("for-each-ref", "--format=%(refname)", "refs/ferrus"))
	err := filepath.WalkDir(p.Path(".ferrus"), func(path string, _ os.DirEntry, err error) error {
		list = append(list, path)
		return err
	})
	if err != nil {
		p.T.Fatal(err)
	}
	return slices.DeleteFunc(list, func(name string) bool { return !strings.Contains(name, task) })
}

// Swept removes what is older than a month, and returns what that was.
func (p *Machine) Swept(now time.Time) []gc.Garbage {
	p.T.Helper()
	list, err := gc.Find(p.T.Context(), p.Dir, now.Add(-Month))
	if err != nil {
		p.T.Fatal(err)
	}
	for _, l := range list {
		if err := gc.Sweep(p.T.Context(), p.Dir, l); err != nil {
			p.T.Fatal(err)
		}
	}
	return list
}

func (p *Machine) Unkept(task string) {
	for name := range strings.FieldsSeq(p.Git("for-each-ref", "--format=%(refname)", "refs/ferrus/"+task)) {
		p.Git("update-ref", "-d", name)
	}
}

func (p *Machine) Unfiled(patterns ...string) {
	for _, pattern := range patterns {
		found, err := fs.Glob(os.DirFS(p.Path(".ferrus")), pattern)
		if err != nil || len(found) == 0 {
			p.T.Fatalf("no %s: %v", pattern, rootfs.Cause(err))
		}
		for _, path := range found {
			if err := os.RemoveAll(p.Path(".ferrus/" + path)); err != nil {
				p.T.Fatal(err)
			}
		}
	}
}
