package checkout

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/ferrus-go/ferrus/internal/platform/atomicfile"
	"github.com/ferrus-go/ferrus/internal/platform/rootfs"
	"github.com/ferrus-go/ferrus/internal/worktree"
	"github.com/ferrus-go/ferrus/internal/worktree/git"
	"github.com/ferrus-go/ferrus/internal/worktree/repository"
)

// errMade says that the private copy of what the set-up made is not what was copied.
var errMade = errors.New("the private copy of what the set-up made was changed")

// A manifest says what the set-up made.
type manifest struct {
	key  string
	rows []madeRow
}

// A madeRow is a file, folder or link that the set-up made.
type madeRow struct {
	path string
	Path []byte `json:"path"` // bytes: a name need not be UTF-8
	Mode string `json:"mode"` // "made:" and the permissions in octal, git's mode of a link, or "dir"
	ID   string `json:"id,omitempty"`
}

func (r madeRow) dir() bool       { return r.Mode == "dir" }
func (r madeRow) content() string { return r.Mode + " " + r.ID }

func (c *Checkout) madeList() string { return filepath.Join(c.dir, "made.list") }
func (c *Checkout) madeDir() string  { return filepath.Join(c.dir, "made") }

// setUp has what the set-up makes at hand, and runs it where it has not run yet for this layout.
func (c *Checkout) setUp(ctx context.Context, t *worktree.Tree, l Layout) error {
	if l.SetUp == nil {
		c.made = nil
		return nil
	}
	if c.made == nil {
		c.made = readManifest(c.madeList())
	}
	if c.made != nil && c.made.key == l.Key {
		return nil
	}
	if err := c.at(); err != nil {
		return err
	}
	// The list goes first: without it there is no copy.
	if err := os.Remove(c.madeList()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	c.made = nil
	if err := c.writeFiles(ctx, t, l.Base, l.Within); err != nil {
		return err
	}
	if err := c.copyAgreed(l); err != nil {
		return err
	}
	if err := l.SetUp(ctx, c.Files()); err != nil {
		return err
	}
	m, err := c.harvest(l.Key, git.SetOf(l.Copies))
	if err == nil {
		err = c.at()
	}
	if err == nil {
		err = m.write(c.madeList())
	}
	if err != nil {
		return fmt.Errorf("keep what the set-up made: %w", err)
	}
	c.made = m
	return nil
}

// Made lists what the set-up made: files, links and whole folders, by paths relative to the top with slashes, sorted. It is nil before a
// set-up has run.
func (c *Checkout) Made() (names []string) {
	if c.made == nil {
		return nil
	}
	dir := ""
	for _, r := range c.made.rows { // a folder comes before what is in it
		if dir != "" && strings.HasPrefix(r.path, dir+"/") {
			continue
		}
		if names = append(names, r.path); r.dir() {
			dir = r.path
		}
	}
	slices.Sort(names)
	return names
}

// harvest copies what lies in the checkout, and is neither of its tree nor one of the copies.
func (c *Checkout) harvest(key string, copies git.Set) (*manifest, error) {
	if err := os.RemoveAll(c.madeDir()); err != nil {
		return nil, err
	}
	if err := os.Mkdir(c.madeDir(), 0o700); err != nil {
		return nil, err
	}
	from, err := os.OpenRoot(c.Files())
	if err != nil {
		return nil, err
	}
	defer from.Close()
	to, err := os.OpenRoot(c.madeDir())
	if err != nil {
		return nil, err
	}
	defer to.Close()
	tracked := git.Set{}
	for _, e := range c.want.Entries {
		for dir := path.Dir(e.Path); dir != "." && !tracked[dir]; dir = path.Dir(dir) {
			tracked.Add(dir)
		}
	}
	m := &manifest{key: key}
	err = fs.WalkDir(from.FS(), ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || name == "." {
			return err
		}
		if at, ok := c.want.At[name]; ok && !at.IsLink() || copies[name] || e.IsDir() && (tracked[name] || ok) {
			return nil
		}
		r := madeRow{path: name, Path: []byte(name)}
		switch {
		case e.IsDir():
			r.Mode = "dir"
		case e.Type().IsRegular() || e.Type()&fs.ModeSymlink != 0:
			if err := c.at(); err != nil {
				return err
			}
			if r.Mode, r.ID, err = copyInto(from, to, name); err != nil {
				return err
			}
		default:
			return nil // a socket or a pipe means nothing without its process
		}
		m.rows = append(m.rows, r)
		return nil
	})
	return m, err
}

// copyInto copies a file or a link from one folder to the same path in another, with its permissions and its time, and
// returns what it is: its mode and its id in the form of madeRow.
func copyInto(from, to *os.Root, name string) (mode, id string, err error) {
	name = filepath.FromSlash(name)
	like := strings.Repeat("0", 2*sha256.Size)
	info, err := from.Lstat(name)
	if err != nil {
		return "", "", err
	}
	if err := to.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return "", "", err
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		target, err := from.Readlink(name)
		if err == nil {
			err = to.Symlink(target, name)
		}
		return repository.ModeSymlink, repository.IDLike(like, "blob", []byte(target)), err
	}
	in, err := from.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return "", "", err
	}
	defer in.Close()
	if info, err = in.Stat(); err != nil || !info.Mode().IsRegular() {
		return "", "", errors.Join(err, fmt.Errorf("%s is no regular file", git.Printable(name)))
	}
	out, err := to.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", "", err
	}
	h := sha256.New()
	fmt.Fprintf(h, "blob %d\x00", info.Size())
	n, err := io.Copy(io.MultiWriter(out, h), in)
	if err == nil && n != info.Size() {
		err = fmt.Errorf("%s changed while it was copied", git.Printable(name))
	}
	if err == nil {
		err = out.Chmod(info.Mode().Perm())
	}
	if err = errors.Join(err, out.Close()); err == nil {
		err = to.Chtimes(name, info.ModTime(), info.ModTime())
	}
	return fmt.Sprintf("made:%o", info.Mode().Perm()), hex.EncodeToString(h.Sum(nil)), err
}

// copyMade brings what the set-up made back where it is not there already.
func (c *Checkout) copyMade(root *os.Root, p *checkoutPlan) error {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(p.made)) {
		if !p.there[name] {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return nil
	}
	from, err := os.OpenRoot(c.madeDir())
	if err != nil {
		return errMade
	}
	defer from.Close()
	return git.Each(names, func(name string) error {
		if err := c.at(); err != nil {
			return err
		}
		mode, id, err := copyInto(from, root, name)
		if r := p.made[name]; errors.Is(err, fs.ErrNotExist) || err == nil && (mode != r.Mode || id != r.ID) {
			return errMade
		}
		if err != nil {
			return err
		}
		if !c.holds(name, p.made[name].content()) {
			return fmt.Errorf("%s changed while it was laid out", git.Printable(name))
		}
		return nil
	})
}

// copyAgreed copies the files of l.Copies.
func (c *Checkout) copyAgreed(l Layout) error {
	names := slices.DeleteFunc(slices.Clone(l.Copies), func(name string) bool { _, tracked := c.want.At[name]; return tracked })
	if len(names) == 0 {
		return nil
	}
	return l.Copy(c.Files(), names)
}

// copyIgnored copies the files that t leaves out of its trees by [worktree.Options].Ignore, as they stand in its work tree.
func (c *Checkout) copyIgnored(ctx context.Context, t *worktree.Tree) error {
	ignored, err := t.IgnoredFiles(ctx)
	if err != nil || len(ignored) == 0 {
		return err
	}
	from, err := os.OpenRoot(t.Top())
	if err != nil {
		return err
	}
	defer from.Close()
	root, err := os.OpenRoot(c.Files())
	if err != nil {
		return err
	}
	defer root.Close()
	for _, name := range ignored {
		first, _, _ := strings.Cut(name, "/")
		if _, tracked := c.want.At[name]; tracked || first == ".ferrus" || strings.HasSuffix(name, "/") {
			continue
		}
		info, err := from.Lstat(filepath.FromSlash(name))
		if errors.Is(err, fs.ErrNotExist) || err == nil && !info.Mode().IsRegular() && info.Mode()&fs.ModeSymlink == 0 {
			continue
		}
		if err == nil {
			err = root.Remove(filepath.FromSlash(name))
			if errors.Is(err, fs.ErrNotExist) {
				err = nil
			}
		}
		if err == nil {
			_, _, err = copyInto(from, root, name)
		}
		if err != nil {
			return fmt.Errorf("copy %s, which [checks] ignore names: %w", git.Printable(name), err)
		}
	}
	return nil
}

// write writes the manifest at once or not at all.
func (m *manifest) write(file string) error {
	text, err := json.Marshal(struct {
		Key  string    `json:"key"`
		Rows []madeRow `json:"rows"`
	}{m.key, m.rows})
	if err != nil {
		return err
	}
	root, err := rootfs.Open(filepath.Dir(file))
	if err != nil {
		return err
	}
	defer root.Close()
	return atomicfile.Replace(root, filepath.Base(file), text, 0o600)
}

// readManifest reads one, nil where there is none that is whole.
func readManifest(file string) *manifest {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil
	}
	var read struct {
		Key  string    `json:"key"`
		Rows []madeRow `json:"rows"`
	}
	if json.Unmarshal(text, &read) != nil {
		return nil
	}
	m := &manifest{key: read.Key, rows: read.Rows}
	for i, r := range m.rows {
		m.rows[i].path = string(r.Path)
		if !filepath.IsLocal(string(r.Path)) {
			return nil
		}
	}
	return m
}
