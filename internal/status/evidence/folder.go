package evidence

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ferrus-go/ferrus/internal/platform/rootfs"
)

// A File is a file that was written.
type File struct {
	Name   string `json:"name"` // below the folder, with slashes
	Bytes  int    `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// sums lists the files for sha256sum -c. Its first line says that the folder is ours, and of which task.
const sums = "SHA256SUMS"

func sumsMark(task string) string { return "# ferrus evidence of " + task + "\n" }

// A FolderError says why a folder cannot have the evidence.
type FolderError struct{ Why string }

func (e *FolderError) Error() string { return e.Why }

// Write writes the files into a folder. The folder must be new, empty, or written by Write for the same task. In the last
// case the files that are no longer there are removed, and files of others stay. The error is a *FolderError for any
// other folder.
func Write(dir, task string, files map[string][]byte) ([]File, error) {
	root, err := folderRoot(dir)
	if err != nil {
		return nil, &FolderError{err.Error()}
	}
	defer root.Close()
	was, err := sumsOf(root, dir, task)
	if err != nil {
		return nil, err
	}
	if was == nil { // so that a writing that is cut off can be made again
		if err := root.WriteFile(sums, []byte(sumsMark(task)), 0o644); err != nil {
			return nil, err
		}
	}
	list, text := []File{}, sumsMark(task)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		sum := sha256.Sum256(files[name])
		x := File{name, len(files[name]), hex.EncodeToString(sum[:])}
		if err := root.MkdirAll(path.Dir(name), 0o755); err != nil {
			return nil, err
		}
		if err := root.WriteFile(name, files[name], 0o644); err != nil {
			return nil, err
		}
		list = append(list, x)
		text += x.SHA256 + "  " + name + "\n"
	}
	for _, name := range was {
		if files[name] != nil {
			continue
		}
		if err := root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	if err := rootfs.Fits(sums, []byte(text), maxSums); err != nil {
		return nil, err
	}
	return list, root.WriteFile(sums, []byte(text), 0o644)
}

// folderRoot makes and opens the folder. No link below .ferrus is followed; elsewhere the folder itself may be one.
func folderRoot(dir string) (*rootfs.Root, error) {
	if home, name := rootfs.Split(dir); filepath.Base(home) == ".ferrus" {
		root, err := rootfs.Open(home)
		if err != nil {
			return nil, err
		}
		defer root.Close()
		if err := root.MkdirAll(name, 0o755); err != nil {
			return nil, err
		}
		return root.Sub(name)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil, err
	}
	return rootfs.Open(dir)
}

// maxSums bounds what is read of the list of an earlier writing, in bytes.
const maxSums = 16 << 20

// sumsOf are the names of the files that an earlier writing has left, nil in an empty folder. Any other is refused.
func sumsOf(root *rootfs.Root, dir, task string) ([]string, error) {
	text, err := root.ReadFile(sums, maxSums)
	if errors.Is(err, fs.ErrNotExist) {
		entries, err := root.ReadDir(".")
		if err == nil && len(entries) > 0 {
			err = &FolderError{dir + " has files that ferrus evidence did not write"}
		}
		return nil, err
	}
	if err != nil {
		return nil, err
	}
	list, ours := strings.CutPrefix(string(text), sumsMark(task))
	if !ours {
		return nil, &FolderError{dir + " is not evidence of " + task}
	}
	names := []string{}
	for l := range strings.Lines(list) {
		if _, name, ok := strings.Cut(strings.TrimSuffix(l, "\n"), "  "); ok {
			names = append(names, name)
		}
	}
	return names, nil
}

// relative writes a folder as "." wherever a text names it, as it is or as JSON has it.
func relative(text []byte, dir string) []byte {
	quoted, err := json.Marshal(dir)
	if err != nil || len(dir) < 2 {
		return text
	}
	for _, name := range slices.Compact([]string{dir, string(quoted[1 : len(quoted)-1])}) {
		text = renamed(text, name, ".")
	}
	return text
}

// renamed replaces a path where it is not a part of another name.
func renamed(text []byte, name, as string) []byte {
	var out bytes.Buffer
	for {
		i := bytes.Index(text, []byte(name))
		if i < 0 {
			out.Write(text)
			return out.Bytes()
		}
		before, _ := utf8.DecodeLastRune(text[:i])
		after, _ := utf8.DecodeRune(text[i+len(name):])
		out.Write(text[:i])
		if i > 0 && named(before) || i+len(name) < len(text) && named(after) {
			fmt.Fprint(&out, name)
		} else {
			out.WriteString(as)
		}
		text = text[i+len(name):]
	}
}

// named reports whether a character beside a path makes it another name.
func named(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' || r == '-'
}
