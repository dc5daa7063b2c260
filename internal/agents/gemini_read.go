package agents

import (
	"encoding/json"
	"time"
)

// geminiEvent is one line of Gemini CLI's `--output-format stream-json`.
type geminiEvent struct {
	Type    string          `json:"type"`
	Session string          `json:"session_id"`
	Model   string          `json:"model"`
	Role    string          `json:"role"`
	Content string          `json:"content"`
	Delta   bool            `json:"delta"` // goes on with the message before it
	Tool    string          `json:"tool_name"`
	Args    json.RawMessage `json:"parameters"`
	Status  string          `json:"status"`
	Output  string          `json:"output"`
	Message string          `json:"message"`
	Error   struct {
		Message string `json:"message"`
	} `json:"error"`
	Stats struct {
		Input  int64 `json:"input_tokens"`
		Cached int64 `json:"cached"`
		Output int64 `json:"output_tokens"`
	} `json:"stats"`
}

// maxSaid bounds a statement that comes in pieces, in bytes.
const maxSaid = 64 << 10

func readGemini() lineReader {
	speaking := false
	return func(line []byte, at time.Time, r *Reading) []Note {
		var e geminiEvent
		if !object(line, &e) || e.Type == "" {
			return stray(line, at, r)
		}
		goesOn := speaking && e.Type == "message" && e.Delta
		speaking = e.Type == "message" && e.Role == "assistant"
		switch e.Type {
		case "init":
			r.Session = e.Session
			return []Note{{Kind: Info, Text: "begins with " + brief(e.Model)}}
		case "message":
			if e.Role != "assistant" {
				return nil
			}
			r.answers()
			text := clean(e.Content)
			switch {
			case !goesOn:
				r.Said = text
			case len(r.Said) < maxSaid: // each piece copies what was said before it
				r.Said += text
			}
			return []Note{{Kind: Speech, Text: text, More: goesOn}}
		case "tool_use":
			return []Note{r.uses(e.Tool, e.Args)}
		case "tool_result":
			if e.Status == "error" {
				return []Note{{Kind: Error, Text: result(e.Output)}}
			}
			return []Note{{Kind: Answer, Text: result(e.Output)}}
		case "error":
			return []Note{failed(0, e.Message, at, r)}
		case "result":
			r.Doing = ""
			r.Usage = Usage{Input: e.Stats.Input, Cached: e.Stats.Cached, Output: e.Stats.Output}
			if e.Status == "error" {
				return []Note{failed(0, e.Error.Message, at, r), ended(r.Usage)}
			}
			return []Note{ended(r.Usage)}
		}
		return nil
	}
}
