package run

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/ferrus-go/ferrus/internal/config"
	"github.com/ferrus-go/ferrus/internal/platform/atomicfile"
	"github.com/ferrus-go/ferrus/internal/platform/proc"
	"github.com/ferrus-go/ferrus/internal/platform/rootfs"
)

// A target is where a result goes: [deliver] of ferrus.toml at the time of the launch.
type target struct {
	conf config.Deliver
	file string // absolute path, for the target "file"
}

func (f *Folder) target() target {
	file := strings.NewReplacer("{pipeline}", f.Workflow.Name, "{run}", f.Name()).Replace(f.Settings.Deliver.File)
	return target{f.Settings.Deliver, below(f.Settings.Root, file)}
}

// ways are the targets.
var ways = map[string]struct {
	send func(t target, ctx context.Context, f *Folder, o Options, text []byte) error
	// repeats reports whether sending twice has the same effect as sending once.
	repeats bool
	named   func(t target) string
}{
	config.ToStdout:  {target.print, false, func(target) string { return "stdout" }},
	config.ToFile:    {target.put, true, func(t target) string { return t.file }},
	config.ToCommand: {target.run, false, func(t target) string { return "the command " + t.conf.Command }},
}

func (t target) String() string { return ways[t.conf.To].named(t) }
func (t target) repeats() bool  { return ways[t.conf.To].repeats }

// send sends the result. If a worker delivers to stdout, the process that archives the run prints
// the result: nobody reads a worker's own stdout.
func (t target) send(ctx context.Context, f *Folder, o Options, worker bool, text []byte) error {
	if worker && t.conf.To == config.ToStdout {
		return nil
	}
	return ways[t.conf.To].send(t, ctx, f, o, text)
}

func (t target) print(_ context.Context, _ *Folder, o Options, text []byte) error {
	if !bytes.HasSuffix(text, []byte("\n")) {
		text = append(bytes.Clone(text), '\n')
	}
	_, err := o.Out.Write(text)
	return err
}

// put writes the result into a file. A file in the project is opened without following a link in
// it; another file is where a person has put it.
func (t target) put(_ context.Context, f *Folder, _ Options, text []byte) error {
	root, name, err := in(f.Settings.Root, t.file)
	if errors.Is(err, errElsewhere) {
		if err := os.MkdirAll(filepath.Dir(t.file), 0o755); err != nil {
			return err
		}
		dir, err := filepath.EvalSymlinks(filepath.Dir(t.file))
		if err != nil {
			return err
		}
		if root, err = rootfs.Open(dir); err != nil {
			return err
		}
		name = filepath.Base(t.file)
	} else if err != nil {
		return err
	}
	defer root.Close()
	if err := atomicfile.MkdirAll(root, path.Dir(name), 0o755); err != nil {
		return err
	}
	return atomicfile.Replace(root, name, text, 0o644)
}

// run passes the result to a command of a person, on its standard input. A command that fails may
// still have sent it.
func (t target) run(ctx context.Context, f *Folder, _ Options, text []byte) error {
	status, err := f.Status()
	if err != nil {
		return err
	}
	env := append(os.Environ(), "FERRUS_PIPELINE="+f.Workflow.Name, "FERRUS_DELIVERY="+f.Name(), "FERRUS_TOPIC="+status.Topic,
		"FERRUS_RESULT="+f.Path(finalFile))
	return proc.RunShell(ctx, t.conf.Timeout(), t.conf.Command, f.Settings.Root, string(text), env)
}
