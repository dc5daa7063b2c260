package repository

import (
	"bufio"
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/ferrus-go/ferrus/internal/worktree/git"
)

// objects reads objects of both stores through one git process, and compares each with its id.
type objects struct {
	ask     io.Writer
	answers *bufio.Reader
	links   bool // difference lists links to repositories too
}

// reading starts the process for the time of do.
func (r *Repository) reading(ctx context.Context, do func(*objects) error) error {
	ids, ask, err := os.Pipe() // a file of its own: a git that dies is waited for no longer
	if err != nil {
		return err
	}
	answers, out := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		c := r.Command()
		c.Stdin, c.Stdout = ids, out
		_, _, err := c.Run(ctx, "cat-file", "--batch")
		ids.Close()
		out.CloseWithError(err)
		ended <- err
	}()
	err = do(&objects{ask: ask, answers: bufio.NewReaderSize(answers, 64<<10)})
	ask.Close()
	answers.CloseWithError(err) // git's next write fails
	if failed := <-ended; err == nil {
		err = failed
	}
	return err
}

// each calls use for every object, in the order of ids, with the names by which errors call them. What use reads of the
// content is compared with the id when use has returned, and what it does not read too.
func (o *objects) each(ids, names []string, use func(i int, kind string, size int64, content io.Reader) error) error {
	if len(ids) > 0 {
		go io.WriteString(o.ask, strings.Join(ids, "\n")+"\n") // a failure is one of git, which the answers tell
	}
	for i, id := range ids {
		head, err := o.answers.ReadString('\n')
		if err != nil {
			return err
		}
		f := strings.Fields(head) // "id kind size", the content, and a newline
		if len(f) == 2 && f[1] == "missing" {
			return fmt.Errorf("%s: %w", git.Printable(names[i]), errLost)
		}
		if len(f) != 3 || f[0] != id {
			return fmt.Errorf("git cat-file: cannot read %q", head)
		}
		size, err := strconv.ParseInt(f[2], 10, 64)
		if err != nil {
			return fmt.Errorf("git cat-file: cannot read %q", head)
		}
		h := HashOf(id)
		fmt.Fprintf(h, "%s %d\x00", f[1], size)
		rest := &io.LimitedReader{R: o.answers, N: size}
		content := io.TeeReader(rest, h)
		if err := use(i, f[1], size, content); err != nil {
			return err
		}
		if _, err := io.Copy(io.Discard, content); err != nil {
			return err
		}
		if rest.N > 0 {
			return io.ErrUnexpectedEOF
		}
		if hex.EncodeToString(h.Sum(nil)) != id {
			return Damaged(names[i])
		}
		if _, err := o.answers.Discard(1); err != nil {
			return err
		}
	}
	return nil
}

// Damaged is the error of an object whose content has another id; name is what it is of.
func Damaged(name string) error {
	return fmt.Errorf("the object of %s is not what its id says: somebody changed an object store; ferrus doctor and git fsck look at it", git.Printable(name))
}
