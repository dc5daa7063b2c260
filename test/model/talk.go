package model

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// A talk is a conversation that is being read.
type talk struct {
	Request
	stream bool
	schema bool // the reply is to be JSON
	going  bool // the last message is the assistant's and no result has come since
}

// say adds a text to the conversation. What the client tells the model on its own counts as system.
func (t *talk) say(role, text string) {
	switch {
	case role == "assistant":
		t.reply().Text += text
		return
	case role != "user", strings.HasPrefix(text, "<system-reminder>"):
		role = "system"
		t.system(text)
	case t.Replies == 0:
		t.Prompt = text // the last, as the clients put their context before the prompt
	}
	t.Messages = append(t.Messages, Message{Role: role, Text: text})
	t.going = false
}

func (t *talk) system(text string) {
	if t.System != "" && text != "" {
		t.System += "\n"
	}
	t.System += text
}

// reply returns the message of the assistant that is being read.
func (t *talk) reply() *Message {
	if !t.going {
		t.Messages = append(t.Messages, Message{Role: "assistant"})
		t.Replies++
		t.going = true
	}
	return &t.Messages[len(t.Messages)-1]
}

// call adds a call of the model's to the conversation.
func (t *talk) call(id, tool string, args map[string]any) error {
	if id == "" || tool == "" {
		return fmt.Errorf("a call %q of the tool %q", id, tool)
	}
	if t.find(id) != nil {
		return fmt.Errorf("two calls have the id %s", id)
	}
	m := t.reply()
	m.Calls = append(m.Calls, Call{Tool: tool, Args: args, ID: id})
	return nil
}

func (t *talk) find(id string) *Call {
	for _, m := range t.Messages {
		if i := slices.IndexFunc(m.Calls, func(c Call) bool { return c.ID == id }); i >= 0 {
			return &m.Calls[i]
		}
	}
	return nil
}

// result adds what a call came to.
func (t *talk) result(id, text string, failed bool) error {
	c := t.find(id)
	if c == nil {
		return fmt.Errorf("a result of the call %q, which nobody made", id)
	}
	if c.Result != nil {
		return fmt.Errorf("two results of the call %s of %s", id, c.Tool)
	}
	c.Result = &Result{Text: text, JSON: object(text), Error: failed}
	t.going = false
	return nil
}

// whole says what is missing in the conversation; the makers of the models refuse such a request, too.
func (t *talk) whole() error {
	for _, c := range t.Calls() {
		if c.Result == nil {
			return fmt.Errorf("no result of the call %s of %s", c.ID, c.Tool)
		}
	}
	if t.Prompt == "" {
		return fmt.Errorf("a conversation without a prompt")
	}
	return nil
}

// text reads content: a string, or a list of blocks of these types, whose texts are joined by newlines.
func text(raw json.RawMessage, types ...string) (string, error) {
	parts, err := texts(raw, types...)
	return strings.Join(parts, "\n"), err
}

// texts reads content as text does, each block for itself.
func texts(raw json.RawMessage, types ...string) ([]string, error) {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || string(raw) == "null" {
		return nil, nil
	}
	if raw[0] == '"' {
		var whole string
		err := json.Unmarshal(raw, &whole)
		return []string{whole}, err
	}
	var blocks []struct{ Type, Text string }
	if err := json.Unmarshal(raw, &blocks); err != nil {
		return nil, fmt.Errorf("content that is neither a text nor a list of blocks: %v", err)
	}
	var parts []string
	for _, b := range blocks {
		if !slices.Contains(types, b.Type) {
			return nil, fmt.Errorf("content of the type %q", b.Type)
		}
		parts = append(parts, b.Text)
	}
	return parts, nil
}
