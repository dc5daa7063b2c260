package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/ferrus-go/ferrus/internal/platform/rootfs"
)

// Needs is an error where git is older than that version; why follows "too old" in it.
func Needs(ctx context.Context, major, minor int, why string) error {
	out, err := versionNow(ctx)
	if err != nil {
		return err
	}
	version := strings.TrimSpace(strings.TrimPrefix(string(out), "git version "))
	var have [2]int
	if _, err := fmt.Sscanf(version, "%d.%d", &have[0], &have[1]); err != nil {
		return fmt.Errorf("git version: cannot read %q", out)
	}
	if slices.Compare(have[:], []int{major, minor}) < 0 {
		return fmt.Errorf("git %s is too old %s; install git %d.%d or later", version, why, major, minor)
	}
	return nil
}

// asked is what the git binary last said of its version.
var asked struct {
	sync.Mutex
	file    fs.FileInfo
	version []byte
}

// versionNow is what the git binary says of its version. It is asked again when its file is another.
func versionNow(ctx context.Context) ([]byte, error) {
	path, err := gitPath("")
	if err != nil {
		return nil, err
	}
	file, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	asked.Lock()
	defer asked.Unlock()
	if asked.file == nil || !rootfs.Unchanged(asked.file, file) {
		out, _, err := Command{}.Run(ctx, "version")
		if err != nil {
			return nil, err
		}
		asked.file, asked.version = file, out
	}
	return asked.version, nil
}

// RevParse asks git rev-parse about the repository that holds dir, for absolute paths and the like: one answer for each question,
// which is an option with its argument if it has one.
func RevParse(ctx context.Context, dir string, questions ...string) ([]string, error) {
	want := 0
	for _, q := range questions {
		if strings.HasPrefix(q, "--") {
			want++
		}
	}
	args := append([]string{"rev-parse", "--path-format=absolute"}, questions...)
	out, _, err := Command{Dir: dir}.Run(ctx, args...)
	if err != nil {
		return nil, err
	}
	lines := []string{strings.TrimSuffix(string(out), "\n")}
	if want > 1 {
		lines = strings.Split(lines[0], "\n")
	}
	if len(lines) != want {
		return nil, fmt.Errorf("the path of the repository at %q holds a newline; move it to a path without one", dir)
	}
	for i, l := range lines {
		lines[i] = filepath.FromSlash(l)
	}
	return lines, nil
}

// Together runs the calls at once and joins their errors.
func Together(calls ...func() error) error {
	errs := make([]error, len(calls))
	var wg sync.WaitGroup
	for i, call := range calls {
		wg.Go(func() { errs[i] = call() })
	}
	wg.Wait()
	return errors.Join(errs...)
}
