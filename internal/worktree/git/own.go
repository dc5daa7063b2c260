package git

import (
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// Own calls git as the person would: by their configuration and that of the repository, in their environment, with hooks and with signing.
// It is for a person's `ferrus commit` and `ferrus pr` alone; every other call is [Command.Run], by which nothing of a repository runs. What git and the
// programs that it starts print on stderr goes to said. Of the command it uses Dir, Env and Stdin, and Config comes last.
func (c Command) Own(ctx context.Context, said io.Writer, args ...string) (stdout []byte, err error) {
	path, err := gitPath(c.Dir)
	if err != nil {
		return nil, err
	}
	var full []string
	for _, s := range c.Config {
		full = append(full, "-c", s)
	}
	var out bytes.Buffer
	cmd := exec.CommandContext(ctx, path, append(full, args...)...)
	cmd.Dir, cmd.Env, cmd.Stdin, cmd.Stdout = c.Dir, personal(c.Env), c.Stdin, &out
	head := &Head{Max: 16 << 10}
	cmd.Stderr = io.MultiWriter(head, said)
	cmd.Cancel = func() error { // git and its hooks clear up, where the system lets them
		if cmd.Process.Signal(os.Interrupt) != nil {
			return cmd.Process.Kill()
		}
		return nil
	}
	cmd.WaitDelay = 5 * time.Second
	if err = cmd.Run(); err != nil && ctx.Err() != nil {
		return nil, interrupted(ctx, args[0])
	}
	if err != nil {
		return nil, Explain(args[0], head.String(), err)
	}
	return out.Bytes(), nil
}

// personal is the environment of a person's git: without the variables by which another git command names its repository and its index, with
// those that say who the author is. There is nothing to edit.
func personal(add []string) []string {
	var env []string
	for _, kv := range os.Environ() {
		name, _, _ := strings.Cut(kv, "=")
		who := strings.HasPrefix(name, "GIT_AUTHOR_") || strings.HasPrefix(name, "GIT_COMMITTER_")
		if who || !strings.HasPrefix(strings.ToUpper(name), "GIT_") || slices.Contains(inherited, name) {
			env = append(env, kv)
		}
	}
	return append(append(env, "GIT_EDITOR=:"), add...)
}
