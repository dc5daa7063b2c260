package sandbox

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Probe reports whether a mechanism holds here: it starts a command under it that has a folder of its own, and must not open
// another. self is this program, or one whose main calls [Stage] first. The error says why it does not hold.
func Probe(ctx context.Context, m Mechanism, self string) error {
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
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	if out, err := cmd.CombinedOutput(); err != nil {
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
