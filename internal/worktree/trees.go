package worktree

import (
	"bytes"
	"context"
	"encoding/hex"
	"strings"

	"github.com/ferrus-go/ferrus/internal/worktree/repository"
)

// checkFrom is from how many objects on git is asked which are in a store, rather than write those that are new to us.
const checkFrom = 100

// writeTrees makes the trees of files that are in the order of their paths. It returns the id of the top, and those of all.
func (h *hashing) writeTrees(ctx context.Context, files []file) (top string, all map[string]bool, err error) {
	made := map[string][]byte{}
	top = h.t.treeOf(files, 0, made)
	all = make(map[string]bool, len(made))
	var lacking []string
	for id := range made {
		all[id] = true
		if !h.has(id) {
			lacking = append(lacking, id)
		}
	}
	if len(lacking) >= checkFrom {
		if lacking, err = h.t.Missing(ctx, lacking); err != nil {
			return "", nil, err
		}
	}
	for _, id := range lacking {
		if err := h.t.WriteObject("tree", id, made[id]); err != nil {
			return "", nil, err
		}
	}
	return top, all, nil
}

// treeOf adds the tree of files, which all begin with the same folder of that length, and those below it.
func (t *Tree) treeOf(files []file, prefix int, made map[string][]byte) string {
	var b bytes.Buffer
	for i := 0; i < len(files); {
		name, _, folder := strings.Cut(files[i].path[prefix:], "/")
		if !folder {
			t.writeEntry(&b, files[i].Mode, name, files[i].ID)
			i++
			continue
		}
		dir := files[i].path[:prefix+len(name)+1]
		end := i
		for end < len(files) && strings.HasPrefix(files[end].path, dir) {
			end++
		}
		t.writeEntry(&b, repository.ModeTree, name, t.treeOf(files[i:end], len(dir), made))
		i = end
	}
	id := t.ID("tree", b.Bytes())
	made[id] = b.Bytes()
	return id
}

func (t *Tree) writeEntry(b *bytes.Buffer, mode, name, id string) {
	b.WriteString(mode)
	b.WriteByte(' ')
	b.WriteString(name)
	b.WriteByte(0)
	raw, _ := hex.AppendDecode(b.AvailableBuffer(), []byte(id))
	b.Write(raw)
}
