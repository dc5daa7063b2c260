package engine_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/engine/enginetest"

	"golang.org/x/sys/unix"

	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
)

// Content changes after the submission, while size and modification time stay, and the repository tells git to look away.
func TestAnApprovalBindsToTheBytes(t *testing.T) {
	t.Parallel()
	attempts, through := 0, 0
	for _, disk := range []string{"/var/tmp", "/dev/shm"} { // often a disk that dates every change, and one that does not
		base, err := os.MkdirTemp(disk, "ferrus-test-")
		if err != nil {
			continue
		}
		defer os.RemoveAll(base)
		p := enginetest.PlainIn(t, base, enginetest.Gate("true"))
		p.Commits()
		sup, _ := p.Reviewing()
		for n := range enginetest.Most(2, 84) {
			for i, setting := range []string{"core.trustctime", "core.checkStat", "core.ignoreStat"} {
				p.Git("config", setting, map[string]string{"core.checkStat": "minimal", "core.ignoreStat": "true"}[setting]+map[bool]string{true: "false"}[i == 0])
				done, err := deceive(p, t, sup, n%2 == i%2)
				attempts++
				if err == nil {
					through++
					t.Logf("rig: cases=%d bad=%d", attempts, through)
					t.Fatalf("%s, %s: approved %s", disk, setting, done.Task.Submission.ID)
				}
				enginetest.Refused(t, err, refusal.TreeChanged, "s1", "code.txt")
			}
		}
		if done := enginetest.Must(sup.Approve(t.Context(), "", ""))(t); done.Task.State != state.Complete {
			t.Errorf("the submitted files: %s", done.Task.State)
		}
	}
	t.Logf("rig: cases=%d bad=%d", attempts, through)
}

// deceive approves with other bytes in code.txt than were submitted, and puts those back.
func deceive(p *enginetest.Machine, t *testing.T, sup *engine.Session, mapping bool) (engine.Done, error) {
	t.Helper()
	path := p.Path("code.txt")
	was := p.Read("code.txt")
	f := enginetest.Must(os.OpenFile(path, os.O_RDWR, 0))(t)
	defer f.Close()
	page := enginetest.Must(unix.Mmap(int(f.Fd()), 0, len(was), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED))(t)
	defer unix.Munmap(page)
	copy(page, was) // the page is dirty when the file is read
	// Long enough for the file to be known again by what the file system says of it.
	now := enginetest.Must(sup.Engine().View())(t)
	for began := time.Now(); time.Since(began) < 80*time.Millisecond; {
		enginetest.Must(sup.Engine().Fingerprint(t.Context(), now))(t)
	}
	info := enginetest.Must(os.Stat(path))(t)
	evil := []byte("bad" + was[3:])
	if mapping {
		copy(page, evil)
	} else if err := enginetest.Second(f.WriteAt(evil, 0)); err != nil {
		t.Fatal(err)
	}
	if is := enginetest.Must(os.Stat(path))(t); !is.ModTime().Equal(info.ModTime()) {
		if err := os.Chtimes(path, time.Time{}, info.ModTime()); err != nil {
			t.Fatal(err)
		}
	}
	done, err := sup.Approve(t.Context(), "", "")
	copy(page, was)
	return done, err
}

// Without git a verdict would be bound to nothing.
func TestARepositoryThatIsMovedAwayEndsNoReview(t *testing.T) {
	t.Parallel()
	p := enginetest.Repository(t, enginetest.Gate("true"))
	p.Reviewing()
	if err := os.Rename(p.Path(".git"), filepath.Join(p.Side, "git")); err != nil {
		t.Fatal(err)
	}
	enginetest.Refused(t, enginetest.Second(p.Human().Approve(t.Context(), "", "")), refusal.StoreError, "there is none", "put .git back")
}
