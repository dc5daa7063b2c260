//go:build unix

package notify

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// Tell posts an item, and waits until it was tried.
func (b *Outbox) Tell(_ context.Context, to Channels, it Item) (err error) {
	if wrong := b.Post(to, it, func(e error) { err = e }); wrong != nil {
		return wrong
	}
	beside.settle()
	return err
}

// settle waits for all sends, as long as they take.
func (s *sends) settle() {
	for {
		s.mu.Lock()
		var next chan struct{}
		for done := range s.open {
			next = done
		}
		s.mu.Unlock()
		if next == nil {
			return
		}
		<-next
	}
}

// TestACommandWaitsForServicesAShortTime, however many of them do not answer, and not at all when nothing is under way or it was interrupted.
func TestACommandWaitsForServicesAShortTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s sends
		began := time.Now()
		if s.finish(t.Context()); time.Since(began) != 0 {
			t.Errorf("it waited %v for nothing", time.Since(began))
		}
		s.start(func(context.Context) { time.Sleep(Patience / 3) })
		if s.finish(t.Context()); time.Since(began) != Patience/3 {
			t.Errorf("it waited %v for one that answers", time.Since(began))
		}
		for range 3 {
			s.start(func(ctx context.Context) { <-ctx.Done() })
		}
		began = time.Now()
		if s.finish(t.Context()); time.Since(began) != Patience || len(s.open) != 0 {
			t.Errorf("it waited %v for those that do not answer", time.Since(began))
		}
		s.start(func(ctx context.Context) { <-ctx.Done() })
		interrupted, cancel := context.WithCancel(t.Context())
		cancel()
		began = time.Now()
		if s.finish(interrupted); time.Since(began) != 0 {
			t.Errorf("interrupted, it waited %v", time.Since(began))
		}
		synctest.Wait()
	})
}

// TestWhatWasCutIsSentByTheNextCommand: a service accepts and does not answer; the work goes on, the end cuts it, and the next command
// sends the message at once.
func TestWhatWasCutIsSentByTheNextCommand(t *testing.T) {
	asked, answer := make(chan string, 9), make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		asked <- string(body)
		select {
		case <-answer:
		case <-t.Context().Done():
		}
	}))
	defer s.Close()
	defer s.CloseClientConnections()
	to := Channels{URLs: []string{"generic://" + strings.TrimPrefix(s.URL, "http://") + "/hook?disabletls=yes"}}
	b, _ := at(t)
	must(t, b.Post(to, item("q1"), func(err error) { t.Error(err) })) // it returns
	<-asked
	ended, end := context.WithCancel(t.Context())
	end() // as after Patience
	Finish(ended)
	r, err := b.read()
	must(t, err)
	if e := r.Entries[0]; e.Message == nil || len(e.Sent) != 0 || len(e.Tries) != 1 || r.due(to.List(), b.now()) == nil {
		t.Errorf("%+v is recorded", e)
	}
	list, err := b.Failures(to)
	if must(t, err); len(list) != 1 || !strings.Contains(list[0].Reason, "before the command ended") {
		t.Errorf("%+v", list)
	}
	close(answer)
	b.SendBeside(to, func(err error) { t.Error(err) })
	beside.settle()
	select {
	case body := <-asked:
		if !strings.Contains(body, "q1") {
			t.Error(body)
		}
	default:
		t.Error("the next command did not send it")
	}
	if r, err = b.read(); err != nil || r.Entries[0].Message != nil {
		t.Errorf("%+v, %v", r.Entries, err)
	}
}
