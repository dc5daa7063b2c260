package postgres

import (
	_ "embed"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/google/uuid"

	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/test/postgrestest"
)

// TestURLsThatAreRefused do not lead to any server.
func TestURLsThatAreRefused(t *testing.T) {
	const passwords, verified = "has a password; put it into the file that PGPASSFILE names", "would not be verified; add sslmode=verify-full"
	for url, want := range map[string]string{
		"postgres://me:secret@localhost/db":                                 passwords,
		"postgresql://me:@localhost/db":                                     passwords,
		"postgres://me@localhost/db?password=secret":                        passwords,
		"postgres://me@localhost/db?pass%77ord=secret":                      passwords,
		"postgres://me@localhost/db?sslpassword=secret":                     passwords,
		"host=localhost user=me password=secret":                            "does not begin with postgres://",
		"mysql://localhost/db":                                              "",
		"postgres://localhost:port/db":                                      "",
		"postgres://db.example.org/db":                                      verified,
		"postgres://db.example.org/db?sslmode=disable":                      verified,
		"postgres://db.example.org/db?sslmode=require":                      verified,
		"postgres://db.example.org/db?sslmode=verify-ca":                    verified,
		"postgres://localhost,db.example.org/db?sslmode=prefer":             verified,
		"postgres://192.0.2.1/db":                                           verified,
		"postgres:///db?host=/tmp,db.example.org&sslmode=disable":           verified,
		"postgres://me@db.example.org/db?sslmode=verify-full&password=x":    passwords,
		"postgres://me:secret@db.example.org/db?sslmode=verify-full&port=x": "",
	} {
		d, err := Connect(t.Context(), url, options(Options{}))
		if err == nil {
			d.Close()
		}
		says(t, err, refusal.InvalidInput, want)
	}
}

// TestSettingsThatAreRefused could lose what was acknowledged.
func TestSettingsThatAreRefused(t *testing.T) {
	t.Parallel()
	safely := func(url string) error {
		d, err := Connect(t.Context(), url, Options{Log: quiet})
		if err == nil {
			d.Close()
		}
		return err
	}
	durable := postgrestest.DurableDatabase(t)
	if err := safely(durable); err != nil {
		t.Errorf("as PostgreSQL is by default: %v", err)
	}
	says(t, safely(postgrestest.Database(t)), refusal.StoreError, "fsync is off", "alter system set fsync = on")
	torn := postgrestest.NewServer(t, postgrestest.Options{Durable: true, TCP: true, Settings: map[string]string{"full_page_writes": "off"}})
	database := databaseOf(t, torn.Database(t))
	url := postgrestest.WithoutPassword(t, torn.URL(database))
	says(t, safely(url), refusal.StoreError, "full_page_writes is off", "alter system set full_page_writes = on")
	says(t, safely(postgrestest.WithoutPassword(t, torn.URL("missing"))), refusal.StoreError, "make the database first")
	torn.Exec(t, "alter role ferrus password 'another'")
	says(t, safely(url), refusal.StoreError, "check the password in the file that PGPASSFILE names")

	conn := postgrestest.Connect(t, durable)
	execute := func(sql string) {
		if _, err := conn.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	execute(fmt.Sprintf("update ferrus.format set version = %d", version+1))
	says(t, safely(durable), refusal.StoreError, fmt.Sprintf("have the format %d, and this ferrus knows %d", version+1, version), "install the same version of ferrus")
	execute("drop schema ferrus cascade; revoke create on database " + databaseOf(t, durable) + " from ferrus")
	says(t, safely(durable), refusal.StoreError, "let the database user create the schema ferrus")
}

// TestASettingOfTheRoleDoesNotCount: each connection has its own synchronous_commit.
func TestASettingOfTheRoleDoesNotCount(t *testing.T) {
	t.Parallel()
	url := postgrestest.Database(t)
	conn := postgrestest.Connect(t, url)
	if _, err := conn.Exec(t.Context(), "alter role ferrus in database "+databaseOf(t, url)+" set synchronous_commit = off"); err != nil {
		t.Fatal(err)
	}
	if got := ask[string](t, postgrestest.Connect(t, url), "show synchronous_commit"); got != "off" {
		t.Fatalf("the role has %s", got)
	}
	d := connect(t, url, Options{})
	for range 2 {
		var got string
		if err := d.write.QueryRow(t.Context(), "show synchronous_commit").Scan(&got); err != nil || got != "on" {
			t.Errorf("a connection has %s: %v", got, err)
		}
		d.reconnect()
	}
}

// TestAStandbyIsRefused where no other server is named.
func TestAStandbyIsRefused(t *testing.T) {
	t.Parallel()
	p := postgrestest.NewPair(t, postgrestest.Options{})
	_, err := Connect(t.Context(), p.Standby.URL("postgres"), options(Options{}))
	says(t, err, refusal.StoreError, "is a standby", "target_session_attrs=read-write")
}

//go:embed testdata/format1.sql
var format1 string

// TestTablesOfAnOlderFormat are made new, once, and nothing in them is lost.
func TestTablesOfAnOlderFormat(t *testing.T) {
	t.Parallel()
	url := postgrestest.Database(t)
	conn := postgrestest.Connect(t, url)
	stays, moved := newName(), newName()
	_, err := conn.PgConn().Exec(t.Context(), fmt.Sprintf(`create schema ferrus; set search_path = ferrus; %[1]s;
		insert into project (id, name) values ('%[2]s', 'stays'), ('%[3]s', 'moved');
		update project set moved = now() where name = 'moved';
		insert into machine (project, branch, gone) values ('%[2]s', '', null), ('%[2]s', 'removed', now()), ('%[3]s', '', null);
		insert into head select id, 0, 0, 0, 0, '' from machine;
		insert into lease select id, 0, '', '', 0, 0, null, null from machine;
		insert into node values ('%[4]s', 'there', now());
		insert into queue (project, name, text, source) values ('%[2]s', 'b', 'Do b.', gen_random_uuid()), ('%[2]s', 'a', 'Do a.', gen_random_uuid());
		insert into post (machine, epoch, home) select id, 3, '%[4]s' from machine where branch = '';
		insert into run (machine, task, name, node, session, over, line) select id, 't-1', 'executor-1', '%[4]s', '', true, 'there' from machine where branch = ''`, format1, stays.Project, moved.Project, here)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() { connect(t, url, Options{}) })
	}
	all.Wait()
	d := connect(t, url, Options{Node: uuid.New()})
	if open := ask[string](t, conn, "select string_agg(p.name, ' ') from head h join machine m on m.id = h.machine join project p on p.id = m.project where not closed"); open != "stays" {
		t.Errorf("open are: %s", open)
	}
	s := open(t, d, stays)
	if snap := view(t, s); snap.Files.Host != "there" {
		t.Errorf("the files are on %q", snap.Files.Host)
	}
	apply(t, s, noted("goes on"))
	if err := takePost(t, s).Record(t.Context(), "t-1", "executor-1", true, []byte("of d")); err != nil {
		t.Fatal(err)
	}
	if runs, err := s.Runs(t.Context(), "t-1"); err != nil || len(runs) != 2 || string(runs[0].Line) != "there" {
		t.Errorf("the runs are %+v, %v", runs, err)
	}
	enqueue(t, s, "0")
	if got := waiting(t, s); !slices.Equal(got, []string{"a", "b", "0"}) {
		t.Errorf("%q wait", got)
	}
	if n := ask[int](t, conn, "select version from format"); n != version {
		t.Errorf("the format is %d", n)
	}
}

// TestTheTablesAreMadeOnce, however many connect at once.
func TestTheTablesAreMadeOnce(t *testing.T) {
	t.Parallel()
	url := postgrestest.Database(t)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			d, err := Connect(t.Context(), url, options(Options{}))
			if err != nil {
				t.Error(err)
				return
			}
			d.Close()
		})
	}
	all.Wait()
	if n := ask[int](t, postgrestest.Connect(t, url), "select count(*) from ferrus.format"); n != 1 {
		t.Errorf("made %d times", n)
	}
}
