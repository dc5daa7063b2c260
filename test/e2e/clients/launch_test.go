//go:build unix

package clients

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"github.com/ferrus-go/ferrus/internal/agents"
)

// A client is a real one, started by its adapter.
type client struct {
	done chan error // nil or why it ended badly
	out  string     // a file
}

// launch starts a client as the adapter says.
func (r *rig) launch(agent string, duty agents.Duty, prompt string) *client {
	r.t.Helper()
	adapter, err := agents.Find(agent)
	if err != nil {
		r.t.Fatal(err)
	}
	scratch := filepath.Join(r.base, "scratch-"+agent+"-"+string(duty))
	l, err := adapter.Launch(agents.LaunchSpec{Duty: duty, Prompt: prompt, Headless: true, Ferrus: ferrus, Root: r.dir, Work: r.dir,
		Scratch: scratch, Environ: r.env})
	if err != nil {
		r.t.Fatal(err)
	}
	for path, text := range l.Files {
		r.write(path, text)
	}
	r.write(filepath.Join(scratch, "stdin"), l.Stdin)
	program, err := adapter.Path(l.Env)
	if err != nil {
		r.t.Fatal(err)
	}
	in, err := os.Open(filepath.Join(scratch, "stdin"))
	if err != nil {
		r.t.Fatal(err)
	}
	out, err := os.Create(filepath.Join(scratch, "out"))
	if err != nil {
		r.t.Fatal(err)
	}
	cmd := r.command(context.Background(), program, l.Argv[1:]...)
	cmd.Dir, cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = l.Dir, l.Env, in, out, out
	if err := cmd.Start(); err != nil {
		r.t.Fatal(err)
	}
	c := &client{done: make(chan error, 1), out: out.Name()}
	go func() { c.done <- cmd.Wait(); in.Close(); out.Close() }()
	return c
}

// end waits for the client's own end.
func (r *rig) end(c *client) {
	r.t.Helper()
	select {
	case err := <-c.done:
		if err != nil {
			r.t.Fatalf("%v\n%.9000s", err, r.text(c.out))
		}
	case <-time.After(patience):
		r.t.Fatalf("the client does not end\n%.900s", r.text(c.out))
	}
}
