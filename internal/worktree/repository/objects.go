package repository

import (
	"bufio"
	"bytes"
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/ferrus-go/ferrus/internal/worktree/git"
)

// objects reads objects of both stores, and compares each with its id. Those in files of their own it reads itself; for the first
// other one it starts a git process, which reads all others too.
type objects struct {
	r     *Repository
	ctx   context.Context
	links bool // difference lists links to repositories too

	ask     *os.File // nil until there is a process
	answers *bufio.Reader
	end     func(error) error // waits for it
}

// reading is the time of do.
func (r *Repository) reading(ctx context.Context, do func(*objects) error) error {
	if err := git.Missing(r.dir); err != nil {
		return err
	}
	o := &objects{r: r, ctx: ctx}
	err := do(o)
	if o.ask != nil {
		err = o.end(err)
	}
	return err
}

// start starts the process.
func (o *objects) start() error {
	if o.ask != nil {
		return nil
	}
	ids, ask, err := os.Pipe() // a file of its own: a git that dies is waited for no longer
	if err != nil {
		return err
	}
	answers, out := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		c := o.r.Command()
		c.Stdin, c.Stdout = ids, out
		_, _, err := c.Run(o.ctx, "cat-file", "--batch")
		ids.Close()
		out.CloseWithError(err)
		ended <- err
	}()
	o.ask, o.answers = ask, bufio.NewReaderSize(answers, 64<<10)
	o.end = func(err error) error {
		ask.Close()
		answers.CloseWithError(err) // git's next write fails
		if failed := <-ended; err == nil {
			err = failed
		}
		return err
	}
	return nil
}

// each calls use for every object, in any order, with the names by which errors call them. What use reads of the
// content is compared with the id when use has returned, and what it does not read too.
func (o *objects) each(ids, names []string, use func(i int, kind string, size int64, content io.Reader) error) error {
	var asked []string
	var at []int
	for i, id := range ids {
		kind, content, ok := o.r.readLoose(id)
		if !ok {
			asked, at = append(asked, id), append(at, i)
			continue
		}
		if err := o.ctx.Err(); err != nil {
			return err
		}
		if err := use(i, kind, int64(len(content)), bytes.NewReader(content)); err != nil {
			return err
		}
	}
	if len(asked) == 0 {
		return nil
	}
	if err := o.start(); err != nil {
		return err
	}
	go io.WriteString(o.ask, strings.Join(asked, "\n")+"\n") // a failure is one of git, which the answers tell
	for n, id := range asked {
		i := at[n]
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
