package model

import (
	"encoding/json"
	"fmt"
	"strings"
)

// readGenerate reads a request of Google's generateContent to a model.
func readGenerate(model string, stream bool, body []byte) (*talk, error) {
	type part struct {
		Text         *string
		Thought      bool
		FunctionCall *struct {
			ID, Name string
			Args     map[string]any
		}
		FunctionResponse *struct {
			ID, Name string
			Response struct{ Output, Error any }
		}
	}
	type content struct {
		Role  string
		Parts []part
	}
	var in struct {
		Contents          []content
		SystemInstruction content
		Tools             []struct {
			FunctionDeclarations []struct{ Name string }
		}
		GenerationConfig struct{ ResponseSchema, ResponseJsonSchema json.RawMessage }
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return nil, err
	}
	t := &talk{Request: Request{API: Generate, Model: model}, stream: stream}
	t.schema = in.GenerationConfig.ResponseSchema != nil || in.GenerationConfig.ResponseJsonSchema != nil
	for _, p := range in.SystemInstruction.Parts {
		if p.Text != nil {
			t.system(*p.Text)
		}
	}
	for _, list := range in.Tools {
		for _, tool := range list.FunctionDeclarations {
			if tool.Name == "" {
				return nil, fmt.Errorf("a tool without a name")
			}
			t.Tools = append(t.Tools, flatTool(tool.Name))
		}
	}
	for i, c := range in.Contents {
		role := map[string]string{"user": "user", "model": "assistant"}[c.Role]
		if role == "" {
			return nil, fmt.Errorf("content %d: no such role as %q", i, c.Role)
		}
		for _, p := range c.Parts {
			var err error
			switch {
			case p.FunctionCall != nil:
				err = t.call(p.FunctionCall.ID, flatTool(p.FunctionCall.Name).String(), p.FunctionCall.Args)
			case p.FunctionResponse != nil:
				r := p.FunctionResponse.Response
				if r.Error != nil {
					err = t.result(p.FunctionResponse.ID, fmt.Sprint(r.Error), true)
				} else {
					err = t.result(p.FunctionResponse.ID, fmt.Sprint(r.Output), false)
				}
			case p.Text != nil && !p.Thought:
				t.say(role, *p.Text)
			case p.Text == nil:
				err = fmt.Errorf("a part without a text or a function")
			}
			if err != nil {
				return nil, fmt.Errorf("content %d of %s: %w", i, c.Role, err)
			}
		}
	}
	return t, t.whole()
}

// sendGenerate sends a reply as Google's generateContent, streamed or not.
func sendGenerate(out *answer, t *talk, r Reply) {
	parts := []fields{}
	if r.Text != "" || len(r.Calls) == 0 {
		parts = append(parts, fields{"text": r.Text})
	}
	for _, c := range r.Calls {
		tool, _ := t.tool(c.Tool)
		parts = append(parts, fields{"functionCall": fields{"id": c.ID, "name": tool.wire, "args": c.Args}})
	}
	input := r.Usage.Input + r.Usage.Cached
	resp := fields{"responseId": fmt.Sprintf("resp_%d", t.Replies+1), "modelVersion": t.Model,
		"candidates": []fields{{"index": 0, "finishReason": "STOP", "content": fields{"role": "model", "parts": parts}}},
		"usageMetadata": fields{"promptTokenCount": input, "cachedContentTokenCount": r.Usage.Cached,
			"candidatesTokenCount": r.Usage.Output, "totalTokenCount": input + r.Usage.Output}}
	if t.stream {
		out.event("", resp)
	} else {
		out.json(resp)
	}
}

// flatTool reads the name of a tool of a client that has no name spaces. Those of MCP servers are mcp__SERVER__NAME in Qwen Code,
// mcp_SERVER_NAME in Gemini CLI, whose server of ferrus is called ferrus-run, and SERVER_NAME in opencode.
func flatTool(wire string) Tool {
	if strings.HasPrefix(wire, "mcp__") {
		return anthropicTool(wire, false)
	}
	for _, prefix := range []string{"mcp_ferrus-run_", "mcp_ferrus_", "ferrus_"} {
		if name, ok := strings.CutPrefix(wire, prefix); ok {
			return Tool{Server: "ferrus", Name: name, wire: wire}
		}
	}
	return Tool{Name: wire, wire: wire}
}
