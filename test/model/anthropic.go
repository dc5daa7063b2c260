package model

import (
	"encoding/json"
	"fmt"
	"strings"
)

// readMessages reads a request of Anthropic's Messages.
func readMessages(body []byte) (*talk, error) {
	var in struct {
		Model    string
		Stream   bool
		System   json.RawMessage
		Messages []struct {
			Role    string
			Content json.RawMessage
		}
		Tools []struct {
			Type, Name  string
			Defer       bool            `json:"defer_loading"`
			InputSchema json.RawMessage `json:"input_schema"`
		}
		OutputFormat json.RawMessage                  `json:"output_format"`
		OutputConfig struct{ Format json.RawMessage } `json:"output_config"`
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return nil, err
	}
	t := &talk{Request: Request{API: Messages, Model: in.Model}, stream: in.Stream}
	t.schema = in.OutputFormat != nil || in.OutputConfig.Format != nil
	var err error
	if t.System, err = text(in.System, "text"); err != nil {
		return nil, fmt.Errorf("system: %w", err)
	}
	for _, tool := range in.Tools {
		if tool.Name == "" || tool.Type == "" && tool.InputSchema == nil {
			return nil, fmt.Errorf("the tool %q has no name or no schema", tool.Name)
		}
		t.Tools = append(t.Tools, anthropicTool(tool.Name, tool.Defer))
	}
	for i, m := range in.Messages {
		if err := t.readMessage(m.Role, m.Content); err != nil {
			return nil, fmt.Errorf("message %d of %s: %w", i, m.Role, err)
		}
	}
	if len(in.Tools) > 0 {
		for _, name := range deferred(t.System) {
			if tool := anthropicTool(name, true); !t.Offers(tool.String()) {
				t.Tools = append(t.Tools, tool)
			}
		}
	}
	return t, t.whole()
}

// anthropicTool reads the name of a tool: those of MCP servers are mcp__SERVER__NAME.
func anthropicTool(wire string, later bool) Tool {
	tool := Tool{Name: wire, Deferred: later, wire: wire}
	if rest, ok := strings.CutPrefix(wire, "mcp__"); ok {
		if server, name, ok := strings.Cut(rest, "__"); ok {
			tool.Server, tool.Name = server, name
		}
	}
	return tool
}

// deferred returns the tools that Claude Code only names to the model, one a line.
func deferred(system string) []string {
	var names []string
	_, list, _ := strings.Cut(system, "deferred tools are now available")
	_, list, _ = strings.Cut(list, "\n")
	for line := range strings.Lines(list) {
		name := strings.TrimSpace(line)
		if name == "" || strings.Contains(name, " ") {
			break
		}
		names = append(names, name)
	}
	return names
}

func (t *talk) readMessage(role string, content json.RawMessage) error {
	if role != "user" && role != "assistant" && role != "system" {
		return fmt.Errorf("no such role")
	}
	var plain string
	if json.Unmarshal(content, &plain) == nil {
		t.say(role, plain)
		return nil
	}
	var blocks []struct {
		Type, Text, ID, Name string
		Input                map[string]any
		ToolUseID            string `json:"tool_use_id"`
		IsError              bool   `json:"is_error"`
		Content              json.RawMessage
	}
	if err := json.Unmarshal(content, &blocks); err != nil {
		return err
	}
	for _, b := range blocks {
		switch b.Type {
		case "text":
			t.say(role, b.Text)
		case "tool_use":
			if err := t.call(b.ID, anthropicTool(b.Name, false).String(), b.Input); err != nil {
				return err
			}
		case "tool_result":
			out, err := text(b.Content, "text", "tool_reference")
			if err != nil {
				return fmt.Errorf("result of %s: %w", b.ToolUseID, err)
			}
			if err := t.result(b.ToolUseID, out, b.IsError); err != nil {
				return err
			}
		default:
			return fmt.Errorf("a block of the type %q", b.Type)
		}
	}
	return nil
}

// sendMessages sends a reply as Anthropic's Messages, streamed or not.
func sendMessages(out *answer, t *talk, r Reply) {
	content := []fields{}
	if r.Text != "" || len(r.Calls) == 0 {
		content = append(content, fields{"type": "text", "text": r.Text})
	}
	stop := "end_turn"
	for _, c := range r.Calls {
		tool, _ := t.tool(c.Tool)
		content = append(content, fields{"type": "tool_use", "id": c.ID, "name": tool.wire, "input": c.Args})
		stop = "tool_use"
	}
	usage := fields{"input_tokens": r.Usage.Input, "cache_read_input_tokens": r.Usage.Cached,
		"cache_creation_input_tokens": 0, "output_tokens": r.Usage.Output}
	msg := fields{"id": fmt.Sprintf("msg_%d", t.Replies+1), "type": "message", "role": "assistant", "model": t.Model,
		"content": content, "stop_reason": stop, "stop_sequence": nil, "usage": usage}
	if !t.stream {
		out.json(msg)
		return
	}
	send := func(kind string, event fields) {
		event["type"] = kind
		out.event(kind, event)
	}
	msg["content"], msg["stop_reason"] = []fields{}, nil
	send("message_start", fields{"message": msg})
	for i, block := range content {
		start, delta := streamed(block)
		send("content_block_start", fields{"index": i, "content_block": start})
		send("content_block_delta", fields{"index": i, "delta": delta})
		send("content_block_stop", fields{"index": i})
	}
	send("message_delta", fields{"delta": fields{"stop_reason": stop, "stop_sequence": nil}, "usage": usage})
	send("message_stop", fields{})
}

// streamed splits a block into the empty one that begins it and what fills it.
func streamed(block fields) (start, delta fields) {
	if block["type"] == "text" {
		return fields{"type": "text", "text": ""}, fields{"type": "text_delta", "text": block["text"]}
	}
	return fields{"type": "tool_use", "id": block["id"], "name": block["name"], "input": fields{}},
		fields{"type": "input_json_delta", "partial_json": encode(block["input"])}
}
