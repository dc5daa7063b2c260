// Package sharedtest is the switch by which tests run with the machines of their projects in PostgreSQL instead of in files.
package sharedtest

import (
	"bytes"
	"context"
	"os"
	"testing"
	"time"

	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/project/sharing"
	"github.com/ferrus-go/ferrus/internal/store"
	"github.com/ferrus-go/ferrus/test/postgrestest"
)

// EnvStore is the variable that says where the machines of tests are: in PostgreSQL for "postgres", otherwise in files.
const EnvStore = "FERRUS_TEST_STORE"

// On reports whether the machines of tests are in PostgreSQL.
func On() bool { return os.Getenv(EnvStore) == "postgres" }

// Main runs a test program, usually m.Run, and returns its exit code. It ends the servers of PostgreSQL that the tests have used.
func Main(run func() int) int {
	if On() {
		return postgrestest.Main(run)
	}
	return run()
}

// Init makes the machine of a project in root. It is in a database of its own, if the switch is on.
func Init(t testing.TB, root string) {
	t.Helper()
	if _, err := project.Init(root); err != nil {
		t.Fatal(err)
	}
	Move(t, root)
}

// Move moves the machines of a project into a database of their own, if the switch is on.
func Move(t testing.TB, root string) {
	t.Helper()
	if !On() {
		return
	}
	if _, err := sharing.Move(context.Background(), root, postgrestest.DurableDatabase(t), time.Now()); err != nil {
		t.Fatal(err)
	}
	Close(t, root)
}

// Close closes the database of a project at the end of the test, if this process has opened it.
func Close(t testing.TB, root string) {
	t.Helper()
	t.Cleanup(closing(t, root))
}

// Disconnect closes the database of a project now, if this process has opened it: nothing of this process writes to the folder of the project
// until a machine is opened.
func Disconnect(t testing.TB, root string) {
	t.Helper()
	closing(t, root)()
}

func closing(t testing.TB, root string) func() {
	t.Helper()
	at, err := project.At(root, "").Shared()
	if err != nil {
		t.Fatal(err)
	}
	return func() {
		if at == nil {
			return
		}
		if err := at.Close(); err != nil {
			t.Error(err)
		}
	}
}

// InFiles skips a test that looks at files of the store, or changes them, if the switch is on.
func InFiles(t testing.TB, why string) {
	t.Helper()
	if On() {
		t.Skip("in files only: " + why)
	}
}

// Journal returns the journal of a machine of the project in root: the bytes of its file, or what an export of it writes.
func Journal(t testing.TB, root, branch string) string {
	t.Helper()
	place := project.At(root, branch)
	var text bytes.Buffer
	if !place.InDatabase() {
		raw, err := os.ReadFile(place.Path(store.JournalName))
		if err != nil {
			t.Fatal(err)
		}
		return string(raw)
	}
	if _, err := sharing.Export(place, &text); err != nil {
		t.Fatal(err)
	}
	return text.String()
}
