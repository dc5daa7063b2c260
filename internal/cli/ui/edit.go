package ui

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/ferrus-go/ferrus/internal/cli"
	"github.com/ferrus-go/ferrus/internal/platform/proc"
)

// editIn edits a text with the person's editor, in the terminal of the screen. As for every program of the person, folders of
// the project do not count in PATH.
func editIn(a *cli.App, in, out *os.File) func(context.Context, string) (string, error) {
	return func(ctx context.Context, text string) (string, error) {
		editor := cmp.Or(strings.TrimSpace(os.Getenv("VISUAL")), strings.TrimSpace(os.Getenv("EDITOR")), "vi")
		file, err := os.CreateTemp("", "ferrus-*.md")
		if err != nil {
			return "", err
		}
		defer os.Remove(file.Name())
		_, err = file.WriteString(text + "\n")
		if closeErr := file.Close(); err == nil {
			err = closeErr
		}
		if err != nil {
			return "", err
		}
		dir, err := a.WorkingDir()
		if err != nil {
			return "", err
		}
		words := strings.Fields(editor)
		environ := cli.Programs(dir)
		program, project := words[0], proc.WorkTree(dir)
		if !filepath.IsAbs(program) || proc.Within(project, program) {
			if program, err = proc.LookPath(program, os.Getenv("PATH"), project); err != nil {
				return "", fmt.Errorf("no editor: %v", err)
			}
		}
		cmd := exec.CommandContext(ctx, program, append(words[1:], file.Name())...)
		cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.Env = in, out, out, environ
		if err := cmd.Run(); err != nil {
			return "", fmt.Errorf("the editor failed: %v", err)
		}
		edited, err := os.ReadFile(file.Name())
		return strings.TrimSpace(string(edited)), err
	}
}
