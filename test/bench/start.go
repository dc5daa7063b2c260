package main

import (
	"encoding/json"
	"os"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ferrus-go/ferrus/internal/server/mcpclient"
)

// starts starts a server of each system and takes its first result. Its memory and its list are looked at after that.
func (l *lab) starts(also ...system) error {
	for _, s := range append(also, l.systems...) {
		if err := l.failed(s, l.start(s)); err != nil {
			return err
		}
	}
	return nil
}

func (l *lab) start(s system) error {
	dir, err := l.project(s)
	if err != nil {
		return err
	}
	name := "Start " + s.Name
	cmd := s.Server(dir)
	began := time.Now()
	c, err := open(l.ctx, cmd)
	if err != nil {
		return err
	}
	defer c.Kill()
	if _, err := s.Look(dir).try(l.ctx, c); err != nil {
		return err
	}
	l.took(name, time.Since(began))
	if kib := resident(cmd.Process.Pid); kib > 0 {
		l.results.add(name+"-MiB", float64(kib)/1024)
	}
	list, err := l.list(c)
	if err != nil {
		return err
	}
	l.results.add(name+"-list-bytes", float64(list.bytes))
	l.results.add(name+"-tools", float64(list.tools))
	_ = c.Close() // a server that ends by a signal is an end, too
	if cmd.ProcessState != nil {
		cpu := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
		l.results.add(name+"-cpu-µs", float64(cpu.Microseconds()))
	}
	return nil
}

// project is the folder of a system that all its starts share.
func (l *lab) project(s system) (string, error) {
	if dir, ok := l.projects[s.Name]; ok {
		return dir, nil
	}
	dir, err := l.begin(s, 10)
	if err == nil {
		l.projects[s.Name] = dir
	}
	return dir, err
}

// begin makes a project of a system with so many items. What a failure leaves is removed with the lab.
func (l *lab) begin(s system, items int) (string, error) {
	dir, err := os.MkdirTemp(l.dir, "project-")
	if err == nil {
		err = s.New(l.ctx, dir, items)
	}
	return dir, err
}

// A listing is what a model is shown before it has done anything.
type listing struct{ tools, bytes, shown int }

// list asks for all tools. Its bytes are those of the results; shown are the names, descriptions and input schemas that
// a client puts before its model, and the server's instructions.
func (l *lab) list(c *mcpclient.Client) (found listing, err error) {
	for params := (&mcp.ListToolsParams{}); ; {
		page, err := c.Session().ListTools(l.ctx, params)
		if err != nil {
			return found, err
		}
		found.tools += len(page.Tools)
		found.bytes += size(page)
		for _, t := range page.Tools {
			found.shown += size(map[string]any{"name": t.Name, "description": t.Description, "inputSchema": t.InputSchema})
		}
		if params.Cursor = page.NextCursor; params.Cursor == "" {
			break
		}
	}
	if init := c.Session().InitializeResult(); init != nil {
		found.shown += len(init.Instructions)
	}
	return found, nil
}

// size is how many bytes of JSON a value is.
func size(v any) int {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // it came as JSON
	}
	return len(text)
}
