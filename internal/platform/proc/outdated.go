package proc

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ferrus-go/ferrus/internal/platform/rootfs"
)

// A Process is a process of ferrus that works for a project.
type Process struct {
	Pid  int
	What string // what it does, for a person
}

func (p Process) String() string { return fmt.Sprintf("%s (process %d)", p.What, p.Pid) }

// Outdated returns the processes of ferrus that work for the project in root, but this one, whose program was replaced by another
// since they started: they go on with the old one until they end. It knows nothing where the system does not show which file a
// process runs: that is Linux only.
func Outdated(root string) []Process { return outdated(here{}, os.Getpid(), root) }

func outdated(sys system, self int, root string) (list []Process) {
	root = real(root)
	for _, pid := range sys.all() {
		if pid == self || !sys.replaced(pid) {
			continue
		}
		if what := worksFor(sys, pid, root); what != "" {
			list = append(list, Process{pid, what})
		}
	}
	slices.SortFunc(list, func(a, b Process) int { return cmp.Compare(a.Pid, b.Pid) })
	return list
}

// worksFor says what a process of ferrus does for the project in root, "" for nothing.
func worksFor(sys system, pid int, root string) string {
	p, ok := sys.look(pid)
	if !ok || len(p.args) == 0 || !strings.Contains(filepath.Base(p.args[0]), "ferrus") {
		return ""
	}
	if _, ok := shim(p, root); ok {
		return "the " + clean(p.args[2]) + " of a run"
	}
	if !standsIn(sys, p, root) {
		return ""
	}
	if role := option(p.args, "role"); role != "" {
		return "the server of the " + clean(role)
	}
	for _, word := range p.args[1:] {
		switch {
		case strings.HasPrefix(word, "__"): // a helper, which ends with what it helps
			return ""
		case !strings.HasPrefix(word, "-") && !filepath.IsAbs(word):
			return "ferrus " + clean(word)
		}
	}
	return "ferrus"
}

// standsIn reports whether a process of ferrus was told to work in the project at root, or was started there.
func standsIn(sys system, p entry, root string) bool {
	dir := cmp.Or(option(p.args, "root"), option(p.args, "C"))
	if dir == "" || !filepath.IsAbs(dir) {
		dir = filepath.Join(sys.folder(p.pid), dir)
	}
	return filepath.IsAbs(dir) && rootfs.Within(root, real(dir))
}
