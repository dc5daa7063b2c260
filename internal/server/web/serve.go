package web

import (
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"time"
)

// grace is how long Serve waits for open requests to end by themselves when its context ends.
const grace = 300 * time.Millisecond

// Serve serves a listener until ctx ends. Then it ends the site: first sessions, streams and calls,
// then the connections. conf is nil for a listener without TLS. Serve closes the listener.
func (s *Site) Serve(ctx context.Context, l net.Listener, conf *tls.Config) error {
	l = &bounded{Listener: l, most: s.opts.Limits.Conns}
	if conf != nil {
		l = tls.NewListener(l, conf)
	}
	only1 := new(http.Protocols)
	only1.SetHTTP1(true) // HTTP/2 would only add limits of its own
	server := &http.Server{
		Handler:           s,
		Protocols:         only1,
		ReadHeaderTimeout: s.opts.Limits.HeaderTime,
		IdleTimeout:       s.opts.Limits.ConnIdle,
		MaxHeaderBytes:    s.opts.Limits.Header,
		// A WriteTimeout would end every stream; see stream.
		ErrorLog:                     slog.NewLogLogger(s.log.Handler(), slog.LevelInfo),
		DisableGeneralOptionsHandler: true,
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(l) }()
	select {
	case err := <-ended:
		s.Close()
		return err
	case <-ctx.Done():
	}
	s.Close()
	// New requests are refused by now, and open ones were told to end.
	closing, cancel := context.WithTimeout(context.Background(), grace)
	defer cancel()
	if err := server.Shutdown(closing); err != nil {
		_ = server.Close() // the rest are clients that read nothing, or have said nothing yet
	}
	if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
