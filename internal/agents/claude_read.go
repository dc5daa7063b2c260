package agents

import (
	"encoding/json"
	"fmt"
	"time"
)

// claudeEvent is one line of `--output-format stream-json` of Claude Code and Qwen Code, with the
// fields that ferrus reads.
type claudeEvent struct {
	Type    string `json:"type"`
	Subtype string `json:"subtype"`
	Session string `json:"session_id"`
	Model   string `json:"model"`
	Servers []struct {
		Name   string `json:"name"`
		Status string `json:"status"`
	} `json:"mcp_servers"`
	Message struct {
		ID      string          `json:"id"`
		Content json.RawMessage `json:"content"`
		Usage   claudeUsage     `json:"usage"`
	} `json:"message"`
	Failure    json.RawMessage `json:"error"` // a word, or in Qwen Code's results an object with a message
	Status     int             `json:"error_status"`
	APIStatus  int             `json:"api_error_status"`
	RetryDelay float64         `json:"retry_delay_ms"`
	Limit      struct {
		Status   string  `json:"status"`
		ResetsAt float64 `json:"resetsAt"`
	} `json:"rate_limit_info"`
	IsError bool                        `json:"is_error"`
	Result  string                      `json:"result"`
	Usage   claudeUsage                 `json:"usage"`
	Models  map[string]claudeModelUsage `json:"modelUsage"`
	Dollars float64                     `json:"total_cost_usd"`
}

type claudeUsage struct {
	Input   int64 `json:"input_tokens"`
	Written int64 `json:"cache_creation_input_tokens"`
	Read    int64 `json:"cache_read_input_tokens"`
	Output  int64 `json:"output_tokens"`
	Total   int64 `json:"total_tokens"` // Qwen Code only, whose input has the cached ones in it
}

type claudeModelUsage struct {
	Input   int64 `json:"inputTokens"`
	Written int64 `json:"cacheCreationInputTokens"`
	Read    int64 `json:"cacheReadInputTokens"`
	Output  int64 `json:"outputTokens"`
}

func (u claudeUsage) usage() Usage {
	if u.Total > 0 {
		return Usage{Input: u.Total - u.Output, Cached: u.Read, Output: u.Output}
	}
	return Usage{Input: u.Input + u.Written + u.Read, Cached: u.Read, Output: u.Output}
}

// claudeBlock is one piece of a message.
type claudeBlock struct {
	Type    string          `json:"type"`
	Text    string          `json:"text"`
	Name    string          `json:"name"`
	Input   json.RawMessage `json:"input"`
	Content json.RawMessage `json:"content"`
	IsError bool            `json:"is_error"`
}

// claudeReader stores what a line needs to know of earlier lines.
type claudeReader struct {
	message string // id of the newest message; each of its lines repeats its usage
	settled Usage  // of the messages before it
}

func readClaude() lineReader {
	var c claudeReader
	return once(c.line)
}

func (c *claudeReader) line(line []byte, at time.Time, r *Reading) []Note {
	var e claudeEvent
	if !object(line, &e) || e.Type == "" {
		return stray(line, at, r)
	}
	if e.Session != "" {
		r.Session = e.Session
	}
	switch e.Type {
	case "system":
		return claudeSystem(e, at, r)
	case "rate_limit_event":
		if e.Limit.Status == "rejected" {
			r.Trouble, r.Until = RateLimited, epoch(e.Limit.ResetsAt)
		}
	case "assistant":
		return c.assistant(e, at, r)
	case "user":
		return claudeResults(e.Message.Content)
	case "result":
		return claudeEnd(e, at, r)
	}
	return nil
}

func claudeSystem(e claudeEvent, at time.Time, r *Reading) []Note {
	switch e.Subtype {
	case "init":
		notes := []Note{{Kind: Info, Text: "begins with " + brief(e.Model)}}
		for _, s := range e.Servers {
			if s.Name != ServerName {
				continue
			}
			if s.Status == "connected" || s.Status == "pending" {
				return notes
			}
			r.Trouble = NoServer
			return append(notes, Note{Kind: Error, Text: "the MCP server " + s.Name + " is " + brief(s.Status)})
		}
		return notes
	case "api_retry":
		if trouble := troubleOf(e.Status); trouble != "" {
			r.Trouble, r.Until = trouble, time.Time{}
			if trouble == RateLimited {
				r.Until = at.Add(time.Duration(e.RetryDelay) * time.Millisecond)
			}
		}
		return []Note{{Kind: Info, Text: fmt.Sprintf("its provider says %s (%d), it tries again", brief(word(e.Failure)), e.Status)}}
	}
	return nil
}

func (c *claudeReader) assistant(e claudeEvent, at time.Time, r *Reading) []Note {
	blocks := claudeBlocks(e.Message.Content)
	if len(e.Failure) > 0 && string(e.Failure) != "null" { // a message of the client's own in place of the model's
		var notes []Note
		for _, b := range blocks {
			notes = append(notes, failed(e.APIStatus, b.Text, at, r))
		}
		return notes
	}
	if e.Message.ID != c.message || c.message == "" {
		c.message, c.settled = e.Message.ID, r.Usage
	}
	r.Usage = c.settled.Plus(e.Message.Usage.usage())
	r.answers()
	var notes []Note
	for _, b := range blocks {
		switch b.Type {
		case "text":
			if text := clean(b.Text); text != "" {
				r.Said = text
				notes = append(notes, Note{Kind: Speech, Text: text})
			}
		case "tool_use":
			notes = append(notes, r.uses(b.Name, b.Input))
		}
	}
	return notes
}

func claudeResults(content json.RawMessage) []Note {
	var notes []Note
	for _, b := range claudeBlocks(content) {
		if b.Type != "tool_result" {
			continue
		}
		kind := Answer
		if b.IsError {
			kind = Error
		}
		var text string
		for _, part := range claudeBlocks(b.Content) {
			text += part.Text + "\n"
		}
		if text = result(text); text != "" {
			notes = append(notes, Note{Kind: kind, Text: text})
		}
	}
	return notes
}

func claudeEnd(e claudeEvent, at time.Time, r *Reading) []Note {
	r.Doing = ""
	r.Usage = e.Usage.usage()
	if len(e.Models) > 0 { // of the whole session and of its subagents too
		r.Usage = Usage{}
		for _, m := range e.Models {
			r.Usage = r.Usage.Plus(Usage{Input: m.Input + m.Written + m.Read, Cached: m.Read, Output: m.Output})
		}
	}
	r.Usage.Dollars = e.Dollars
	var notes []Note
	if text := e.Result; e.IsError {
		if text == "" {
			text = word(e.Failure)
		}
		notes = append(notes, failed(e.APIStatus, text, at, r))
	}
	return append(notes, ended(r.Usage))
}

// claudeBlocks returns the parts of a content, which may be a single text.
func claudeBlocks(content json.RawMessage) []claudeBlock {
	var blocks []claudeBlock
	var text string
	if json.Unmarshal(content, &text) == nil {
		return []claudeBlock{{Type: "text", Text: text}}
	}
	_ = json.Unmarshal(content, &blocks) // what is neither says nothing
	return blocks
}

// word returns an error that is a text, or an object with a message.
func word(raw json.RawMessage) string {
	var text string
	var object struct{ Message string }
	if json.Unmarshal(raw, &text) != nil && json.Unmarshal(raw, &object) == nil {
		text = object.Message
	}
	return text
}
