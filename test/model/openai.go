package model

import (
	"encoding/json"
	"fmt"
	"strings"
)

// openaiTool is an entry of the tools of a request: a function, a tool that takes a text, a name space of such, or one
// that OpenAI would run itself.
type openaiTool struct {
	Type, Name string
	Tools      []openaiTool
}

// item is an entry of the conversation. Results and calls are items beside the messages.
type item struct {
	Type, Role, Name, Namespace, Arguments, Input string
	Content, Output                               json.RawMessage
	CallID                                        string `json:"call_id"`
}

// readResponses reads a request of OpenAI's Responses.
func readResponses(body []byte) (*talk, error) {
	var in struct {
		Model, Instructions string
		Stream              bool
		Input               json.RawMessage
		Tools               []openaiTool
		Text                struct{ Format json.RawMessage }
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return nil, err
	}
	t := &talk{Request: Request{API: Responses, Model: in.Model, System: in.Instructions}, stream: in.Stream}
	t.schema = in.Text.Format != nil
	for _, tool := range in.Tools {
		if err := t.offer(tool, ""); err != nil {
			return nil, err
		}
	}
	var plain string
	var items []item
	if json.Unmarshal(in.Input, &plain) == nil {
		t.say("user", plain)
	} else if err := json.Unmarshal(in.Input, &items); err != nil {
		return nil, fmt.Errorf("input: %w", err)
	}
	for i, it := range items {
		if err := t.item(it); err != nil {
			return nil, fmt.Errorf("item %d, %s: %w", i, it.Type, err)
		}
	}
	return t, t.whole()
}

func (t *talk) offer(tool openaiTool, space string) error {
	if tool.Type == "namespace" && space == "" {
		for _, sub := range tool.Tools {
			if err := t.offer(sub, tool.Name); err != nil {
				return err
			}
		}
		return nil
	}
	name := tool.Name
	switch tool.Type {
	case "function", "custom":
		if name == "" {
			return fmt.Errorf("a tool without a name")
		}
	case "web_search", "local_shell", "image_generation":
		name = tool.Type
	default:
		return fmt.Errorf("a tool %q of the type %q", name, tool.Type)
	}
	t.Tools = append(t.Tools, Tool{Server: server(space), Name: name, wire: name, space: space, free: tool.Type == "custom"})
	return nil
}

// server is the MCP server of a name space; the client has name spaces of its own, too.
func server(space string) string { return strings.TrimPrefix(space, "mcp__") }

func (t *talk) item(it item) error {
	tool := Tool{Server: server(it.Namespace), Name: it.Name}.String()
	switch it.Type {
	case "message", "":
		said, err := text(it.Content, "input_text", "output_text")
		if err != nil {
			return err
		}
		t.say(it.Role, said)
	case "function_call":
		var args map[string]any
		if err := json.Unmarshal([]byte(it.Arguments), &args); err != nil {
			return fmt.Errorf("arguments of %s: %w", tool, err)
		}
		return t.call(it.CallID, tool, args)
	case "custom_tool_call":
		return t.call(it.CallID, tool, map[string]any{"input": it.Input})
	case "function_call_output", "custom_tool_call_output":
		out, err := text(it.Output, "input_text")
		if err != nil {
			return err
		}
		return t.result(it.CallID, out, false)
	default:
		return fmt.Errorf("no such type of item")
	}
	return nil
}

// sendResponses sends a reply as OpenAI's Responses, streamed or not.
func sendResponses(out *answer, t *talk, r Reply) {
	n := t.Replies + 1
	items := []fields{}
	if r.Text != "" || len(r.Calls) == 0 {
		items = append(items, fields{"type": "message", "id": fmt.Sprintf("msg_%d", n), "role": "assistant", "status": "completed",
			"content": []fields{{"type": "output_text", "text": r.Text, "annotations": []string{}}}})
	}
	for _, c := range r.Calls {
		items = append(items, openaiCall(t, c))
	}
	input := r.Usage.Input + r.Usage.Cached
	resp := fields{"id": fmt.Sprintf("resp_%d", n), "object": "response", "created_at": 0, "model": t.Model,
		"status": "completed", "output": items, "usage": fields{
			"input_tokens": input, "input_tokens_details": fields{"cached_tokens": r.Usage.Cached},
			"output_tokens": r.Usage.Output, "output_tokens_details": fields{"reasoning_tokens": 0},
			"total_tokens": input + r.Usage.Output}}
	if !t.stream {
		out.json(resp)
		return
	}
	number := 0
	send := func(kind string, event fields) {
		event["type"], event["sequence_number"] = kind, number
		number++
		out.event(kind, event)
	}
	send("response.created", fields{"response": fields{"id": resp["id"], "object": "response", "created_at": 0,
		"model": t.Model, "status": "in_progress", "output": []fields{}}})
	for i, it := range items {
		send("response.output_item.added", fields{"output_index": i, "item": it})
		if it["type"] == "message" {
			send("response.output_text.delta", fields{"output_index": i, "content_index": 0, "item_id": it["id"], "delta": r.Text})
		}
		send("response.output_item.done", fields{"output_index": i, "item": it})
	}
	send("response.completed", fields{"response": resp})
}

func openaiCall(t *talk, c Call) fields {
	tool, _ := t.tool(c.Tool)
	it := fields{"type": "function_call", "id": "fc_" + c.ID, "call_id": c.ID, "name": tool.wire, "status": "completed"}
	if tool.space != "" {
		it["namespace"] = tool.space
	}
	if tool.free {
		it["type"], it["id"], it["input"] = "custom_tool_call", "ctc_"+c.ID, c.Args["input"]
	} else {
		it["arguments"] = encode(c.Args)
	}
	return it
}
