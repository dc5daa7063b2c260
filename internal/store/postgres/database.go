// Package postgres keeps machines in a PostgreSQL database, so that several computers work on one project with the promises of one.
//
// A transition is committed when PostgreSQL has committed its line, with synchronous_commit, at the end of the machine's journal: under
// the lock of the machine's head row, and on condition that the head is still the one that was read. A commit whose answer was lost is
// looked up by its attempt id, and is believed only after another commit has been acknowledged; see [Store.Apply].
//
// The bytes of a journal are those of its file: an export is the file, with the same hashes.
package postgres

import (
	"context"
	"crypto/x509"
	_ "embed"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/ferrus-go/ferrus/internal/lease"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/store/live"
)

//go:embed schema.sql
var schema string

// version is the version of the tables that this ferrus reads and writes.
const version = 5

// searchPath is the schema of the tables. Channels belong to a database, whatever the schema.
const searchPath = "ferrus"

// Options say how a database is used. The zero value is right but for Node.
type Options struct {
	Node uuid.UUID     // this computer
	Host string        // its name, for people
	Root string        // the folder on it, for people; with "" it becomes no member of the projects that it uses
	Wait time.Duration // how long a call waits for the database and for locks; 10 s when zero
	TTL  time.Duration // after which a computer that is silent is lost; 10 s when zero

	// Folder returns the folder on this computer of the machine of a branch, "" for the project's own. It is where the locks of its sessions are. Nil
	// means that only the sessions of machines that were opened are looked at.
	Folder func(branch string) string

	Log *slog.Logger // slog.Default when nil

	// Heard is called after the database has heard of this computer, with the time at which that was sent, by the clock of package clock.
	// Nil means that nobody wants to know.
	Heard func(sent lease.Instant)

	// Unsafe accepts settings of the server with which a power cut may lose acknowledged events. It is for tests.
	Unsafe bool
}

// A Database is a PostgreSQL database with the tables of ferrus. It is safe for concurrent use. It does nothing by itself while nobody watches a
// machine and no session is announced, and then has no connection after a minute.
type Database struct {
	opts   Options
	write  *pgxpool.Pool // for what holds the lock of a machine; at most one connection for each machine of this process
	read   *pgxpool.Pool // for everything else: what holds a lock never waits for it
	config *pgx.ConnConfig
	ctx    context.Context // ends with Close
	end    context.CancelFunc
	work   sync.WaitGroup
	clock  dbClock

	mu       sync.Mutex
	watchers map[int64]map[chan struct{}]bool // by machine
	deaf     func()                           // ends the listening; nil while nobody watches
	due      map[int64]bool                   // machines that have changed and were not announced yet
	ringing  bool                             // they are being announced
	ours     map[string]ownSession            // announced by this process
	beating  bool                             // this computer says that it is there
	said     time.Time                        // when it last said so with success
	sessions map[int64]*live.Sessions         // of this computer, by the machine that was opened
}

// Connect opens a database by its URL, and makes the tables where there are none. The error is a *refusal.RefusedError.
func Connect(ctx context.Context, url string, opts Options) (*Database, error) {
	if opts.Wait == 0 {
		opts.Wait = 10 * time.Second
	}
	if opts.TTL == 0 {
		opts.TTL = 10 * time.Second
	}
	if opts.Log == nil {
		opts.Log = slog.Default()
	}
	d := &Database{opts: opts, sessions: map[int64]*live.Sessions{}, due: map[int64]bool{}, watchers: map[int64]map[chan struct{}]bool{}, ours: map[string]ownSession{}}
	d.ctx, d.end = context.WithCancel(context.Background())
	if err := d.connect(ctx, url); err != nil {
		d.Close()
		return nil, err
	}
	return d, nil
}

func (d *Database) connect(ctx context.Context, url string) error {
	conf, err := pgxpool.ParseConfig(url)
	if err != nil {
		return &refusal.RefusedError{Code: refusal.InvalidInput, Message: "the URL of the store: " + redacted(err), Remedy: urlRemedy}
	}
	if err := checkURL(url, conf.ConnConfig); err != nil {
		return err
	}
	if err := checkPassFile(url, conf.ConnConfig); err != nil {
		return err
	}
	conf.ConnConfig.RuntimeParams["application_name"] = "ferrus"
	conf.ConnConfig.ConnectTimeout = d.opts.Wait / 4 // to each host, one of which may be silent
	conf.ConnConfig.OnNotice = noticed
	conf.AfterConnect = d.prepare
	dial := net.Dialer{KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: 5 * time.Second, Interval: 2 * time.Second, Count: 3}}
	conf.ConnConfig.DialFunc = dial.DialContext
	conf.MaxConns, conf.MinConns = 4, 0
	conf.MaxConnIdleTime = time.Minute
	d.config = conf.ConnConfig.Copy()
	if d.write, err = pgxpool.NewWithConfig(ctx, conf); err == nil {
		d.read, err = pgxpool.NewWithConfig(ctx, conf.Copy())
	}
	if err != nil {
		return d.failed("connect", err)
	}
	ctx, cancel := context.WithTimeout(ctx, d.opts.Wait)
	defer cancel()
	return d.migrate(ctx)
}

// migrate makes the tables where there are none, and those of an older format new.
func (d *Database) migrate(ctx context.Context) error {
	return d.change(ctx, "make the tables", func(tx pgx.Tx) error {
		have, err := format(ctx, tx)
		if err == nil && have < version {
			if _, err = tx.Exec(ctx, "select pg_advisory_xact_lock(hashtext('ferrus'))"); err == nil {
				have, err = format(ctx, tx)
			}
		}
		switch {
		case err != nil || have == version:
			return err
		case have > version:
			return &refusal.RefusedError{Code: refusal.StoreError, Message: fmt.Sprintf("the tables of the store have the format %d, and this ferrus knows %d", have, version),
				Remedy: "install the same version of ferrus on every computer that uses the store"}
		}
		_, err = tx.Conn().PgConn().Exec(ctx, fmt.Sprintf("create schema if not exists %s;\n%s;\ndelete from format; insert into format values (%d)", searchPath, schema, version)).ReadAll()
		return err
	})
}

// format returns the version of the tables, 0 where there are none.
func format(ctx context.Context, tx pgx.Tx) (v int, err error) {
	var tables int
	err = tx.QueryRow(ctx, "select count(*) from pg_tables where schemaname = $1 and tablename = 'format'", searchPath).Scan(&tables)
	if err == nil && tables > 0 {
		err = tx.QueryRow(ctx, "select version from format").Scan(&v)
	}
	return v, err
}

// change makes a change of several statements. do uses tx alone, and does not end it.
func (d *Database) change(ctx context.Context, what string, do func(tx pgx.Tx) error) error {
	conn, err := d.write.Acquire(ctx)
	if err != nil {
		return d.failed(what, err)
	}
	defer conn.Release() // the pool closes a connection whose transaction did not end
	tx, err := conn.Begin(ctx)
	if err == nil {
		err = do(tx)
	}
	if err == nil {
		err = d.commit(conn.Conn(), &pgx.Batch{}, 0)
	}
	if lost := (*lostAnswer)(nil); errors.As(err, &lost) {
		return d.unknown(what, lost)
	}
	return d.failed(what, err)
}

// Close closes all connections. It does not wait long for a server that does not answer.
func (d *Database) Close() error {
	d.end()
	d.work.Wait()
	var closing sync.WaitGroup
	for _, pool := range []*pgxpool.Pool{d.write, d.read} {
		if pool != nil {
			closing.Go(pool.Close)
		}
	}
	closed := make(chan struct{})
	go func() {
		closing.Wait()
		close(closed)
	}()
	select {
	case <-closed:
	case <-time.After(time.Second):
	}
	return nil
}

// reconnect lets no connection be used again: their server is silent, or is no longer the one that accepts writes.
func (d *Database) reconnect() {
	d.write.Reset()
	d.read.Reset()
}

// unknown is the *refusal.RefusedError of a call whose commit may stand.
func (d *Database) unknown(what string, lost *lostAnswer) error {
	return refusal.Because(refusal.OutcomeUnknown, what+" in PostgreSQL", lost,
		"it may or may not be saved: check the server, then read the status and continue from it")
}

// failed is the *refusal.RefusedError of a call that changed nothing; nil for nil.
func (d *Database) failed(what string, err error) error {
	var known *refusal.RefusedError
	var setting *unsafeError
	var pg *pgconn.PgError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &known), errors.Is(err, context.Canceled):
		return err
	case errors.As(err, &setting):
		return &refusal.RefusedError{Code: refusal.StoreError, Message: what + ": " + setting.Error() + " on the PostgreSQL server, which could lose acknowledged events",
			Remedy: refusal.Say("nothing was changed: alter system set %s = on; also look for alter role and alter database", setting.name)}
	case errors.Is(err, errStandby):
		return &refusal.RefusedError{Code: refusal.StoreError, Message: what + ": the PostgreSQL server is a standby",
			Remedy: "nothing was changed: name all servers in the URL and add target_session_attrs=read-write"}
	case errors.Is(err, errPooler):
		return &refusal.RefusedError{Code: refusal.StoreError, Message: what + ": the URL leads to a pooler that gives a connection to other clients after each transaction",
			Remedy: "nothing was changed: set pool_mode = session for the database (in pgbouncer.ini), or name the server itself in the URL"}
	case errors.As(err, &pg) && pg.Code == "55P03":
		return &refusal.RefusedError{Code: refusal.LockBusy, Message: fmt.Sprintf("the machine is locked in PostgreSQL for more than %v", d.opts.Wait), Remedy: "try again"}
	}
	remedy := "check that the server runs and can be reached, then try again"
	var authority x509.UnknownAuthorityError
	var name x509.HostnameError
	switch {
	case errors.As(err, &pg) && remedies[pg.Code] != "":
		remedy = remedies[pg.Code]
	case errors.As(err, &authority):
		remedy = "put the certificate of the server's authority into ~/.postgresql/root.crt, or name its file by sslrootcert in the URL"
	case errors.As(err, &name):
		remedy = "name the server in the URL as its certificate does"
	}
	return refusal.Because(refusal.StoreError, what+" in PostgreSQL", err, refusal.Say("nothing was changed: %s", remedy))
}

// remedies are those of errors of the server, by SQLSTATE.
var remedies = map[string]string{
	"28000": "check the user in the URL, and pg_hba.conf on the server",
	"28P01": "check the password in the file that PGPASSFILE names, ~/.pgpass else",
	"3D000": "make the database first: createdb",
	"42501": "let the database user create the schema " + searchPath + ", or make it its owner",
	"53300": "raise max_connections on the server, or close other clients",
}

// warning is the key under which a connection has its newest warning.
const warning = "ferrus.warning"

// noticed remembers a warning of a connection: during a commit it says that the commit may not have reached a standby.
func noticed(conn *pgconn.PgConn, n *pgconn.Notice) {
	if n.SeverityUnlocalized == "WARNING" {
		conn.CustomData()[warning] = n
	}
}

// warned returns the warning that a connection has had since the last call, nil for none.
func warned(conn *pgx.Conn) *pgconn.Notice {
	data := conn.PgConn().CustomData()
	n, _ := data[warning].(*pgconn.Notice)
	delete(data, warning)
	return n
}
