package agreement

import (
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"path/filepath"
	"slices"

	adapters "github.com/ferrus-go/ferrus/internal/agents"
	"github.com/ferrus-go/ferrus/internal/config"
	"github.com/ferrus-go/ferrus/internal/config/trust"
	"github.com/ferrus-go/ferrus/internal/platform/rootfs"
)

// maxClientFiles and maxClientFile bound what is read of a client's own files in a project.
const (
	maxClientFiles = 500
	maxClientFile  = 1 << 20
)

// clientFiles lists the files of the project by which the clients of its agents run commands of their own and which those
// clients cannot be told to ignore. Their content counts byte by byte: ferrus does not know what it means.
func clientFiles(root string, conf config.Config) []trust.Value {
	var values []trust.Value
	var seen []string
	ruled, _ := conf.RuleAgents()
	for _, who := range slices.Concat(conf.HQ.Supervisor.List(), conf.HQ.Executor.List(), ruled) {
		adapter, err := adapters.Find(who.Agent)
		if err != nil {
			continue
		}
		for _, name := range adapter.Settings {
			if slices.Contains(seen, name) {
				continue
			}
			seen = append(seen, name)
			if sum := contentOf(filepath.Join(root, filepath.FromSlash(name))); sum != "" {
				values = append(values, trust.Value{Key: name, Value: sum,
					Does: "Settings of " + adapter.Title + ", which may run commands with your rights; read them."})
			}
		}
	}
	return values
}

// contentOf names the content of a file, or of a folder with all that is in it; "" where there is none. What cannot be read
// as a file is named by why, so that it has to be agreed to.
func contentOf(path string) string {
	h, n := sha256.New(), 0
	err := filepath.WalkDir(path, func(at string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if n++; n > maxClientFiles {
			return fs.SkipAll
		}
		rel, _ := filepath.Rel(path, at)
		text, err := rootfs.ReadFile(at, maxClientFile)
		if err != nil {
			text = []byte("cannot be read")
		}
		sum := sha256.Sum256(text)
		h.Write([]byte(filepath.ToSlash(rel) + "\x00" + string(sum[:])))
		return nil
	})
	switch {
	case n == 0:
		return ""
	case err != nil:
		return "cannot be read"
	case n > maxClientFiles:
		return "more files than ferrus looks at"
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil)[:16])
}
