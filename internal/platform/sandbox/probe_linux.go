package sandbox

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// probeLimit is how long a probe may take. Most take some milliseconds.
const probeLimit = 10 * time.Second

// Probe reports whether a mechanism holds here: it starts a command under it that has a folder of its own, and must not open
// another. self is this program, or one whose main calls [Stage] first. The error says why it does not hold. It is ErrSlow when
// that is not known.
func Probe(ctx context.Context, m Mechanism, self string) error {
	return probe(ctx, m, self, probeLimit)
}

func probe(ctx context.Context, m Mechanism, self string, limit time.Duration) error {
	if m == None {
		return nil
	}
	base, err := os.MkdirTemp("", "ferrus-probe-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(base)
	if base, err = filepath.EvalSymlinks(base); err != nil {
		return err
	}
	work, denied := filepath.Join(base, "work"), filepath.Join(base, "denied")
	if err := os.Mkdir(work, 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(denied, nil, 0o600); err != nil {
		return err
	}
	p := System()
	p.Write, p.Dir, p.Deny, p.Network = []string{work}, work, []string{denied}, true
	argv, err := Command(m, p, self, []string{"sh", "-c", "echo inside >file; echo outside >../denied; true"})
	if err != nil {
		return err
	}
	in, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	cmd := exec.CommandContext(in, argv[0], argv[1:]...)
	cmd.WaitDelay = time.Second // what it has started can have its output open
	if out, err := cmd.CombinedOutput(); err != nil {
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case in.Err() != nil:
			return fmt.Errorf("%s does not hold here: %w within %s; try again when the machine is less busy", m, ErrSlow, limit)
		}
		return fmt.Errorf("%s does not hold here: %w: %s", m, err, strings.TrimSpace(string(out)))
	}
	if text, _ := os.ReadFile(filepath.Join(work, "file")); string(text) != "inside\n" {
		return fmt.Errorf("%s does not hold here: a command inside cannot write its own folder", m)
	}
	if text, err := os.ReadFile(denied); err != nil || len(text) > 0 {
		return fmt.Errorf("%s does not hold here: a command inside writes outside", m)
	}
	return nil
}
