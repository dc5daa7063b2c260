//go:build linux

package main

import (
	"context"
	"encoding/json"
	"strings"
)

// backlog is the loop with Backlog.md: its commands as its own guides for agents name them (backlog instructions).
var backlog = over(adapter{
	name:  "loop+backlog",
	about: "the loop with Backlog.md 1.52.0: `task list --json`, `task edit -s \"In Progress\" -a @agent`, `task edit -s Done --final-summary`",
	prepare: func(ctx context.Context, w *world) error {
		if _, err := w.run(ctx, "backlog", "init", "project", "--defaults", "--include-remote", "false", "--agent-instructions", "none"); err != nil {
			return err
		}
		for task := 1; task <= w.tasks; task++ {
			if _, err := w.run(ctx, "backlog", "task", "create", text(task), "--plain"); err != nil {
				return err
			}
		}
		return nil
	},
	states: func(ctx context.Context, w *world) (map[int]state, error) {
		out, err := w.run(ctx, "backlog", "task", "list", "--status", "Done", "--json")
		if err != nil {
			return nil, err
		}
		items, err := backlogItems(out)
		all := map[int]state{}
		for _, item := range items {
			all[taskOfText(item.Title)] = done
		}
		return all, err
	},
}, "ralph-backlog", "backlog")

type backlogItem struct{ ID, Title string }

func backlogItems(out []byte) ([]backlogItem, error) {
	var list struct{ Tasks []backlogItem }
	err := json.Unmarshal(out, &list)
	return list.Tasks, err
}

// takeBacklog goes on with what is in progress, else begins the next.
func takeBacklog() (id, text string, err error) {
	for _, status := range []string{"In Progress", "To Do"} {
		out, err := tell("backlog", "task", "list", "--status", status, "--json")
		if err != nil {
			return "", "", err
		}
		items, err := backlogItems(out)
		if err != nil {
			return "", "", err
		}
		if len(items) == 0 {
			continue
		}
		if status == "To Do" {
			_, err = tell("backlog", "task", "edit", strings.ToLower(items[0].ID), "-s", "In Progress", "-a", "@agent", "--plain")
		}
		return items[0].ID, items[0].Title, err
	}
	return "", "", nil
}

func doneBacklog(id string) error {
	_, err := tell("backlog", "task", "edit", strings.ToLower(id), "-s", "Done", "--final-summary", "Written and checked.", "--plain")
	return err
}
