package enginetest

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/sharing"
	"github.com/ferrus-go/ferrus/internal/test/postgrestest"
)

// EnvStore is the variable that says where the machines of tests are: in PostgreSQL for "postgres", otherwise in files.
const EnvStore = "FERRUS_TEST_STORE"

func shared() bool { return os.Getenv(EnvStore) == "postgres" }

// share moves the machine of the project into a database of its own.
func (p *Machine) share() {
	p.T.Helper()
	if _, err := sharing.Move(context.Background(), p.Dir, postgrestest.DurableDatabase(p.T), time.Now()); err != nil {
		p.T.Fatal(err)
	}
	at, err := project.At(p.Dir, "").Shared()
	if err != nil {
		p.T.Fatal(err)
	}
	p.T.Cleanup(func() {
		if err := at.Close(); err != nil {
			p.T.Error(err)
		}
	})
}

// InFiles skips a test that looks at files of the store, or changes them, where machines are in a database.
func InFiles(t testing.TB, why string) {
	t.Helper()
	if shared() {
		t.Skip("in files only: " + why)
	}
}
