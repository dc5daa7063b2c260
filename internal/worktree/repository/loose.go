package repository

import (
	"bytes"
	"compress/zlib"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/ferrus-go/ferrus/internal/platform/rootfs"
	"github.com/ferrus-go/ferrus/internal/worktree/filestat"
)

// newHash is the hash of the repository's object ids.
func (r *Repository) newHash() hash.Hash {
	if len(r.nothing) == 64 {
		return sha256.New()
	}
	return sha1.New() // git's choice; what differs on purpose has the same size, and git refuses it
}

// ID is the id of an object of that kind: blob, tree or commit.
func (r *Repository) ID(kind string, data []byte) string {
	sum := r.newHash()
	fmt.Fprintf(sum, "%s %d\x00", kind, len(data))
	sum.Write(data)
	return hex.EncodeToString(sum.Sum(nil))
}

// stream writes a blob of that size as git stores it, and returns its id, or "" if there are more or fewer bytes.
func (r *Repository) stream(w io.Writer, in *os.File, size int64) (string, error) {
	sum := r.newHash()
	both := io.MultiWriter(w, sum)
	fmt.Fprintf(both, "blob %d\x00", size)
	n, err := io.Copy(both, io.NewSectionReader(in, 0, size+1))
	if err != nil || n != size {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// WriteObject writes a loose object into the private store.
func (r *Repository) WriteObject(kind, id string, data []byte) error {
	_, err := r.writeLoose(func(w io.Writer) (string, error) {
		fmt.Fprintf(w, "%s %d\x00", kind, len(data))
		_, err := io.Copy(w, bytes.NewReader(data))
		return id, err
	})
	return err
}

// WriteLarge stores what a file of that size holds, and keeps no more than a part of it in memory. It returns the id, and
// stores nothing if has says that the object is in a store; the id is "" if the file holds more or fewer bytes.
func (r *Repository) WriteLarge(in *os.File, size int64, has func(id string) bool) (id string, err error) {
	id, err = r.stream(io.Discard, in, size)
	if err != nil || id == "" || has(id) {
		return id, err
	}
	return r.writeLoose(func(w io.Writer) (string, error) { return r.stream(w, in, size) })
}

// writeLoose writes a loose object of the private store: beside its place, and then moves it there.
func (r *Repository) writeLoose(write func(io.Writer) (id string, err error)) (id string, err error) {
	f, err := os.CreateTemp(r.store(), "tmp_objdir-*")
	if err != nil {
		return "", err
	}
	defer os.Remove(f.Name())
	z, err := zlib.NewWriterLevel(f, zlib.BestSpeed)
	if err != nil {
		return "", err
	}
	id, err = write(z)
	if closed := z.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = f.Chmod(0o444)
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err != nil || id == "" {
		return "", err
	}
	to := loose(r.store(), id)
	if err := os.Rename(f.Name(), to); err == nil || !errors.Is(err, fs.ErrNotExist) {
		return id, err
	}
	if err := os.Mkdir(filepath.Dir(to), 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", err
	}
	return id, os.Rename(f.Name(), to)
}

// HashOf is the hash of a repository whose ids are as long as id.
func HashOf(id string) hash.Hash {
	if len(id) == 2*sha256.Size {
		return sha256.New()
	}
	return sha1.New()
}

// IDLike is git's id of an object, in the hash that other is an id of.
func IDLike(other, kind string, data []byte) string {
	h := HashOf(other)
	fmt.Fprintf(h, "%s %d\x00", kind, len(data))
	h.Write(data)
	return hex.EncodeToString(h.Sum(nil))
}

// loose is where a store has an object that is in no pack.
func loose(store, id string) string { return filepath.Join(store, id[:2], id[2:]) }

// maxLoose bounds an object that is read without git, and its file, in bytes.
const maxLoose = 1 << 20

// readLoose reads an object from a file of its own. ok is false where none has just what the id says: git is to be asked, and
// knows why.
func (r *Repository) readLoose(id string) (kind string, content []byte, ok bool) {
	if !IsID(id) {
		return "", nil, false
	}
	if id == IDLike(id, "tree", nil) {
		return "tree", nil, true // git knows it where no store has it
	}
	for _, store := range []string{r.store(), r.objects} {
		file, err := rootfs.ReadRegular(loose(store, id), maxLoose)
		if err != nil {
			continue
		}
		z, err := zlib.NewReader(bytes.NewReader(file))
		if err != nil {
			continue
		}
		text, err := io.ReadAll(io.LimitReader(z, maxLoose))
		h := HashOf(id)
		h.Write(text)
		if err != nil || hex.EncodeToString(h.Sum(nil)) != id {
			continue
		}
		head, content, _ := bytes.Cut(text, []byte{0}) // "kind size", and the content
		kind, _, _ = strings.Cut(string(head), " ")
		return kind, content, true
	}
	return "", nil, false
}

// looseSize is the size of an object that is in a store, and in no pack; else 0. It reads the beginning of its file.
func (r *Repository) looseSize(id string) int64 {
	for _, store := range []string{r.store(), r.objects} {
		f, err := filestat.Open(loose(store, id))
		if err != nil {
			continue
		}
		defer f.Close()
		z, err := zlib.NewReader(f)
		if err != nil {
			return 0
		}
		head, _ := io.ReadAll(io.LimitReader(z, 32)) // "kind size\x00"
		text, _, _ := bytes.Cut(head, []byte{0})
		_, figure, _ := bytes.Cut(text, []byte{' '})
		size, _ := strconv.ParseInt(string(figure), 10, 64)
		return size
	}
	return 0
}

// BlobID is the id that git gives to so many bytes, "" if there are more or fewer.
func (r *Repository) BlobID(in io.Reader, size int64) string {
	h := r.newHash()
	fmt.Fprintf(h, "blob %d\x00", size)
	if n, err := io.Copy(h, in); err != nil || n != size {
		return ""
	}
	return hex.EncodeToString(h.Sum(nil))
}

// HasLoose reports whether an object is in a store, and in no pack.
func (r *Repository) HasLoose(id string) bool {
	return filestat.Exists(loose(r.store(), id)) || filestat.Exists(loose(r.objects, id))
}
