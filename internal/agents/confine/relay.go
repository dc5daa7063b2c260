package confine

import (
	"bufio"
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"time"

	"github.com/ferrus-go/ferrus/internal/platform/rootfs"
)

// A Ticket is what a client needs to connect. It lies in a file that only the sandbox of the run can read: the address is no secret.
type Ticket struct {
	Network string `json:"network"` // tcp, or unix
	Address string `json:"address"`
	Token   string `json:"token"` // of the run
}

// Answers of a host to the token, a line each.
const (
	accepted = "accepted"
	busy     = "busy"
)

// patience is how long a host waits for a token, and a client for its answer.
const patience = 10 * time.Second

// maxTicket bounds the file of a ticket, and maxLine a token or an answer, in bytes.
const (
	maxTicket = 4 << 10
	maxLine   = 128
)

// newToken draws the token of a run.
func newToken() string { return rand.Text() + rand.Text() }

// same reports whether a token is the right one, in constant time.
func same(token, right string) bool {
	return subtle.ConstantTimeCompare([]byte(token), []byte(right)) == 1
}

// readLine reads a line byte by byte: what follows it is for another process.
func readLine(r io.Reader) (string, error) {
	var line strings.Builder
	for b := make([]byte, 1); line.Len() < maxLine; {
		if _, err := io.ReadFull(r, b); err != nil {
			return "", err
		}
		if b[0] == '\n' {
			return line.String(), nil
		}
		line.WriteByte(b[0])
	}
	return "", errors.New("the line is too long")
}

// A stream is a connection of which one half can be closed, and that can be handed to another process.
type stream interface {
	net.Conn
	CloseWrite() error
	File() (*os.File, error)
}

// ReadTicket reads the file of a ticket.
func ReadTicket(path string) (Ticket, error) {
	var t Ticket
	text, err := rootfs.ReadFile(path, maxTicket)
	if err == nil {
		err = json.Unmarshal(text, &t)
	}
	if err != nil {
		return t, fmt.Errorf("read the ticket of the run: %w", err)
	}
	return t, nil
}

// Connect joins a pair of streams to the server of the run, until the server ends or out cannot be written. When in ends it tells the
// server, and still writes what it answers.
func Connect(ctx context.Context, t Ticket, in io.Reader, out io.Writer) error {
	dialer := net.Dialer{Timeout: patience}
	c, err := dialer.DialContext(ctx, t.Network, t.Address)
	if err != nil {
		return fmt.Errorf("connect to ferrus outside of the sandbox: %w", err)
	}
	defer c.Close()
	defer context.AfterFunc(ctx, func() { c.Close() })()
	conn, ok := c.(stream)
	if !ok {
		return fmt.Errorf("%s is no network for a relay", t.Network)
	}
	_ = conn.SetDeadline(time.Now().Add(patience))
	if _, err := io.WriteString(conn, t.Token+"\n"); err != nil {
		return fmt.Errorf("connect to ferrus outside of the sandbox: %w", err)
	}
	switch answer, err := readLine(conn); {
	case err != nil:
		return fmt.Errorf("ferrus outside of the sandbox has refused the connection: %w", err)
	case answer == busy:
		return errors.New("ferrus outside of the sandbox has too many connections of this run; end another one")
	case answer != accepted:
		return fmt.Errorf("ferrus outside of the sandbox answers %.80q", answer)
	}
	_ = conn.SetDeadline(time.Time{})
	go func() {
		_, _ = io.Copy(conn, bufio.NewReader(in)) // it ends with in, or with the connection
		_ = conn.CloseWrite()
	}()
	_, err = io.Copy(out, conn)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}
