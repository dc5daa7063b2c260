package postgres

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/ferrus-go/ferrus/internal/store"
	"github.com/ferrus-go/ferrus/test/kit"
	"github.com/ferrus-go/ferrus/test/postgrestest"
	"github.com/ferrus-go/ferrus/test/storetest"
)

func TestMain(m *testing.M) {
	if does := os.Getenv(envClient); does != "" {
		os.Exit(runClient(does))
	}
	if text := os.Getenv(envWay); text != "" {
		if err := commitLines(text, os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(storetest.Main(kind(""), func() int {
		return kit.Main(func() int { return postgrestest.Main(m.Run) })
	}))
}

var quiet = slog.New(slog.NewTextHandler(io.Discard, nil))

// here is this computer in tests, there another one.
var (
	here  = uuid.MustParse("4e0de000-0000-4000-8000-000000000001")
	there = uuid.MustParse("4e0de000-0000-4000-8000-000000000002")
)

// An address says where a machine is: its database, project and branch, and its folder on this computer.
type address struct {
	url, project, branch, dir string
}

func (a address) String() string {
	return strings.Join([]string{a.url, a.project, a.branch, a.dir}, " ")
}

func (a address) name() Name { return Name{uuid.MustParse(a.project), a.branch} }

// arrival is that of a project whose own machine has a journal.
func (a address) arrival(journal func() (io.ReadCloser, error)) Arrival {
	return Arrival{Project: a.name().Project, Label: "test", Journals: []Journal{{Open: journal}}}
}

func parse(text string) (a address) {
	words := strings.Split(text, " ")
	return address{words[0], words[1], words[2], words[3]}
}

// kind is this store for the tests of all stores. Each machine that is opened has connections of its own, as in another process.
func kind(url string) storetest.Kind {
	return storetest.Kind{
		New: func(t testing.TB) storetest.Place {
			a := address{url, uuid.NewString(), "", t.TempDir()}
			d := connect(t, a.url, Options{})
			if err := d.Create(context.Background(), a.name(), "test"); err != nil {
				t.Fatal(err)
			}
			return place(a)
		},
		Open: func(text string) (store.Machine, error) {
			a := parse(text)
			d, err := Connect(context.Background(), a.url, options(Options{}))
			if err != nil {
				return nil, err
			}
			s, err := d.Open(context.Background(), a.name(), a.dir, Opening{})
			if err != nil {
				d.Close()
				return nil, err
			}
			return whole{s, d}, nil
		},
	}
}

// options are those of a test: the server does not sync its files, and a call waits less long.
func options(o Options) Options {
	o.Host, o.Log, o.Unsafe = cmp.Or(o.Host, "here"), quiet, true
	if o.Node == uuid.Nil {
		o.Node = here
	}
	if o.Wait == 0 {
		o.Wait = 4 * time.Second
	}
	return o
}

// connect opens a database for a test.
func connect(t testing.TB, url string, o Options) *Database {
	t.Helper()
	d, err := Connect(context.Background(), url, options(o))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}

// A whole closes its database with it.
type whole struct {
	*Store
	d *Database
}

func (w whole) Close() error { return w.d.Close() }

func place(a address) storetest.Place {
	of := func(branch string) address {
		return address{a.url, a.project, branch, filepath.Join(filepath.Dir(a.dir), "b-"+branch)}
	}
	return storetest.Place{
		Address: a.String(),
		Alter: func(t testing.TB, off int64) {
			conn := postgrestest.Connect(t, a.url)
			if _, err := conn.Exec(context.Background(), `update ferrus.journal set line = set_byte(line, 10, get_byte(line, 10) # 1)
				where off = $1 and machine = (select id from ferrus.machine where project = $2 and branch = $3)`, off, a.project, a.branch); err != nil {
				t.Fatal(err)
			}
		},
		Import: func(t testing.TB, journal []byte) (storetest.Place, error) {
			to := address{a.url, uuid.NewString(), "", t.TempDir()}
			d := connect(t, a.url, Options{})
			return place(to), d.AddProject(context.Background(), to.arrival(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(journal)), nil }))
		},
		Branch: func(t testing.TB) (store.Branch, storetest.Place) {
			to := of(fmt.Sprint("b", uuid.NewString()[:8]))
			return store.Branch{Name: to.branch, Draft: to.dir + ".draft", Dir: to.dir}, place(to)
		},
		Forked: func(t testing.TB, to storetest.Place) bool {
			a := parse(to.Address)
			found, err := connect(t, a.url, Options{}).Initialised(context.Background(), a.name())
			if err != nil {
				t.Fatal(err)
			}
			return found
		},
	}
}

func TestConformance(t *testing.T) {
	t.Parallel()
	storetest.Run(t, kind(postgrestest.Database(t)))
}
