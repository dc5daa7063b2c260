//go:build linux

package main

import (
	"context"
	"encoding/json"
)

// beads is the loop with beads: bd as bd prime and its skill tell an agent to use it.
var beads = over(adapter{
	name:  "loop+beads",
	about: "the loop with beads 1.0.5, embedded Dolt: `bd list --status in_progress`, `bd ready`, `bd update --claim`, `bd close`",
	prepare: func(ctx context.Context, w *world) error {
		if _, err := w.run(ctx, "bd", "init", "--non-interactive", "--quiet"); err != nil {
			return err
		}
		for task := 1; task <= w.tasks; task++ {
			if _, err := w.run(ctx, "bd", "create", text(task), "-t", "task", "-p", "2", "--json"); err != nil {
				return err
			}
		}
		return nil
	},
	states: func(ctx context.Context, w *world) (map[int]state, error) {
		out, err := w.run(ctx, "bd", "list", "--status", "closed", "--json", "--limit", "0")
		if err != nil {
			return w.states, nil // another command has the lock
		}
		var list []bead
		err = json.Unmarshal(out, &list)
		all := map[int]state{}
		for _, b := range list {
			all[taskOfText(b.Title)] = done
		}
		return all, err
	},
}, "ralph-beads", "bd")

type bead struct{ ID, Title string }

// takeBead goes on with what is in progress, as its guides say after a session has ended, else claims what is ready.
func takeBead() (id, text string, err error) {
	for _, ask := range [][]string{{"list", "--status", "in_progress", "--json"}, {"ready", "--json"}} {
		out, err := tell("bd", ask...)
		if err != nil {
			return "", "", err
		}
		var list []bead
		if err := json.Unmarshal(out, &list); err != nil {
			return "", "", err
		}
		if len(list) == 0 {
			continue
		}
		_, err = tell("bd", "update", list[0].ID, "--claim", "--json") // it may be claimed again by the same agent
		return list[0].ID, list[0].Title, err
	}
	return "", "", nil
}

func closeBead(id string) error {
	_, err := tell("bd", "close", id, "--reason", "Written and checked.", "--json")
	return err
}
