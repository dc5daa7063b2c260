package agents

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// codexEvent is one line of `codex exec --json`, with the fields that ferrus reads.
type codexEvent struct {
	Type    string `json:"type"`
	Thread  string `json:"thread_id"`
	Message string `json:"message"`
	Error   struct {
		Message string `json:"message"`
	} `json:"error"`
	Usage struct {
		Input  int64 `json:"input_tokens"` // cached ones included
		Cached int64 `json:"cached_input_tokens"`
		Output int64 `json:"output_tokens"`
	} `json:"usage"`
	Item codexItem `json:"item"`
}

type codexItem struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	Message   string          `json:"message"`
	Command   string          `json:"command"`
	Output    string          `json:"aggregated_output"`
	ExitCode  *int            `json:"exit_code"`
	Status    string          `json:"status"`
	Server    string          `json:"server"`
	Tool      string          `json:"tool"`
	Arguments json.RawMessage `json:"arguments"`
	Result    struct {
		Content []struct {
			Text string `json:"text"`
		} `json:"content"`
	} `json:"result"`
	Error struct {
		Message string `json:"message"`
	} `json:"error"`
	Changes []struct {
		Path string `json:"path"`
		Kind string `json:"kind"`
	} `json:"changes"`
	Query string `json:"query"`
}

func readCodex() lineReader {
	return once(func(line []byte, at time.Time, r *Reading) []Note {
		var e codexEvent
		if !object(line, &e) || e.Type == "" {
			return stray(line, at, r)
		}
		switch e.Type {
		case "thread.started":
			r.Session = e.Thread
			return []Note{{Kind: Info, Text: "begins"}}
		case "turn.completed":
			r.Doing = ""
			r.answers()
			r.Usage = Usage{Input: e.Usage.Input, Cached: e.Usage.Cached, Output: e.Usage.Output}
			return []Note{ended(r.Usage)}
		case "turn.failed":
			r.Doing = ""
			return []Note{failed(0, e.Error.Message, at, r)}
		case "error":
			return []Note{failed(0, e.Message, at, r)}
		case "item.started":
			return codexBegins(e.Item, r)
		case "item.completed":
			return codexEnds(e.Item, r)
		}
		return nil
	})
}

func codexBegins(item codexItem, r *Reading) []Note {
	switch item.Type {
	case "command_execution":
		return []Note{r.does(brief(unwrapped(item.Command)))}
	case "mcp_tool_call":
		return []Note{r.uses(item.Server+"_"+item.Tool, item.Arguments)}
	case "web_search":
		return []Note{r.does(brief("search " + item.Query))}
	}
	return nil
}

func codexEnds(item codexItem, r *Reading) []Note {
	if item.Type != "error" {
		r.answers()
	}
	switch item.Type {
	case "agent_message":
		r.Said = clean(item.Text)
		return []Note{{Kind: Speech, Text: r.Said}}
	case "error": // a warning: what ends the turn is an event
		return []Note{{Kind: Error, Text: brief(item.Message)}}
	case "command_execution":
		if item.ExitCode != nil && *item.ExitCode != 0 {
			return []Note{{Kind: Error, Text: brief(fmt.Sprintf("exit %d: %s", *item.ExitCode, item.Output))}}
		}
		return []Note{{Kind: Answer, Text: brief("exit 0: " + item.Output)}}
	case "file_change":
		var names []string
		for _, c := range item.Changes {
			names = append(names, c.Kind+" "+c.Path)
		}
		return []Note{r.does(brief(strings.Join(names, ", ")))}
	case "mcp_tool_call":
		if item.Error.Message != "" {
			return []Note{{Kind: Error, Text: brief(item.Error.Message)}}
		}
		var text string
		for _, c := range item.Result.Content {
			text += c.Text + "\n"
		}
		if item.Status == "failed" {
			return []Note{{Kind: Error, Text: result(text)}}
		}
		return []Note{{Kind: Answer, Text: result(text)}}
	}
	return nil
}

// unwrapped returns a command without the shell around it.
func unwrapped(command string) string {
	if _, inner, ok := strings.Cut(command, " -lc "); ok && strings.HasPrefix(command, "/") {
		return strings.Trim(inner, `'"`)
	}
	return command
}
