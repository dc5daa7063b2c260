package project

import (
	"errors"
	"io/fs"
	"path/filepath"

	"github.com/ferrus-go/ferrus/internal/platform/rootfs"
)

// WorkflowsName is the name of the file that defines the pipelines of a project.
const WorkflowsName = "workflows.json"

// maxWorkflows bounds that file, in bytes.
const maxWorkflows = 1 << 20

// Workflows reads the file that defines the pipelines of the project at root, and returns its path: workflows.json in root,
// else the one in .ferrus. The error is fs.ErrNotExist where there is neither; a larger file, or a link in .ferrus, is another
// error.
func Workflows(root string) (text []byte, path string, err error) {
	path = filepath.Join(root, WorkflowsName)
	if text, err = rootfs.ReadFile(path, maxWorkflows); errors.Is(err, fs.ErrNotExist) {
		path = filepath.Join(root, DirName, WorkflowsName)
		text, err = rootfs.ReadOwn(path, maxWorkflows)
	}
	return text, path, err
}
