package file

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ferrus-go/ferrus/internal/platform/rootfs/rootfstest"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/store"
)

// TestNothingIsReadOrWrittenInPlaceOfAControlFile: links, FIFOs, devices, folders and 5 GB in place of each file and folder of
// a machine. Every call answers, in little memory, and what cannot be done says which file is in the way.
func TestNothingIsReadOrWrittenInPlaceOfAControlFile(t *testing.T) {
	t.Parallel()
	paths := []string{stateFile, lockFile, journalFile, string(state.TaskDoc), string(state.AnswerDoc), liveDir, logDir, archiveDir}
	for i, p := range paths {
		paths[i] = ".ferrus/" + p
	}
	rootfstest.Attack(t, paths, func(t *testing.T, dir string) {
		s := must2(Create(filepath.Join(dir, ".ferrus"), still()))
		defer s.Close()
		do(t, s, create)
		must(s.Announce("5e55")).Close()
	}, func(t *testing.T, c rootfstest.Case) error {
		opts := still()
		s, err := Open(filepath.Join(c.Dir, ".ferrus"), opts)
		if err == nil {
			defer s.Close()
			var now store.Snapshot
			now, err = s.View()
			_, applied := s.Apply(context.Background(), claim)
			_, again := s.Apply(context.Background(), func(store.Snapshot) (*store.Change, error) { return nil, nil })
			for _, broken := range s.History() {
				err = errors.Join(err, broken)
			}
			archived := archive(s.disk, s, now)
			live, announced := s.Announce("5e55")
			if announced == nil {
				live.Close()
			}
			s.Probe("5e55")
			err = errors.Join(err, applied, again, archived, announced)
		}
		if special := strings.Contains(c.Entry, "link") || strings.Contains(c.Entry, "FIFO"); special && err == nil && c.Path != ".ferrus/"+logDir &&
			c.Path != ".ferrus/"+string(state.AnswerDoc) {
			t.Errorf("%s in place of %s: no error", c.Entry, c.Path)
		}
		if err != nil && !strings.Contains(err.Error(), filepath.Base(c.Path)) {
			t.Errorf("%s in place of %s is not named: %v", c.Entry, c.Path, err)
		}
		return err
	})
}
