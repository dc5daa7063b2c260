package doctor

import (
	"os"
	"slices"
	"time"

	"github.com/ferrus-go/ferrus/internal/platform/rootfs"
	"github.com/ferrus-go/ferrus/internal/project"
)

func checkUpstream(p *Context) Finding {
	if !project.Upstream(p.Place.Root) || p.Place.Branch != "" {
		return Finding{}
	}
	return Bad("STATE.json is from upstream ferrus (schema 1)",
		"ferrus doctor{branch} --fix moves it into archive/ with its documents, and starts again")
}

// keepers are what is ours in a .ferrus that upstream ferrus has used.
var keepers = []string{"STATE.lock", "STATE.json", "journal.jsonl", "archive", "live", "branches", "worktrees", "git"}

// fixUpstream moves what upstream ferrus left into the archive, STATE.json last, so that a crash leaves a state to begin
// again from. Beside a journal of ours only STATE.json is upstream's.
func fixUpstream(p *Context) (string, error) {
	info, err := os.Lstat(p.Path("journal.jsonl"))
	mine := err == nil && info.Size() > 0
	home, err := rootfs.Open(p.Place.Dir())
	if err != nil {
		return "", err
	}
	defer home.Close()
	to := "archive/upstream-" + time.Now().UTC().Format("20060102-150405")
	if err := home.MkdirAll(to, 0o700); err != nil {
		return "", err
	}
	entries, err := home.ReadDir(".")
	if err != nil {
		return "", err
	}
	for _, entry := range entries {
		if mine || slices.Contains(keepers, entry.Name()) {
			continue
		}
		if err := home.Rename(entry.Name(), to+"/"+entry.Name()); err != nil {
			return "", err
		}
	}
	if err := home.Rename("STATE.json", to+"/STATE.json"); err != nil {
		return "", err
	}
	if _, err := project.Init(p.Place.Root); err != nil {
		return "", err
	}
	if _, err := project.Copy(p.Place.Root); err != nil {
		return "", err
	}
	return "moved it to .ferrus/" + to + " and created a new one", nil
}
