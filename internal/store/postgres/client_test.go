package postgres

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/store"
)

// envClient is the variable with what another process of the test program does: a role, a URL, a project, a folder and a name.
const envClient = "FERRUS_POSTGRES_CLIENT"

// roles are the decisions of a process about its next event, by its name and the note of the event.
var roles = map[string]func(me, note string) func(store.Snapshot) (*store.Change, error){
	"writer": func(_, note string) func(store.Snapshot) (*store.Change, error) { return noted(note) },
	// The holder writes up to a line whose number can be divided by eight. Then whoever comes first takes over.
	"rival": func(me, note string) func(store.Snapshot) (*store.Change, error) {
		return func(now store.Snapshot) (*store.Change, error) {
			switch {
			case now.Task.Seq%8 == 0:
				c, err := claim(me)(now)
				c.Note = note
				return c, err
			case now.Task.Session == me:
				return noted(note)(now)
			}
			return nil, nil
		}
	},
	// The holder writes until another one has taken over.
	"holder": func(me, note string) func(store.Snapshot) (*store.Change, error) {
		return func(now store.Snapshot) (*store.Change, error) {
			switch {
			case now.Task.Epoch == 0:
				c, err := claim(me)(now)
				c.Note = note
				return c, err
			case now.Task.Session == me:
				return noted(note)(now)
			}
			return nil, errRefused
		}
	},
}

// What a process says of an event, before its epoch and its note.
const (
	acknowledged = "acknowledged"
	unknown      = "unknown"
	unchanged    = "unchanged"
	refused      = "refused" // for good
)

// runClient is the program of another process. It writes events one after another until its input ends, and says of each what became of it.
func runClient(does string) int {
	words := strings.Split(does, " ")
	decide, me := roles[words[0]], words[4]
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		cancel()
	}()
	d, err := Connect(ctx, words[1], Options{Node: here, Log: quiet, Wait: 2 * time.Second})
	if err == nil {
		defer d.Close()
		var s *Store
		if s, err = d.Open(ctx, Name{Project: uuid.MustParse(words[2])}, words[3], Opening{}); err == nil {
			write(ctx, s, me, decide)
			return 0
		}
	}
	fmt.Fprintln(os.Stderr, err)
	return 1
}

func write(ctx context.Context, s *Store, me string, decide func(me, note string) func(store.Snapshot) (*store.Change, error)) {
	w := s.Watch()
	defer w.Close()
	for n := 0; ctx.Err() == nil; n++ {
		note := note(me, "-", n)
		snap, err := s.Apply(context.Background(), decide(me, note))
		switch {
		case err == errRefused:
			fmt.Println(refused, 0, note)
			return
		case code(err) == refusal.OutcomeUnknown:
			fmt.Println(unknown, 0, note)
		case err != nil:
			fmt.Println(unchanged, 0, note)
		case snap.Top == nil || snap.Top.Note != note:
			select {
			case <-w.C:
			case <-ctx.Done():
			}
		default:
			fmt.Println(acknowledged, snap.Task.Epoch, note)
		}
	}
}

// A client is another process that writes to a machine.
type client struct {
	name  string
	in    io.Closer
	ended chan error
}

// prepareClient returns the command of a client. on gets what it says of each event.
func prepareClient(t testing.TB, role, url string, machine *Store, name string, on func(said string, epoch uint64, note string)) (c *client, start func() error) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), envClient+"="+strings.Join([]string{role, url, machine.name.Project.String(), t.TempDir(), name}, " "))
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	c = &client{name, in, make(chan error, 1)}
	return c, func() error {
		if err := cmd.Start(); err != nil {
			return err
		}
		t.Cleanup(func() { _ = cmd.Process.Kill() })
		go func() {
			for lines := bufio.NewScanner(out); lines.Scan(); {
				var said, note string
				var epoch uint64
				if _, err := fmt.Sscan(lines.Text(), &said, &epoch, &note); err == nil {
					on(said, epoch, note)
				}
			}
			c.ended <- cmd.Wait()
		}()
		return nil
	}
}

// stop ends a client after its present event.
func (c *client) stop(t testing.TB) {
	t.Helper()
	c.in.Close()
	if err := <-c.ended; err != nil {
		t.Errorf("%s: %v", c.name, err)
	}
}
