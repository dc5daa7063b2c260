package sharing

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/project/queue"
	"github.com/ferrus-go/ferrus/internal/store"
	"github.com/ferrus-go/ferrus/test/kit"
	"github.com/ferrus-go/ferrus/test/postgrestest"
)

// envMover makes a test program one process that moves a project: what it does, the folder, the URL, and after which step it is killed, 0 for none.
const envMover = "FERRUS_TEST_MOVER"

func TestMain(m *testing.M) {
	if line := os.Getenv(envMover); line != "" {
		os.Exit(mover(strings.Fields(line)))
	}
	os.Exit(kit.Main(func() int { return postgrestest.Main(m.Run) }))
}

// mover moves a project, and prints each step that it has reached.
func mover(args []string) int {
	do, root, url := args[0], args[1], args[2]
	last, err := strconv.Atoi(args[3])
	if err != nil {
		panic(err)
	}
	n := 0
	ctx := context.WithValue(context.Background(), hook{}, func(step string) {
		fmt.Println(step)
		if n++; n == last {
			p, err := os.FindProcess(os.Getpid())
			if err == nil {
				err = p.Kill()
			}
			if err != nil {
				panic(err)
			}
			select {}
		}
	})
	switch do {
	case "move":
		_, err = Move(ctx, root, url, time.Now())
	case "return":
		_, err = Return(ctx, root)
	case "join":
		_, err = Join(ctx, root, url, "", time.Now())
	}
	if err != nil {
		fmt.Println(err)
		return 1
	}
	return 0
}

// process runs a mover. killed says that it was killed after the step.
func process(t *testing.T, do, root, url string, step int) (steps []string, killed bool, err error) {
	t.Helper()
	self, err := os.Executable()
	must(t, err)
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%s %s %s %d", envMover, do, root, url, step))
	out, err := cmd.Output()
	steps = strings.Split(strings.TrimSpace(string(out)), "\n")
	killed = cmd.ProcessState != nil && !cmd.ProcessState.Exited()
	if err != nil && !killed {
		err = fmt.Errorf("%v: %s", err, out)
	}
	return steps, killed, err
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// newFolder makes a project without a task, as ferrus init does, and returns its folder: on a computer, with the name of the test. So several tests
// can use one database.
func newFolder(t testing.TB, computer string) string {
	t.Helper()
	root := filepath.Join(t.TempDir(), computer, filepath.Base(t.Name()))
	must(t, os.MkdirAll(root, 0o755))
	must(t, os.MkdirAll(project.At(root, "side").WorkTree(), 0o700)) // of the branch, which all have fetched
	_, err := project.Init(root)
	must(t, err)
	t.Cleanup(func() { closeAll(root) })
	return root
}

// closeAll closes the database of a project, if this process has opened it.
func closeAll(root string) {
	if at, _, err := project.At(root, "").Recorded(); err == nil && at != nil {
		at.Close()
	}
}

// newProject makes a project in files with a branch, two tasks that wait and one that was taken.
func newProject(t testing.TB, computer string) string {
	t.Helper()
	root := newFolder(t, computer)
	_, err := project.CreateFiles(project.At(root, "side"), project.StoreOptions{})
	must(t, err)
	must(t, writes(root, ""))
	must(t, writes(root, "side"))
	for _, name := range []string{"a", "b"} {
		_, err := queue.Put(filepath.Join(root, ".ferrus"), name, "Do "+name+".")
		must(t, err)
	}
	must(t, os.MkdirAll(filepath.Join(root, ".ferrus/queue/taken"), 0o700))
	must(t, os.WriteFile(filepath.Join(root, ".ferrus/queue/taken/old.md"), []byte("Done.\n"), 0o600))
	return root
}

// apply makes a change of a machine of a project.
func apply(root, branch string, change func(store.Snapshot) (*store.Change, error)) error {
	m, err := project.At(root, branch).Open(project.StoreOptions{})
	if err != nil {
		return err
	}
	defer m.Close()
	_, err = m.Apply(context.Background(), change)
	return err
}

// writes writes a line to the journal of a machine.
func writes(root, branch string) error {
	return apply(root, branch, func(now store.Snapshot) (*store.Change, error) {
		return &store.Change{Event: "repair", Next: now.Task.Clone(), Note: "a line"}, nil
	})
}

// claims claims the task of a machine for a session.
func claims(root, branch, session string) error {
	return apply(root, branch, func(now store.Snapshot) (*store.Change, error) {
		next := now.Task.Clone()
		next.Epoch++
		next.ClaimedBy, next.Session = "executor:test:1", session
		return &store.Change{Event: "claim", Next: next}, nil
	})
}

// journal returns the journal of a machine.
func journal(t testing.TB, root, branch string) string {
	t.Helper()
	var text bytes.Buffer
	_, err := Export(project.At(root, branch), &text)
	must(t, err)
	return text.String()
}

// waiting are the tasks of the queue that wait.
func waiting(t testing.TB, root string) string {
	t.Helper()
	list, err := queue.List(filepath.Join(root, ".ferrus"))
	must(t, err)
	var all []string
	for _, it := range list {
		all = append(all, it.Name+": "+strings.TrimSpace(it.Text))
	}
	return strings.Join(all, ", ")
}

// projects returns how many projects of the name of a folder the database has.
func projects(t testing.TB, conn *pgx.Conn, root string) (n int) {
	t.Helper()
	err := conn.QueryRow(t.Context(), "select count(*) from ferrus.project where name = $1 and moved is null", filepath.Base(root)).Scan(&n)
	if refused := (*pgconn.PgError)(nil); errors.As(err, &refused) && refused.Code == "42P01" {
		return 0 // there are no tables
	}
	must(t, err)
	return n
}

// wantError fails the test unless an error says some texts.
func wantError(t testing.TB, err error, texts ...string) {
	t.Helper()
	if err == nil || slices.ContainsFunc(texts, func(text string) bool { return !strings.Contains(err.Error(), text) }) {
		t.Errorf("%v does not say %q", err, texts)
	}
}
