// Package notify tells a person something outside of the terminal: by a shell command, by the
// services that URLs name, and on the desktop.
//
// An [Outbox] remembers what the person of a project was sent. Each item is recorded before it is
// sent, and each channel is recorded after it accepted the item. So every channel gets each item at
// least once, whatever is killed, and never again once that is recorded. A kill between the two
// repeats an item; its text has its ID. A channel that fails is tried again later, a few times.
//
// Callers decide what an item is and when it is due. Start reading at outbox.go.
package notify

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/ferrus-go/ferrus/internal/platform/proc"
)

// limit is how long one channel may take for one message.
const limit = 30 * time.Second

// A Message is the text of a notification.
type Message struct {
	Title string   `json:"title"` // one line
	Text  string   `json:"text"`  // the whole, without the title
	Env   []string `json:"env,omitempty"`
}

// Channels are the configured ways to reach a person. The zero Channels reach nobody.
type Channels struct {
	Command string   // for the shell, gets the text on its standard input
	Dir     string   // where the command runs
	Environ []string // of the command, before Env of the message; nil means that of this process
	URLs    []string // each a URL, or $NAME of a variable of this process that has one
	Desktop bool
}

// A Channel is one way to reach a person.
type Channel struct {
	Name string // contains no secret, and is the same for the same channel in every process
	send func(context.Context, Message) error
}

// List returns the channels in the order of the configuration, each once.
func (c Channels) List() []Channel {
	var list []Channel
	if c.Command != "" {
		list = append(list, Channel{"command", c.command})
	}
	for _, item := range c.URLs {
		list = append(list, Channel{urlName(item), func(_ context.Context, m Message) error { return sendURL(item, m) }})
	}
	if c.Desktop {
		list = append(list, Channel{"desktop", c.desktop})
	}
	seen := map[string]bool{}
	return slices.DeleteFunc(list, func(ch Channel) bool {
		was := seen[ch.Name]
		seen[ch.Name] = true
		return was
	})
}

// Send sends a message and returns when it was accepted, or why it was not. The error contains no
// secret of a URL.
func (ch Channel) Send(ctx context.Context, m Message) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	done := make(chan error, 1) // a library that ignores the limit is left behind
	go func() {
		defer func() {
			if r := recover(); r != nil {
				done <- errors.New("the library failed")
			}
		}()
		done <- ch.send(ctx, m)
	}()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			return fmt.Errorf("no answer within %v", limit)
		}
		return context.Cause(ctx)
	}
}

// command runs the shell command with the text on its standard input.
func (c Channels) command(ctx context.Context, m Message) error {
	env := c.Environ
	if env == nil {
		env = os.Environ()
	}
	err := proc.RunShell(ctx, limit-2*time.Second, c.Command, c.Dir, m.Text+"\n", slices.Concat(env, m.Env))
	if err != nil {
		return errors.New(scrub(err.Error(), c.secrets()...))
	}
	return nil
}

// secrets are the URLs, as far as they are known.
func (c Channels) secrets() []string {
	var list []string
	for _, item := range c.URLs {
		if raw, err := resolve(item); err == nil {
			list = append(list, raw)
		}
	}
	return list
}

// resolve returns the URL of an item.
func resolve(item string) (string, error) {
	name, ok := strings.CutPrefix(item, "$")
	if !ok {
		return item, nil
	}
	if raw := os.Getenv(name); raw != "" {
		return raw, nil
	}
	return "", fmt.Errorf("the variable %s is not set in this process", name)
}

// urlName names a channel without its secret: by its variable, or by the service and a digest.
func urlName(item string) string {
	if strings.HasPrefix(item, "$") {
		return item
	}
	sum := sha256.Sum256([]byte(item))
	service := "url"
	if u, err := url.Parse(item); err == nil && u.Scheme != "" {
		service = u.Scheme
	}
	return service + " " + hex.EncodeToString(sum[:4])
}
