// Package model is a scripted model for tests: an HTTP server on the loopback interface that speaks
// the protocols of real coding agents. A function of the conversation decides what it answers.
//
// It speaks Anthropic Messages, for Claude Code; OpenAI Responses, for Codex; OpenAI Chat
// Completions, for Qwen Code and opencode; and Google's generateContent, for Gemini CLI. A [Policy]
// gets the conversation in terms common to all and returns the answer. [Diligent] is a policy that
// plays any role of ferrus by following the answers of the tools. The package imports nothing else
// of ferrus.
package model

import (
	"encoding/json"
	"slices"
	"strings"
	"time"
)

// A Policy is the model: it answers a conversation. It should be a pure function, as the clients repeat a request that
// failed, and begin a new conversation when they are killed and started again. It is called concurrently.
type Policy func(Request) Reply

// An API is a protocol in which a client talks to its model.
type API string

const (
	Messages  API = "messages"  // Anthropic's, of Claude Code
	Responses API = "responses" // OpenAI's, of Codex
	Chat      API = "chat"      // OpenAI's Chat Completions, of Qwen Code and opencode
	Generate  API = "generate"  // Google's generateContent, of Gemini CLI
)

// A Request is a conversation as a client sends it, whole, for the model's next reply.
type Request struct {
	API      API
	Key      string // NAME in the base URL /s/NAME, see Server.URL; "" without
	Model    string // as the client calls it
	Tools    []Tool // those that the client offers, in its order
	System   string // all that stands above the conversation or was put into it by the client
	Prompt   string // the user's first words, without what the client put before them
	Messages []Message
	Replies  int // how many the model has given in it already
}

// A Tool is one that a client offers to its model.
type Tool struct {
	Server   string // of MCP, or a name space of the client's own; "" for the other tools of the client
	Name     string
	Deferred bool // only named: the model is to search for its schema, but may call it all the same

	wire  string // how the client spells it, without a name space
	space string // the name space of OpenAI
	free  bool   // takes a text, not an object
}

// String is how a Call names the tool: server/name, or the name alone.
func (t Tool) String() string {
	if t.Server == "" {
		return t.Name
	}
	return t.Server + "/" + t.Name
}

// A Message is something said in a conversation.
type Message struct {
	Role  string // user, assistant or system
	Text  string
	Calls []Call // the assistant's
}

// A Call is one of a tool. In a reply, Tool and Args say what the model wants.
type Call struct {
	Tool   string         // as Tool.String has it, such as ferrus/check or Bash
	Args   map[string]any // a tool that takes a text has it as "input"
	ID     string         // of the conversation
	Result *Result        // nil while it is not there
}

// A Result is what a call came to.
type Result struct {
	Text  string
	JSON  json.RawMessage // the object in Text, if that is what it is; else nil
	Error bool            // the client says that it failed; Codex never says so
}

// A Reply is what the model answers. The zero Reply is an empty text, which ends the client's turn.
type Reply struct {
	Text   string
	Calls  []Call        // all of them at once; the client goes on when it has their results
	Delay  time.Duration // before the answer
	Hang   bool          // no answer, ever
	Status int           // an HTTP error instead, with these headers
	Header map[string]string
	Usage  Usage
	// Problem is what the policy finds wrong with the conversation. It fails the test.
	Problem string
}

// Usage is what the model reports to have used; when it is zero, some small numbers.
type Usage struct {
	Input  int // tokens, without the cached ones
	Cached int
	Output int
}

// Say is the reply that ends the client's turn.
func Say(text string) Reply { return Reply{Text: text} }

// Use is the reply that calls one tool.
func Use(tool string, args map[string]any) Reply {
	return Reply{Calls: []Call{{Tool: tool, Args: args}}}
}

// Offers reports whether the client offers a tool, named as in a Call.
func (r Request) Offers(tool string) bool {
	_, ok := r.tool(tool)
	return ok
}

func (r Request) tool(name string) (Tool, bool) {
	for _, t := range r.Tools {
		if t.String() == name {
			return t, true
		}
	}
	return Tool{}, false
}

// Calls returns all calls of the conversation, in order.
func (r Request) Calls() []Call {
	var all []Call
	for _, m := range r.Messages {
		all = append(all, m.Calls...)
	}
	return all
}

// Called reports whether the model has called a tool in this conversation.
func (r Request) Called(tool string) bool {
	return slices.ContainsFunc(r.Calls(), func(c Call) bool { return c.Tool == tool })
}

// object returns the JSON object that a text is or ends in, nil when it does not: Codex puts lines of its own before
// the output of a tool, Gemini CLI puts it in an element.
func object(text string) json.RawMessage {
	if _, after, ok := strings.Cut(text, "\nOutput:\n"); ok {
		text = after
	}
	text = strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(text), "<untrusted_context>"), "</untrusted_context>")
	text = strings.TrimSpace(text)
	if strings.HasPrefix(text, "{") && json.Valid([]byte(text)) {
		return json.RawMessage(text)
	}
	return nil
}
