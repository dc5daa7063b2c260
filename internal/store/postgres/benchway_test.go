package postgres

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gofrs/flock"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/store"
	"github.com/ferrus-go/ferrus/internal/store/file"
)

// A way is one of several ways to commit an event. Its name and arguments are one string, by which another process opens it as well.
type way struct {
	commit func() error
	ring   func() error // after it was acknowledged; nil for nothing
}

// rings announces an event that was acknowledged.
func (w way) rings() error {
	if w.ring == nil {
		return nil
	}
	return w.ring()
}

// once commits the first event, which pays for what is made once.
func (w way) once() error {
	if err := w.commit(); err != nil {
		return err
	}
	return w.rings()
}

// ways are all ways, with the names of their arguments.
var ways = map[string]func(args []string) (way, error){
	"postgres": func(args []string) (way, error) { // URL PROJECT BRANCH FOLDER
		a := parse(strings.Join(args, " "))
		d, err := Connect(context.Background(), a.url, Options{Node: here, Host: "here", Log: quiet})
		if err != nil {
			return way{}, err
		}
		s, err := d.Open(context.Background(), a.name(), a.dir, Opening{})
		return applying(s), err
	},
	"file": func(args []string) (way, error) { // FOLDER
		s, err := file.Open(args[0], file.Options{Log: quiet, LockWait: time.Minute})
		return applying(s), err
	},
	"raw": func(args []string) (way, error) { // URL MACHINE LINE
		r, err := connectRaw(args)
		return way{r.apply, nil}, err
	},
	"raw-ring": func(args []string) (way, error) {
		r, err := connectRaw(args)
		return way{r.apply, r.ring}, err
	},
	"append": func(args []string) (way, error) { // FILE LINE: a lock, an append, one fdatasync
		line, err := os.ReadFile(args[1])
		if err != nil {
			return way{}, err
		}
		f, err := os.OpenFile(args[0], os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
		lock := flock.New(args[0] + ".lock")
		return way{commit: func() error {
			if err := lock.Lock(); err != nil {
				return err
			}
			if _, err := f.Write(line); err != nil {
				return err
			}
			if err := datasync(f); err != nil {
				return err
			}
			return lock.Unlock()
		}}, err
	},
}

// openWay opens a way by its string.
func openWay(text string) (way, error) {
	words := strings.Split(text, " ")
	return ways[words[0]](words[1:])
}

// applying is the way of a store.
func applying(m store.Machine) way {
	return way{commit: func() error {
		_, err := m.Apply(context.Background(), progress)
		return err
	}}
}

// progress is a note of the holder. Its line has 1.4 KB, about as much as a real one.
func progress(now store.Snapshot) (*store.Change, error) {
	c, err := on(state.Progress, state.Holder, nil)(now)
	if err == nil {
		c.Note = strings.Repeat("The tests of the parser pass. ", 32)
	}
	return c, err
}

// on returns the decision to raise an event and to write documents.
func on(ev state.Event, by state.Role, docs map[state.Doc]string) func(store.Snapshot) (*store.Change, error) {
	return func(now store.Snapshot) (*store.Change, error) {
		next, err := state.Step(now.Task, ev, by, state.Limits{CheckRetries: 3, ReviewCycles: 3})
		if err != nil {
			return nil, err
		}
		switch ev {
		case state.CreateTask:
			next.TaskID = "t-20260102-120000-abcd"
		case state.Claim:
			next.ClaimedBy, next.Session = "executor:codex:1", "5e55"
		}
		return &store.Change{Actor: store.Actor{Role: by, Agent: string(by) + ":test:1"}, Event: ev, Next: next, Docs: docs}, nil
	}
}

// A rawWay is what PostgreSQL takes for a transition that costs nothing else: the same rows with the same bytes, in two round trips.
type rawWay struct {
	conn    *pgx.Conn
	machine int64
	line    []byte
}

func connectRaw(args []string) (*rawWay, error) {
	r := &rawWay{}
	conf, err := pgx.ParseConfig(args[0])
	if err != nil {
		return r, err
	}
	conf.RuntimeParams["search_path"] = searchPath
	if r.machine, err = strconv.ParseInt(args[1], 10, 64); err != nil {
		return r, err
	}
	if r.line, err = os.ReadFile(args[2]); err != nil {
		return r, err
	}
	r.conn, err = pgx.ConnectConfig(context.Background(), conf)
	return r, err
}

// locked begins a transaction and returns where the journal ends.
func (r *rawWay) locked() (seq, bytes int64, err error) {
	batch := &pgx.Batch{}
	batch.Queue("begin")
	batch.Queue("select seq, bytes from head where machine = $1 for update", r.machine).QueryRow(func(row pgx.Row) error { return row.Scan(&seq, &bytes) })
	return seq, bytes, r.conn.SendBatch(context.Background(), batch).Close()
}

func (r *rawWay) apply() error {
	seq, bytes, err := r.locked()
	if err != nil {
		return err
	}
	batch := &pgx.Batch{}
	batch.Queue("update head set seq = $2, bytes = $3, last = $4 where machine = $1", r.machine, seq+1, bytes+int64(len(r.line)), bytes)
	batch.Queue("insert into journal (machine, seq, off, attempt, line) values ($1, $2, $3, $4, $5)", r.machine, seq+1, bytes, uuid.New(), r.line)
	batch.Queue("commit")
	return r.conn.SendBatch(context.Background(), batch).Close()
}

// rawChannel is rung by raw-ring.
const rawChannel = "raw"

func (r *rawWay) ring() error {
	batch := &pgx.Batch{}
	batch.Queue("set local synchronous_commit = off")
	batch.Queue("select pg_notify($1, '')", rawChannel)
	return r.conn.SendBatch(context.Background(), batch).Close()
}

func (r *rawWay) renew() error {
	if _, _, err := r.locked(); err != nil {
		return err
	}
	batch := &pgx.Batch{}
	batch.Queue("set local synchronous_commit = off")
	batch.Queue("update lease set deadline_ns = deadline_ns + 1, until = now(), heartbeat = now() where machine = $1", r.machine)
	batch.Queue("commit")
	return r.conn.SendBatch(context.Background(), batch).Close()
}

func (r *rawWay) view() error {
	var seq, bytes int64
	return r.conn.QueryRow(context.Background(), "select seq, bytes from head where machine = $1", r.machine).Scan(&seq, &bytes)
}

// envWay is the variable by which this program is started again to commit events by a way.
const envWay = "FERRUS_POSTGRES_WAY"

// commitLines is that other process. It reads how many events it commits, and answers when each began and was acknowledged.
func commitLines(text string, in io.Reader, out io.Writer) error {
	do, err := openWay(text)
	if err == nil {
		err = do.once()
	}
	if err != nil {
		return err
	}
	w := bufio.NewWriter(out)
	fmt.Fprintln(w, "ready")
	w.Flush()
	for lines := bufio.NewScanner(in); lines.Scan(); {
		n, err := strconv.Atoi(lines.Text())
		if err != nil {
			return err
		}
		for range n {
			began := time.Now()
			if err := do.commit(); err != nil {
				return err
			}
			acked := time.Now()
			if err := do.rings(); err != nil {
				return err
			}
			fmt.Fprintln(w, began.UnixNano(), acked.UnixNano())
		}
		w.Flush()
	}
	return nil
}

// A committer is another process that commits by a way.
type committer struct {
	in  io.WriteCloser
	out *bufio.Reader
}

// startCommitter starts another process, which ends with the benchmark.
func startCommitter(b *testing.B, text string) committer {
	b.Helper()
	cmd := exec.Command(sure(os.Executable()))
	cmd.Env, cmd.Stderr = append(os.Environ(), envWay+"="+text), os.Stderr
	c := committer{sure(cmd.StdinPipe()), bufio.NewReader(sure(cmd.StdoutPipe()))}
	sure(0, cmd.Start())
	b.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	if _, err := c.out.ReadString('\n'); err != nil {
		b.Fatalf("%s: the process ended: %v", text, err)
	}
	return c
}

// commit lets the process commit n events, and returns when the first began, when each was acknowledged, and how long each took.
func (c committer) commit(n int) (began time.Time, acked []time.Time, took []time.Duration, err error) {
	if _, err := fmt.Fprintln(c.in, n); err != nil {
		return began, nil, nil, err
	}
	for range n {
		var from, to int64
		if _, err := fmt.Fscanln(c.out, &from, &to); err != nil {
			return began, nil, nil, err
		}
		if acked == nil {
			began = time.Unix(0, from)
		}
		acked, took = append(acked, time.Unix(0, to)), append(took, time.Duration(to-from))
	}
	return began, acked, took, nil
}

// sure is for what cannot fail but by the fault of the benchmark.
func sure[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
