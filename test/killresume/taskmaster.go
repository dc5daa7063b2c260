//go:build linux

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
)

// taskMaster is the loop with Task Master: next, set-status in-progress, set-status done. None of them needs a model.
var taskMaster = over(adapter{
	name:  "loop+task-master",
	about: "the loop with task-master-ai 0.43.1: `next --format json`, `set-status --status=in-progress`, `set-status --status=done`",
	prepare: func(_ context.Context, w *world) error {
		type object = map[string]any
		var list []object
		for task := 1; task <= w.tasks; task++ {
			list = append(list, object{"id": task, "title": text(task), "description": text(task), "status": "pending", "priority": "medium",
				"dependencies": []int{}, "subtasks": []int{}})
		}
		for name, value := range map[string]object{
			masterFile:                {"master": object{"tasks": list, "metadata": object{"created": "2026-01-01T00:00:00.000Z"}}},
			".taskmaster/config.json": {"global": object{"anonymousTelemetry": false}},
		} {
			data, err := json.Marshal(value)
			if err != nil {
				return err
			}
			path := filepath.Join(w.dir, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				return err
			}
			if err := os.WriteFile(path, data, 0o644); err != nil {
				return err
			}
		}
		return nil
	},
	states: func(_ context.Context, w *world) (map[int]state, error) {
		data, err := os.ReadFile(filepath.Join(w.dir, masterFile))
		if err != nil {
			return nil, err
		}
		var file struct{ Master struct{ Tasks []masterTask } }
		if err := json.Unmarshal(data, &file); err != nil {
			return nil, nil // it is torn: nobody knows how the tasks stand
		}
		all := map[int]state{}
		for _, t := range file.Master.Tasks {
			if t.Status == "done" {
				all[taskOfText(t.Title)] = done
			}
		}
		return all, nil
	},
}, "ralph-task-master", "task-master")

const masterFile = ".taskmaster/tasks/tasks.json"

type masterTask struct {
	ID            json.RawMessage
	Title, Status string
}

// takeMaster takes what next says, which names also a task that is in progress.
func takeMaster() (id, text string, err error) {
	out, err := tell("task-master", "next", "--format", "json")
	if err != nil {
		return "", "", err
	}
	var next struct {
		Task  *masterTask
		Found bool
	}
	_, out, _ = bytes.Cut(out, []byte("\n{")) // a line of telemetry comes first
	if err := json.NewDecoder(bytes.NewReader(append([]byte("{"), out...))).Decode(&next); err != nil || !next.Found {
		return "", "", err
	}
	id = string(bytes.Trim(next.Task.ID, `"`))
	if next.Task.Status == "pending" {
		_, err = tell("task-master", "set-status", "--id="+id, "--status=in-progress")
	}
	return id, next.Task.Title, err
}

func doneMaster(id string) error {
	_, err := tell("task-master", "set-status", "--id="+id, "--status=done")
	return err
}
