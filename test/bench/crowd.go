package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ferrus-go/ferrus/internal/server/mcpclient"
)

// A crowd is clients of one project, each with a server process of its own.
type crowd struct {
	clients []*mcpclient.Client
	servers []*exec.Cmd // those that no client ends
	kinds   map[string]writes
}

// leave ends all of it.
func (c *crowd) leave() {
	var all sync.WaitGroup
	for _, client := range c.clients {
		all.Go(client.Kill)
	}
	all.Wait()
	for _, s := range c.servers {
		if s.Process != nil {
			_ = s.Process.Kill() // an error means that it is gone
			_ = s.Wait()
		}
	}
}

// each does something for every client at the same time, and returns what went wrong.
func (c *crowd) each(do func(i int, to *mcpclient.Client) error) error {
	errs := make([]error, len(c.clients))
	var all sync.WaitGroup
	for i, client := range c.clients {
		all.Go(func() { errs[i] = do(i, client) })
	}
	all.Wait()
	return errors.Join(errs...)
}

// gather opens n clients of a system.
func (s system) gather(ctx context.Context, dir string, n int) (*crowd, error) {
	if s.Crowd != nil {
		return s.Crowd(ctx, dir, n)
	}
	c := &crowd{clients: make([]*mcpclient.Client, n), kinds: s.Kinds}
	errs := make([]error, n)
	slots := make(chan struct{}, 4) // many slow starts at once would only hinder each other
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			slots <- struct{}{}
			c.clients[i], errs[i] = open(ctx, s.Server(dir))
			<-slots
		})
	}
	all.Wait()
	if err := errors.Join(errs...); err != nil {
		c.clients = compact(c.clients)
		c.leave()
		return nil, err
	}
	return c, nil
}

func compact(list []*mcpclient.Client) (found []*mcpclient.Client) {
	for _, c := range list {
		if c != nil {
			found = append(found, c)
		}
	}
	return found
}

// dial opens n clients, each of a server of HTTP of its own.
func dial(ctx context.Context, n int, token string, server func() *exec.Cmd) (*crowd, error) {
	c := &crowd{}
	for range n {
		cmd := server()
		c.servers = append(c.servers, cmd)
		url, err := listen(ctx, cmd)
		if err == nil {
			var client *mcpclient.Client
			if client, err = mcpclient.Dial(ctx, "bench", url, token); err == nil {
				c.clients = append(c.clients, client)
				continue
			}
		}
		c.leave()
		return nil, err
	}
	return c, nil
}

// ferrusCrowd is clients that share a claim, which is how one task can have many writers: a note for each item.
func ferrusCrowd(ctx context.Context, bin, dir string, n int) (*crowd, error) {
	out, err := output(ctx, dir, filepath.Join(bin, "ferrus"), "token", "new", "--role", "executor", "--name", "bench", "--json")
	if err != nil {
		return nil, err
	}
	var token struct{ Secret string }
	if err := json.Unmarshal([]byte(out), &token); err != nil {
		return nil, err
	}
	if _, err := output(ctx, dir, filepath.Join(bin, "ferrus"), "task", "Build it."); err != nil {
		return nil, err
	}
	c, err := dial(ctx, n, token.Secret, func() *exec.Cmd {
		cmd := exec.Command(filepath.Join(bin, "ferrusd"), "--http", "127.0.0.1:0", "--root", dir)
		cmd.Env = plain()
		return cmd
	})
	if err != nil {
		return nil, err
	}
	got, err := c.clients[0].Call(ctx, "wait_for_task", nil)
	if err == nil && got.Claim == "" {
		err = fmt.Errorf("wait_for_task: %s %s", got.Code, got.Message)
	}
	if err != nil {
		c.leave()
		return nil, err
	}
	c.kinds = map[string]writes{"update": func(_ string, item int) (call, string) {
		return call{"progress", map[string]any{"note": mark(item), "claim": got.Claim}}, mark(item)
	}}
	return c, nil
}

// lineBytes is how long a line of the bare servers is: about what a note takes in the journal of ferrus.
const lineBytes = 1500

func bareCrowd(ctx context.Context, bin, dir string, n int) (*crowd, error) {
	c, err := dial(ctx, n, "", func() *exec.Cmd {
		return exec.Command(filepath.Join(bin, "bare"), "-http", "127.0.0.1:0", "-keep", filepath.Join(dir, "bare.log"), "-line", fmt.Sprint(lineBytes))
	})
	if err == nil {
		c.kinds = bare(bin).Kinds
	}
	return c, err
}

// crowds has n clients of each system write at once, each its own items, and then read; and counts what is on the disk.
func (l *lab) crowds(n int) error {
	for _, s := range l.systems {
		each := each
		if slices.Contains(l.peers, s.Name) {
			each = eachPeer
		}
		if err := l.failed(s, l.crowd(s, n, each)); err != nil {
			return err
		}
	}
	return nil
}

func (l *lab) crowd(s system, n, each int) error {
	dir, err := l.begin(s, n*each)
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	c, err := s.gather(l.ctx, dir, n)
	if err != nil {
		return err
	}
	defer c.leave()
	// The first call of a session pays for what is made once.
	if err := c.each(func(_ int, to *mcpclient.Client) error { _, err := s.Look(dir).try(l.ctx, to); return err }); err != nil {
		return err
	}
	for _, kind := range []string{"update", "create"} {
		if write, ok := c.kinds[kind]; ok {
			if err := l.write(s, c, dir, fmt.Sprintf("Crowd%d/%s %s", n, kind, s.Name), each, write); err != nil {
				return err
			}
		}
	}
	name := fmt.Sprintf("Crowd%d/look %s", n, s.Name)
	began := time.Now()
	err = c.each(func(_ int, to *mcpclient.Client) error {
		for range each {
			began := time.Now()
			if _, err := s.Look(dir).try(l.ctx, to); err != nil {
				return err
			}
			l.took(name, time.Since(began))
		}
		return nil
	})
	l.results.add(name+"-per-s", float64(n*each)/time.Since(began).Seconds())
	return err
}

// write makes the calls of one kind. A refusal is no error: it is counted as not acknowledged.
func (l *lab) write(s system, c *crowd, dir, name string, each int, write writes) error {
	var mu sync.Mutex
	var acked []string
	var refusal error // the first of them
	began := time.Now()
	_ = c.each(func(i int, to *mcpclient.Client) error {
		for k := range each {
			w, mark := write(dir, i*each+k+1)
			began := time.Now()
			text, err := w.try(l.ctx, to)
			l.took(name, time.Since(began))
			if err == nil && !strings.Contains(text, s.Says) {
				err = fmt.Errorf("%s: %.200s", w.Tool, text)
			}
			mu.Lock()
			if err == nil {
				acked = append(acked, mark)
			} else if refusal == nil {
				refusal = err
			}
			mu.Unlock()
		}
		return nil
	})
	took := time.Since(began)
	text, err := s.Kept(dir)
	if err != nil {
		return err
	}
	if refusal != nil {
		l.note("%s: %d of %d calls were not acknowledged; one because: %.200s", name, len(c.clients)*each-len(acked), len(c.clients)*each, refusal)
	}
	kept := found(acked, text)
	if !slices.Contains(l.peers, s.Name) && kept < len(acked) {
		return fmt.Errorf("%d calls were acknowledged and %d are on the disk", len(acked), kept)
	}
	l.results.add(name+"-asked-n", float64(len(c.clients)*each))
	l.results.add(name+"-acked-n", float64(len(acked)))
	l.results.add(name+"-kept-n", float64(kept))
	l.results.add(name+"-per-s", float64(len(acked))/took.Seconds())
	return l.ctx.Err()
}

// found is how many of the marks are in a text.
func found(marks []string, in string) (n int) {
	for _, m := range marks {
		if strings.Contains(in, m) {
			n++
		}
	}
	return n
}
