package model

import (
	"encoding/json"
	"fmt"
	"strings"
)

// A chatMessage is an entry of the conversation. Results are messages, calls lie in those of the assistant.
type chatMessage struct {
	Role       string
	Content    json.RawMessage
	ToolCallID string `json:"tool_call_id"`
	ToolCalls  []struct {
		ID       string
		Function struct{ Name, Arguments string }
	} `json:"tool_calls"`
}

// readChat reads a request of OpenAI's Chat Completions.
func readChat(body []byte) (*talk, error) {
	var in struct {
		Model          string
		Stream         bool
		ResponseFormat json.RawMessage `json:"response_format"`
		Tools          []struct {
			Type     string
			Function struct{ Name string }
		}
		Messages []chatMessage
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return nil, err
	}
	t := &talk{Request: Request{API: Chat, Model: in.Model}, stream: in.Stream, schema: in.ResponseFormat != nil}
	for _, tool := range in.Tools {
		if tool.Type != "function" || tool.Function.Name == "" {
			return nil, fmt.Errorf("a tool %q of the type %q", tool.Function.Name, tool.Type)
		}
		t.Tools = append(t.Tools, flatTool(tool.Function.Name))
	}
	for i, m := range in.Messages {
		if err := t.chat(m); err != nil {
			return nil, fmt.Errorf("message %d of %s: %w", i, m.Role, err)
		}
	}
	return t, t.whole()
}

func (t *talk) chat(m chatMessage) error {
	parts, err := texts(m.Content, "text")
	if err != nil {
		return err
	}
	switch m.Role {
	case "tool":
		return t.result(m.ToolCallID, strings.Join(parts, "\n"), false)
	case "system", "user", "assistant":
	default:
		return fmt.Errorf("no such role")
	}
	for _, part := range parts {
		t.say(m.Role, part)
	}
	for _, c := range m.ToolCalls {
		var args map[string]any
		if err := json.Unmarshal([]byte(c.Function.Arguments), &args); err != nil {
			return fmt.Errorf("arguments of %s: %w", c.Function.Name, err)
		}
		if err := t.call(c.ID, flatTool(c.Function.Name).String(), args); err != nil {
			return err
		}
	}
	return nil
}

// sendChat sends a reply as OpenAI's Chat Completions, streamed or not.
func sendChat(out *answer, t *talk, r Reply) {
	message, stop := fields{"role": "assistant", "content": r.Text}, "stop"
	var calls []fields
	for i, c := range r.Calls {
		tool, _ := t.tool(c.Tool)
		calls = append(calls, fields{"index": i, "id": c.ID, "type": "function", "function": fields{"name": tool.wire, "arguments": encode(c.Args)}})
		message["tool_calls"], stop = calls, "tool_calls"
	}
	input := r.Usage.Input + r.Usage.Cached
	usage := fields{"prompt_tokens": input, "prompt_tokens_details": fields{"cached_tokens": r.Usage.Cached},
		"completion_tokens": r.Usage.Output, "total_tokens": input + r.Usage.Output}
	resp := func(kind string, choices ...fields) fields {
		return fields{"id": fmt.Sprintf("chatcmpl_%d", t.Replies+1), "object": kind, "created": 0, "model": t.Model, "choices": choices}
	}
	if !t.stream {
		whole := resp("chat.completion", fields{"index": 0, "message": message, "finish_reason": stop})
		whole["usage"] = usage
		out.json(whole)
		return
	}
	const chunk = "chat.completion.chunk"
	out.event("", resp(chunk, fields{"index": 0, "delta": message, "finish_reason": nil}))
	last := resp(chunk, fields{"index": 0, "delta": fields{}, "finish_reason": stop})
	last["usage"] = usage
	out.event("", last)
	out.done()
}
