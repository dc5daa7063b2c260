package project

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/ferrus-go/ferrus/internal/platform/rootfs"
	"github.com/ferrus-go/ferrus/internal/store/live"
)

// RunSign is what the names of pipeline runs begin with in Signs. No branch has such a name.
const RunSign = "run:"

// Signs returns for each part of a project a text that is another one after each change of it: for each machine by its branch, "" for
// the project's own, for the queue by QueueSign, and for each pipeline run by RunSign and its name. kept are the signs of its
// database, nil where it has none. It reads no file, and makes none: it can be called often.
func Signs(root string, kept map[string]string) map[string]string {
	own := At(root, "")
	signs := map[string]string{"": kept[""] + machineSign(own.Dir()), QueueSign: kept[QueueSign] + sign(own.Dir(), "queue")}
	for _, name := range own.branchesOf(kept) {
		signs[name] = kept[name] + machineSign(At(root, name).Dir())
	}
	runs := filepath.Join(own.Dir(), "pipeline-tmp")
	for _, e := range names(runs) {
		signs[RunSign+e] = sign(filepath.Join(runs, e), "status.json") + sign(filepath.Join(runs, e), ".")
	}
	return signs
}

// branchesOf are those of the project, as its files or the database have them.
func (p Place) branchesOf(kept map[string]string) (names []string) {
	if !p.InDatabase() {
		names, _ = Branches(p.Root) // what cannot be listed shows itself where it is read
		return names
	}
	for name := range kept {
		if name != "" && name != QueueSign {
			names = append(names, name)
		}
	}
	return names
}

// machineSign is the sign of the machine in a folder: its state, its runs of agents, and who lives.
func machineSign(dir string) string {
	text := sign(dir, "STATE.json")
	for _, name := range names(filepath.Join(dir, live.Dir)) {
		if !strings.HasPrefix(name, live.HeardName) { // it is written again and again
			text += name + ";"
		}
	}
	runs := names(filepath.Join(dir, "runs"))
	if len(runs) > 0 { // the names begin with the time of the task
		text += sign(filepath.Join(dir, "runs"), runs[len(runs)-1])
	}
	return text
}

func names(dir string) (names []string) {
	list, _ := rootfs.ListOwn(dir) // a folder that is missing has none
	for _, e := range list {
		names = append(names, e.Name())
	}
	return names
}

// sign is what a file looks like from outside.
func sign(dir, name string) string {
	info, err := os.Lstat(filepath.Join(dir, name))
	if err != nil {
		return "-"
	}
	return fmt.Sprintf("%d.%d;", info.ModTime().UnixNano(), info.Size())
}
