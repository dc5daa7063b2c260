package postgres

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/ferrus-go/ferrus/internal/state/refusal"
)

const urlRemedy = "write postgres://HOST/DATABASE?target_session_attrs=read-write; see docs/machines.md"

// checkURL refuses a password that stands in the URL, and a server elsewhere whose name would not be verified.
func checkURL(text string, conf *pgx.ConnConfig) error {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "postgres" && u.Scheme != "postgresql" {
		return &refusal.RefusedError{Code: refusal.InvalidInput, Message: "the URL of the store does not begin with postgres://", Remedy: urlRemedy}
	}
	if _, has := u.User.Password(); has || u.Query().Has("password") || u.Query().Has("sslpassword") {
		return &refusal.RefusedError{Code: refusal.InvalidInput, Message: "the URL of the store has a password",
			Remedy: "put it into the file that PGPASSFILE names, ~/.pgpass else, and leave it out of the URL"}
	}
	hosts := []*pgconn.FallbackConfig{{Host: conf.Host, TLSConfig: conf.TLSConfig}}
	for _, f := range append(hosts, conf.Fallbacks...) {
		if local(f.Host) || f.TLSConfig != nil && !f.TLSConfig.InsecureSkipVerify && f.TLSConfig.ServerName != "" {
			continue
		}
		return &refusal.RefusedError{Code: refusal.InvalidInput, Message: "the connection to " + f.Host + " would not be verified",
			Remedy: "add sslmode=verify-full to the URL, and sslrootcert where the certificate is your own authority's"}
	}
	return nil
}

// local reports whether a host is this computer: the folder of a socket, or a loopback address.
func local(host string) bool {
	if strings.HasPrefix(host, "/") || strings.HasPrefix(host, "@") || host == "localhost" {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

// redacted is the error of a URL without the URL, which may have a password.
func redacted(err error) string {
	text := err.Error()
	if i := strings.LastIndex(text, "`: "); i >= 0 {
		return text[i+3:]
	}
	return "it cannot be read"
}

// settings are those of each connection, whatever the role and the database have. With another synchronous_commit an acknowledged event could
// be lost, and a client that has gone silent must not keep the lock of a machine. They are no parameters of the start of a connection, of which a
// pooler takes only a few.
const settings = `set synchronous_commit = on; set lock_timeout = %[1]d; set idle_in_transaction_session_timeout = %[2]d;
set client_connection_check_interval = '1s'; set tcp_keepalives_idle = 5; set tcp_keepalives_interval = 2; set tcp_keepalives_count = 3;
set tcp_user_timeout = '10s'; set default_transaction_isolation = 'read committed'; set default_transaction_read_only = off; set search_path = ` + searchPath

// prepare sets a new connection up, and refuses a server that would not keep the promises.
func (d *Database) prepare(ctx context.Context, conn *pgx.Conn) error {
	// By the simple protocol, which allows several statements.
	if _, err := conn.PgConn().Exec(ctx, fmt.Sprintf(settings, d.opts.Wait.Milliseconds(), d.opts.Wait.Milliseconds()/2)).ReadAll(); err != nil {
		return err
	}
	var fsync, pages string
	var standby bool
	var pid uint32
	// Without a prepared statement: behind a pooler another client may have one of its name.
	err := conn.QueryRow(ctx, "select current_setting('fsync'), current_setting('full_page_writes'), pg_is_in_recovery(), pg_backend_pid()",
		pgx.QueryExecModeSimpleProtocol).Scan(&fsync, &pages, &standby, &pid)
	if err == nil && pid != conn.PgConn().PID() {
		err = d.checkPooler(ctx, pid)
	}
	switch {
	case err != nil:
		return err
	case standby:
		return errStandby
	case d.opts.Unsafe:
		return nil
	case fsync != "on":
		return &unsafeError{"fsync", fsync}
	case pages != "on":
		return &unsafeError{"full_page_writes", pages}
	}
	return nil
}

// checkPooler refuses a pooler that gives the process of the server to another client after each transaction. pid is the process that an idle
// connection through the pooler has used last: no other client may have it meanwhile.
func (d *Database) checkPooler(ctx context.Context, pid uint32) error {
	conn, err := pgx.ConnectConfig(ctx, d.config)
	if err != nil {
		return nil // a pooler that has no other process of the server gives none away
	}
	defer conn.Close(ctx)
	var other uint32
	if err := conn.QueryRow(ctx, "select pg_backend_pid()", pgx.QueryExecModeSimpleProtocol).Scan(&other); err == nil && other == pid {
		return errPooler
	}
	return nil
}

var errPooler = errors.New("the connection is shared with other clients")

var errStandby = errors.New("the server is a standby")

// An unsafeError is a setting of the server with which acknowledged events can be lost.
type unsafeError struct{ name, value string }

func (e *unsafeError) Error() string { return e.name + " is " + e.value }

// WithPassFile returns a URL that names the file with the password, if there is such a file and the URL names none.
func WithPassFile(text, file string) string {
	u, err := url.Parse(text)
	if err != nil || file == "" || u.Query().Has("passfile") {
		return text
	}
	if u.RawQuery != "" {
		u.RawQuery += "&"
	}
	u.RawQuery += "passfile=" + url.QueryEscape(file)
	return u.String()
}

// SameURL reports whether two URLs differ at most in the file that they name for the password, and in the order of their parameters.
func SameURL(a, b string) bool {
	plain := func(text string) string {
		u, err := url.Parse(text)
		if err != nil {
			return text
		}
		q := u.Query()
		q.Del("passfile")
		u.RawQuery = q.Encode()
		return u.String()
	}
	return plain(a) == plain(b)
}

// checkPassFile refuses a password from a file that others can read: other clients of PostgreSQL do not use it either.
func checkPassFile(text string, conf *pgx.ConnConfig) error {
	if conf.Password == "" || os.Getenv("PGPASSWORD") != "" || runtime.GOOS == "windows" {
		return nil
	}
	file, err := passFile(text)
	if err != nil {
		return nil
	}
	info, err := os.Stat(file)
	if err != nil || info.Mode()&(fs.ModePerm&0o077) == 0 {
		return nil
	}
	return &refusal.RefusedError{Code: refusal.InvalidInput, Message: fmt.Sprintf("the file with the password, %s, can be read by other users (mode %04o)", file, info.Mode().Perm()),
		Remedy: refusal.Say("nothing was changed: chmod 600 %s", file)}
}

// passFile returns the file from which a password comes.
func passFile(text string) (string, error) {
	u, err := url.Parse(text)
	if err != nil {
		return "", err
	}
	if file := u.Query().Get("passfile"); file != "" {
		return file, nil
	}
	if file := os.Getenv("PGPASSFILE"); file != "" {
		return file, nil
	}
	home, err := os.UserHomeDir()
	return filepath.Join(home, ".pgpass"), err
}
