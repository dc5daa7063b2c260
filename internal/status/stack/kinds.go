// Package stack shows what one agent has done as a stack of entries of nine kinds, the newest on
// top.
//
// A stack is a view and stores nothing. It is joined from four records, each with its own part: the
// journal (what an event changed), the records of runs (when an agent started and ended), the output
// of its client (what it said, and which tools of its own it called), and the log of our server
// (when it called a tool of ours, and the answer).
//
// kinds.go has the order of the kinds, join.go and order.go the join, gather.go finds the records.
package stack

import (
	"fmt"
	"slices"
)

// A Kind is the kind of an entry.
type Kind string

const (
	UserMessage      Kind = "UserMessage"      // what a person, or ferrus for a person, tells the agent
	AssistantMessage Kind = "AssistantMessage" // the agent decides what it does next
	ToolCall         Kind = "ToolCall"
	ToolResult       Kind = "ToolResult"
	AgentCall        Kind = "AgentCall"   // it waits for another agent
	AgentResult      Kind = "AgentResult" // what that agent answers
	UserRequest      Kind = "UserRequest" // it waits for a person
	UserResponse     Kind = "UserResponse"
	Finished         Kind = "Finished" // it takes no more steps until the next UserMessage
)

// successors are the kinds that may follow each kind. "" is the bottom of the stack. A person may
// speak whenever the agent waits for nothing, and starts a finished agent again.
var successors = map[Kind][]Kind{
	"":               {UserMessage},
	UserMessage:      {AssistantMessage},
	AssistantMessage: {ToolCall},
	ToolCall:         {ToolResult, AgentCall, UserRequest, Finished},
	ToolResult:       {AssistantMessage, UserMessage},
	AgentCall:        {AgentResult},
	AgentResult:      {AssistantMessage, UserMessage},
	UserRequest:      {UserResponse},
	UserResponse:     {AssistantMessage, UserMessage},
	Finished:         {UserMessage},
}

// Kinds returns all kinds.
func Kinds() []Kind {
	return []Kind{UserMessage, AssistantMessage, ToolCall, ToolResult, AgentCall, AgentResult, UserRequest, UserResponse, Finished}
}

// Legal reports whether an entry of kind next may follow one of kind top, "" for none.
func Legal(top, next Kind) bool { return slices.Contains(successors[top], next) }

// An OrderError says that an entry cannot be pushed.
type OrderError struct{ Top, Next Kind }

func (e *OrderError) Error() string {
	if e.Top == "" {
		return fmt.Sprintf("%s at the beginning", e.Next)
	}
	return fmt.Sprintf("%s after %s", e.Next, e.Top)
}

// A Stack is the entries of one agent, the newest last.
type Stack struct {
	Entries []Entry

	handedIn bool // a tool that ends the work has succeeded since the last UserMessage
}

// Top returns the kind of the newest entry, "" if there is none.
func (s *Stack) Top() Kind {
	if len(s.Entries) == 0 {
		return ""
	}
	return s.Entries[len(s.Entries)-1].Kind
}

// Push adds an entry. The error is *OrderError if the entry must not follow the newest one; then
// nothing is added.
func (s *Stack) Push(e Entry) error {
	if top := s.Top(); !Legal(top, e.Kind) {
		return &OrderError{top, e.Kind}
	}
	s.add(e)
	return nil
}

// Observe adds an entry that an agent has made outside of our control. An entry that must not follow
// the newest one is marked.
//
// A client shows no message for a call without words, and ends as a process instead of by a tool. So
// Observe adds the message that a call implies, and accepts the end of an agent that has handed in
// its work.
func (s *Stack) Observe(e Entry) {
	if s.Top() == "" && e.Kind != UserMessage {
		s.add(implied(UserMessage, e))
	}
	if e.Kind == ToolCall && Legal(s.Top(), AssistantMessage) {
		s.add(implied(AssistantMessage, e))
	}
	if top := s.Top(); !Legal(top, e.Kind) && (e.Kind != Finished || !s.handedIn) {
		e.Illegal = (&OrderError{top, e.Kind}).Error()
	}
	s.add(e)
}

func implied(k Kind, before Entry) Entry {
	return Entry{Kind: k, At: before.At, Approx: true, Agent: before.Agent, Run: before.Run, Task: before.Task, Via: viaOf(k), Implied: true}
}

// viaOf returns what decides an entry of a kind.
func viaOf(k Kind) string {
	if k == AssistantMessage {
		return "llm"
	}
	return ""
}

// closing are the tools by which an agent hands in its work.
var closing = []string{"submit", "approve", "reject", "respond_consult", "write_output", "deliver"}

func (s *Stack) add(e Entry) {
	switch {
	case e.Kind == UserMessage:
		s.handedIn = false
	case e.Kind == ToolResult && e.Code == "" && slices.Contains(closing, e.Tool):
		s.handedIn = true
	}
	e.N = len(s.Entries) + 1
	s.Entries = append(s.Entries, e)
}
