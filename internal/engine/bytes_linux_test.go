package engine

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ferrus-go/ferrus/internal/refusal"
	"github.com/ferrus-go/ferrus/internal/state"
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
		p := plainIn(t, base, gate("true"))
		p.commits()
		sup, _ := p.reviewing()
		for n := range most(2, 84) {
			for i, setting := range []string{"core.trustctime", "core.checkStat", "core.ignoreStat"} {
				p.git("config", setting, map[string]string{"core.checkStat": "minimal", "core.ignoreStat": "true"}[setting]+map[bool]string{true: "false"}[i == 0])
				done, err := p.trick(t, sup, n%2 == i%2)
				attempts++
				if err == nil {
					through++
					t.Logf("rig: cases=%d bad=%d", attempts, through)
					t.Fatalf("%s, %s: approved %s", disk, setting, done.Task.Submission.ID)
				}
				refused(t, err, refusal.TreeChanged, "s1", "code.txt")
			}
		}
		if done := must(sup.Approve(t.Context(), "", ""))(t); done.Task.State != state.Complete {
			t.Errorf("the submitted files: %s", done.Task.State)
		}
	}
	t.Logf("rig: cases=%d bad=%d", attempts, through)
}

// trick approves with other bytes in code.txt than were submitted, and puts those back.
func (p *machine) trick(t *testing.T, sup *Session, mapping bool) (Done, error) {
	t.Helper()
	path := p.path("code.txt")
	was := p.read("code.txt")
	f := must(os.OpenFile(path, os.O_RDWR, 0))(t)
	defer f.Close()
	page := must(unix.Mmap(int(f.Fd()), 0, len(was), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED))(t)
	defer unix.Munmap(page)
	copy(page, was) // the page is dirty when the file is read
	// Long enough for the file to be known again by what the file system says of it.
	now := must(sup.e.View())(t)
	for began := time.Now(); time.Since(began) < 80*time.Millisecond; {
		must(sup.e.fingerprint(t.Context(), now))(t)
	}
	info := must(os.Stat(path))(t)
	evil := []byte("bad" + was[3:])
	if mapping {
		copy(page, evil)
	} else if err := second(f.WriteAt(evil, 0)); err != nil {
		t.Fatal(err)
	}
	if is := must(os.Stat(path))(t); !is.ModTime().Equal(info.ModTime()) {
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
	p := repository(t, gate("true"))
	p.reviewing()
	if err := os.Rename(p.path(".git"), filepath.Join(p.side, "git")); err != nil {
		t.Fatal(err)
	}
	refused(t, second(p.human().Approve(t.Context(), "", "")), refusal.StoreError, "there is none", "put .git back")
}
