package agents

import (
	"encoding/json"
	"time"
)

// opencodeEvent is one line of `opencode run --format=json`.
type opencodeEvent struct {
	Type    string `json:"type"`
	Session string `json:"sessionID"`
	Part    struct {
		Text  string `json:"text"`
		Tool  string `json:"tool"`
		State struct {
			Status string          `json:"status"`
			Input  json.RawMessage `json:"input"`
			Output string          `json:"output"`
			Error  string          `json:"error"`
		} `json:"state"`
		Reason string  `json:"reason"`
		Cost   float64 `json:"cost"`
		Tokens struct {
			Input     int64 `json:"input"` // cached ones not included
			Output    int64 `json:"output"`
			Reasoning int64 `json:"reasoning"`
			Cache     struct {
				Read  int64 `json:"read"`
				Write int64 `json:"write"`
			} `json:"cache"`
		} `json:"tokens"`
	} `json:"part"`
	Error struct {
		Name string `json:"name"`
		Data struct {
			Message string `json:"message"`
			Status  int    `json:"statusCode"`
		} `json:"data"`
	} `json:"error"`
}

func readOpencode() lineReader {
	return func(line []byte, at time.Time, r *Reading) []Note {
		var e opencodeEvent
		if !object(line, &e) || e.Type == "" {
			return stray(line, at, r)
		}
		if e.Session != "" {
			r.Session = e.Session
		}
		if e.Type != "error" {
			r.answers()
		}
		p := e.Part
		switch e.Type {
		case "text":
			r.Said = clean(p.Text)
			return []Note{{Kind: Speech, Text: r.Said}}
		case "tool_use": // told when it is over
			answer := Note{Kind: Answer, Text: result(p.State.Output)}
			if p.State.Status == "error" {
				answer = Note{Kind: Error, Text: result(p.State.Error)}
			}
			return []Note{r.uses(p.Tool, p.State.Input), answer}
		case "step_finish":
			r.Usage = r.Usage.Plus(Usage{Input: p.Tokens.Input + p.Tokens.Cache.Read + p.Tokens.Cache.Write,
				Cached: p.Tokens.Cache.Read, Output: p.Tokens.Output + p.Tokens.Reasoning, Dollars: p.Cost})
			if p.Reason == "stop" {
				r.Doing = ""
				return []Note{ended(r.Usage)}
			}
		case "error":
			text := e.Error.Data.Message
			if text == "" {
				text = e.Error.Name
			}
			return []Note{failed(e.Error.Data.Status, text, at, r)}
		}
		return nil
	}
}
