package postgres

import (
	"context"
	"errors"
	"io"
	"net"
	"slices"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/ferrus-go/ferrus/internal/state/refusal"
)

// errBroken is wrapped by the error of a transition that changed nothing, and may be tried again.
var errBroken = errors.New("the connection failed")

// query reads. It is tried again while the servers change places.
func (d *Database) query(ctx context.Context, do func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, d.opts.Wait)
	defer cancel()
	for try := 0; ; try++ {
		one, stop := context.WithTimeout(ctx, d.opts.Wait/2)
		err := do(one)
		stop()
		silent := errors.Is(err, context.DeadlineExceeded)
		if silent {
			d.reconnect()
		}
		if err == nil || !silent && !transient(err) || !wait(ctx, try) {
			return err
		}
	}
}

// wait waits before another try, longer each time. It reports false when ctx ends before.
func wait(ctx context.Context, try int) bool {
	next := time.NewTimer(min(time.Duration(try+1)*10*time.Millisecond, 250*time.Millisecond))
	defer next.Stop()
	select {
	case <-next.C:
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}

// transient reports whether an error says that the connection or the server has failed, so that another try may help. The caller knows that
// nothing was committed.
func transient(err error) bool {
	var known *refusal.RefusedError
	var pg *pgconn.PgError
	var refused *pgconn.ConnectError
	var network net.Error
	switch {
	case errors.As(err, &known), errors.Is(err, context.Canceled):
		return false
	case errors.As(err, &refused): // by each server of the URL; one of them may accept later, or may not have answered in time
		var each interface{ Unwrap() []error }
		if !errors.As(refused.Unwrap(), &each) {
			return true
		}
		return slices.ContainsFunc(each.Unwrap(), func(one error) bool { return !errors.As(one, &pg) || transientState(pg.Code) })
	case errors.As(err, &pg):
		return transientState(pg.Code)
	case errors.Is(err, context.DeadlineExceeded):
		return false
	}
	return errors.Is(err, errBroken) || errors.Is(err, errStandby) || errors.As(err, &network) ||
		errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || pgconn.SafeToRetry(err)
}

// Away reports whether an error of this package says that no server answers as it should now. A later call may succeed.
func Away(err error) bool {
	var known *refusal.RefusedError
	return errors.As(err, &known) && known.Code == refusal.StoreError && known.Cause != nil && (transient(known.Cause) || errors.Is(known.Cause, context.DeadlineExceeded))
}

// transientState is transient for the SQLSTATE of an error: those of a server that ends, starts, is a standby or has no room, of a connection
// that it has ended, and of a transaction that it has undone in favour of another.
func transientState(code string) bool {
	switch code[:2] {
	case "08", "40", "53", "57":
		return true
	}
	return code == "25006" || code == "25P02" || code == "25P03"
}
