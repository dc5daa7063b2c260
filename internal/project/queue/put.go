package queue

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/ferrus-go/ferrus/internal/platform/atomicfile"
	"github.com/ferrus-go/ferrus/internal/platform/rootfs"
	"github.com/ferrus-go/ferrus/internal/platform/safetext"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/store"
)

// Put adds a task to the queue of the project of a .ferrus folder. Without a name it uses the first line of the
// text. A name that is in use, or was used before, by a task or a branch, gets a number: -2, -3 and
// so on. The task appears complete or not at all, and survives a power cut. The error is a
// *refusal.RefusedError for an invalid text or name.
//
// The head of the text says what the task needs and its priority. Whether there are such tasks is the matter of the caller.
func Put(home, name, text string) (Item, error) {
	text, h, err := handedIn(text)
	if err == nil {
		err = h.fits()
	}
	if err != nil {
		return Item{}, err
	}
	name = cmp.Or(name, slug(text))
	if err := checkName(name); err != nil {
		return Item{}, err
	}
	return add(home, name, text, h)
}

func add(home, name, text string, h Head) (Item, error) {
	in, err := of(home)
	if err != nil {
		return Item{}, err
	}
	return in.put(name, text, h)
}

// PutIssue adds a task that is the issue of a forge at a URL. Nothing of its text is a head, because strangers wrote it. It is added once: the zero Item is
// returned for a name that is in use, or was used before, by a task or a branch. The error is a *refusal.RefusedError for an invalid text or name.
func PutIssue(home, name, text, url string) (Item, error) {
	text, err := clean(text)
	if err == nil {
		err = checkName(name)
	}
	if err == nil && !state.ValidIssue(url) {
		err = wrong("name the issue as https://github.com/OWNER/NAME/issues/42", "%.80q is not the URL of an issue", url)
	}
	if err != nil {
		return Item{}, err
	}
	return add(home, name, text, Head{Issue: url})
}

func (f fileQueue) put(name, text string, h Head) (Item, error) {
	root, err := rootfs.Open(f.home)
	if err != nil {
		return Item{}, err
	}
	defer root.Close()
	if err := atomicfile.MkdirAll(root, folder, 0o700); err != nil {
		return Item{}, err
	}
	h.Added = time.Now().UTC().Truncate(time.Microsecond)
	for n := 1; n == 1 || h.Issue == ""; n++ {
		it := Item{Head: h, Name: numbered(name, n), Text: text, in: f}
		it.Path = filepath.Join(root.Dir(), folder, it.Name+ext)
		if taken, err := known(root, it.Name); err != nil {
			return Item{}, err
		} else if taken {
			continue
		}
		err := atomicfile.Create(root, path.Join(folder, it.Name+ext), []byte(h.With(text)), 0o600)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		return it, err
	}
	return Item{}, nil
}

// clean returns a text without hidden characters. The error is about one that is no task.
func clean(text string) (string, error) {
	if err := store.CheckText("the task", text, store.MaxDoc); err != nil { // before it is cleaned: torn text is none
		return "", err
	}
	text = safetext.Clean(text)
	return text, store.CheckText("the task", text, store.MaxDoc)
}

// PutPipeline adds a pipeline on a topic to the queue. Its name in the queue is that of the topic. The error is a *refusal.RefusedError
// for an invalid topic or name.
func PutPipeline(home, pipeline, topic string) (Item, error) {
	if strings.TrimSpace(topic) == "" {
		return Item{}, &refusal.RefusedError{Code: refusal.InvalidInput, Message: "the topic is empty", Remedy: "say what the pipeline is to work on"}
	}
	return Put(home, slug(topic), pipelineLine+pipeline+"\n\n"+strings.TrimSpace(topic)+"\n")
}

// taken moves a task out of the queue, once its branch exists. It never overwrites a file. A second
// call does nothing, even if another task has got the name of the first.
func (f fileQueue) taken(it Item) error {
	root, err := rootfs.Open(f.home)
	if err != nil {
		return err
	}
	defer root.Close()
	if err := atomicfile.MkdirAll(root, takenDir, 0o700); err != nil {
		return err
	}
	from := path.Join(folder, it.Name+ext)
	// After the task was taken, another task may get its name.
	if text, _, err := read(root, it.Name); err == nil && text != safetext.Clean(it.Text) {
		return nil
	}
	for n := 1; ; n++ {
		to := path.Join(takenDir, numbered(it.Name, n)+ext)
		// The new name exists before the old one is removed, so that the name is known at every
		// moment.
		err := root.Link(from, to)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case errors.Is(err, fs.ErrExist) && !same(root, from, to):
			continue
		case err != nil && !errors.Is(err, fs.ErrExist): // otherwise an earlier call was interrupted after its link
			return err
		}
		if err := atomicfile.SyncDir(root, takenDir); err != nil {
			return err
		}
		if err := atomicfile.Remove(root, from); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
}

// known reports whether a task of that name has been in the queue, or such a branch exists.
func known(root *rootfs.Root, name string) (bool, error) {
	for _, at := range []string{path.Join(takenDir, name+ext), path.Join("branches", name)} {
		_, err := root.Lstat(at)
		if err == nil || !errors.Is(err, fs.ErrNotExist) {
			return err == nil, err
		}
	}
	return false, nil
}

// same reports whether two names belong to one file.
func same(root *rootfs.Root, a, b string) bool {
	one, err := root.Lstat(a)
	if err != nil {
		return false
	}
	other, err := root.Lstat(b)
	return err == nil && os.SameFile(one, other)
}

// longest is the greatest length of the name of a branch, in bytes.
const longest = 40

// slug returns the first line of a text as a name.
func slug(text string) string {
	first, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	words := strings.FieldsFunc(strings.ToLower(first), func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') })
	name := strings.Join(words, "-")
	return cmp.Or(strings.TrimRight(name[:min(len(name), longest)], "-"), "task")
}

// numbered returns the nth variant of a name that is in use.
func numbered(name string, n int) string {
	if n == 1 {
		return name
	}
	suffix := fmt.Sprintf("-%d", n)
	return name[:min(len(name), longest-len(suffix))] + suffix
}
