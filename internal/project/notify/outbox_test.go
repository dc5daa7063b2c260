//go:build unix

package notify

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// A service is a local server that counts what it gets.
type service struct {
	*httptest.Server
	mu     sync.Mutex
	got    []string
	status int
}

func newService(t *testing.T) *service {
	t.Helper()
	s := &service{status: http.StatusOK}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.status == http.StatusOK {
			_, id, _ := strings.Cut(string(body), "id: ")
			s.got = append(s.got, r.URL.Path[1:]+" "+strings.TrimSpace(id))
		}
		w.WriteHeader(s.status)
		_, _ = io.WriteString(w, `{"code":50301,"http":503,"error":"out of order"}`) // ntfy answers in JSON
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *service) answer(status int) { s.mu.Lock(); s.status = status; s.mu.Unlock() }

func (s *service) all() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Sorted(slices.Values(s.got))
}

// urls are two channels at the service: a webhook and ntfy.
func (s *service) urls() Channels {
	host := strings.TrimPrefix(s.URL, "http://")
	return Channels{URLs: []string{"generic://" + host + "/hook?disabletls=yes", "ntfy://" + host + "/topic?scheme=http"}}
}

func item(id string) Item {
	return Item{ID: id, Subject: "task", Message: Message{Title: "a question", Text: "Red?\nid: " + id}}
}

// project returns the root of a new project.
func project(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	must(t, os.Mkdir(filepath.Join(dir, ".ferrus"), 0o700))
	return dir
}

// at opens the outbox of a new project at a time that the test moves.
func at(t *testing.T) (*Outbox, *time.Time) {
	t.Helper()
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	b := OpenOutbox(project(t))
	b.now = func() time.Time { return now }
	return b, &now
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (s *service) want(t *testing.T, want ...string) {
	t.Helper()
	if got := s.all(); !slices.Equal(got, want) {
		t.Errorf("got %q, not %q", got, want)
	}
}

// TestEachItemIsSentOnce over each channel, also by another process.
func TestEachItemIsSentOnce(t *testing.T) {
	s, dir := newService(t), project(t)
	for range 3 {
		for _, id := range []string{"q1", "q2"} {
			must(t, OpenOutbox(dir).Tell(t.Context(), s.urls(), item(id)))
		}
	}
	s.want(t, "hook q1", "hook q2", "topic q1", "topic q2")
	r, err := OpenOutbox(dir).read()
	must(t, err)
	for _, e := range r.Entries {
		if e.Message != nil {
			t.Errorf("the text of %s is still there", e.ID)
		}
	}
}

// TestNobodyIsToldWithoutAChannel: one that is configured later gets the item.
func TestNobodyIsToldWithoutAChannel(t *testing.T) {
	s := newService(t)
	b, _ := at(t)
	must(t, b.Tell(t.Context(), Channels{}, item("q1")))
	if _, err := os.Stat(b.dir); !errors.Is(err, fs.ErrNotExist) {
		t.Error("the outbox of a project without channels has files")
	}
	must(t, b.Tell(t.Context(), s.urls(), item("q1")))
	s.want(t, "hook q1", "topic q1")
}

// TestAChannelThatFailsIsTriedAgain, later each time and not for ever; the others are not repeated.
func TestAChannelThatFailsIsTriedAgain(t *testing.T) {
	up, down := newService(t), newService(t)
	down.answer(http.StatusServiceUnavailable)
	to := up.urls()
	to.URLs = []string{to.URLs[0], down.urls().URLs[1]}
	b, now := at(t)
	tries := func() int {
		t.Helper()
		must(t, b.Tell(t.Context(), to, item("q1")))
		r, err := b.read()
		must(t, err)
		for _, n := range r.Entries[0].Tries {
			return n.Count
		}
		return 0
	}
	wait := firstRetry
	for n := 1; n < maxTries; n++ {
		if got := tries(); got != n {
			t.Fatalf("%d tries, not %d", got, n)
		}
		*now = now.Add(wait - time.Second)
		if got := tries(); got != n {
			t.Fatalf("it was tried %v after try %d", wait-time.Second, n)
		}
		*now = now.Add(time.Second)
		wait *= 2
	}
	list, err := b.Failures(to)
	must(t, err)
	if len(list) != 1 || !strings.HasPrefix(list[0].Channel, "ntfy ") || !strings.Contains(list[0].Reason, "out of order") {
		t.Errorf("%+v", list)
	}
	if list, _ := b.Failures(up.urls()); len(list) != 0 {
		t.Errorf("a channel that is not configured is reported: %+v", list)
	}
	tries() // the last
	*now = now.Add(time.Hour)
	down.answer(http.StatusOK)
	must(t, b.Send(t.Context(), to))
	down.want(t)
	must(t, b.Tell(t.Context(), to, item("q2")))
	down.want(t, "topic q2")
	up.want(t, "hook q1", "hook q2")
	if list, _ := b.Failures(to); len(list) != 0 {
		t.Errorf("it works again: %+v", list)
	}
}

// TestWhatNeedsNobodyIsNotSent: it was withdrawn, replaced by a newer item, or is a day old.
func TestWhatNeedsNobodyIsNotSent(t *testing.T) {
	for name, change := range map[string]func(t *testing.T, b *Outbox, now *time.Time, to Channels){
		"withdrawn": func(t *testing.T, b *Outbox, _ *time.Time, _ Channels) { must(t, b.Withdraw("task")) },
		"replaced": func(t *testing.T, b *Outbox, _ *time.Time, to Channels) {
			must(t, b.Tell(t.Context(), to, item("q2")))
			must(t, b.Withdraw("task"))
		},
		"stale": func(_ *testing.T, _ *Outbox, now *time.Time, _ Channels) { *now = now.Add(stale) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newService(t)
			s.answer(http.StatusBadGateway)
			b, now := at(t)
			must(t, b.Tell(t.Context(), s.urls(), item("q1")))
			must(t, b.Withdraw("another"))
			change(t, b, now, s.urls())
			s.answer(http.StatusOK)
			*now = now.Add(time.Hour)
			must(t, b.Send(t.Context(), s.urls()))
			s.want(t)
		})
	}
}

// TestManyProcessesSendAnItemOnce: the first of them sends it.
func TestManyProcessesSendAnItemOnce(t *testing.T) {
	s, dir := newService(t), project(t)
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			it := item(fmt.Sprint("q", i%4))
			it.Subject = it.ID
			if err := OpenOutbox(dir).Tell(t.Context(), s.urls(), it); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	s.want(t, "hook q0", "hook q1", "hook q2", "hook q3", "topic q0", "topic q1", "topic q2", "topic q3")
}

// TestAKillLosesNothing: at every point of the sender. Only what was not recorded yet may be repeated, once.
func TestAKillLosesNothing(t *testing.T) {
	for point, repeats := range map[string]int{"put1": 0, "sent1": 2, "sent2": 1, "recorded1": 1, "recorded2": 0} {
		t.Run(point, func(t *testing.T) {
			t.Parallel()
			s, dir := newService(t), project(t)
			child := exec.Command(os.Args[0], "-test.run=^TestASenderIsKilled$")
			child.Env = append(os.Environ(), "OUTBOX_DIR="+dir, "OUTBOX_POINT="+point, "OUTBOX_URL="+s.URL)
			out, err := child.CombinedOutput()
			var exit *exec.ExitError
			if !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
				t.Fatalf("%v: %s", err, out)
			}
			for range 2 {
				must(t, OpenOutbox(dir).Send(t.Context(), s.urls()))
				must(t, OpenOutbox(dir).Tell(t.Context(), s.urls(), item("q1")))
			}
			got := s.all()
			if !slices.Equal(slices.Compact(slices.Clone(got)), []string{"hook q1", "topic q1"}) || len(got) > 2+repeats {
				t.Errorf("it was sent as %q", got)
			}
		})
	}
}

// TestASenderIsKilled is the process that TestAKillLosesNothing starts.
func TestASenderIsKilled(t *testing.T) {
	dir := os.Getenv("OUTBOX_DIR")
	if dir == "" {
		t.Skip("it is started by another test")
	}
	b, passed := OpenOutbox(dir), map[string]int{}
	b.at = func(point string) {
		if passed[point]++; fmt.Sprint(point, passed[point]) == os.Getenv("OUTBOX_POINT") {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
	}
	s := service{Server: &httptest.Server{URL: os.Getenv("OUTBOX_URL")}}
	t.Fatal("it was not killed: ", b.Tell(t.Context(), s.urls(), item("q1")))
}

// TestATestSaysWhatHappened over every channel, and is remembered.
func TestATestSaysWhatHappened(t *testing.T) {
	up, down := newService(t), newService(t)
	down.answer(http.StatusTeapot)
	to := up.urls()
	to.URLs = []string{to.URLs[0], down.urls().URLs[0]}
	b, _ := at(t)
	list, err := b.Test(t.Context(), to, item("test").Message)
	must(t, err)
	if len(list) != 2 || list[0].Reason != "" || !strings.Contains(list[1].Reason, "418") {
		t.Errorf("%+v", list)
	}
	if left, _ := b.Failures(to); len(left) != 1 || left[0] != list[1] {
		t.Errorf("%+v", left)
	}
	down.answer(http.StatusOK)
	_, err = b.Test(t.Context(), to, item("test").Message)
	must(t, err)
	if left, _ := b.Failures(to); len(left) != 0 {
		t.Errorf("%+v", left)
	}
	up.want(t, "hook test", "hook test")
}

// TestADamagedRecordIsNamed, and not taken for an empty one: everything would be sent again.
func TestADamagedRecordIsNamed(t *testing.T) {
	s := newService(t)
	b, _ := at(t)
	must(t, b.Tell(t.Context(), s.urls(), item("q1")))
	path := filepath.Join(b.dir, recordFile)
	must(t, os.WriteFile(path, []byte("{"), 0o600))
	for _, err := range []error{b.Send(t.Context(), s.urls()), b.Tell(t.Context(), s.urls(), item("q1")), b.Withdraw("task")} {
		if err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%v", err)
		}
	}
	s.want(t, "hook q1", "topic q1")
	if text, _ := os.ReadFile(path); string(text) != "{" {
		t.Error("it was replaced")
	}
}
