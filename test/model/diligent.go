package model

import (
	"fmt"
	"slices"
	"strings"
)

// A Rule is a part of a policy: it answers a request, or leaves it to the next rule.
type Rule func(Request) (Reply, bool)

// Diligent is a model that does what the tools of ferrus tell it to do next, in whatever role it finds itself, until
// they say stop. The rules come first: they do the work, and whatever a test wants beside it.
func Diligent(rules ...Rule) Policy {
	return func(r Request) Reply {
		for _, rule := range append(slices.Clone(rules), follow) {
			if reply, ok := rule(r); ok {
				return reply
			}
		}
		return Reply{Problem: "no rule for this conversation"}
	}
}

// tireless is how many replies a model of a test gives before it must be going round in circles.
const tireless = 80

// arguments are what the tools need that need any. The rest has none.
var arguments = map[string]map[string]any{
	"submit":          {"summary": "It is done as the task says.", "verification": "The checks are green.", "no_change": "If there is none, the task needs none."},
	"respond_consult": {"response": "Do it as the task says."},
	"reject":          {"notes": "It is not what the task says."},
	"create_task":     {"description": "Do what is to be done."},
}

// follow calls the tool that the last one named.
func follow(r Request) (Reply, bool) {
	last, begun := r.Last()
	switch {
	case r.Replies >= tireless:
		return Reply{Problem: fmt.Sprintf("%d replies and no end: %s, %s", r.Replies, last.Tool, last.Message)}, true
	case !begun && r.Executor():
		return call("wait_for_task"), true
	case !begun && r.Supervisor():
		return call("status"), true
	case !begun:
		return Reply{Problem: fmt.Sprintf("no tools of ferrus among %v", r.Tools)}, true
	case last.Next == "", last.Next == "stop":
		return Say(last.Message), true
	case last.Next == "choose":
		return call("approve"), true
	}
	return call(last.Next), true
}

func call(tool string) Reply { return Use(ours+tool, arguments[tool]) }

// When lets a rule answer only where the condition holds.
func When(condition func(Request) bool, rule Rule) Rule {
	return func(r Request) (Reply, bool) {
		if !condition(r) {
			return Reply{}, false
		}
		return rule(r)
	}
}

// Answer is the rule that always gives this reply: Answer(Say("no")) leaves without doing anything, and
// Answer(Reply{Hang: true}) hangs.
func Answer(reply Reply) Rule { return func(Request) (Reply, bool) { return reply, true } }

// Continued asks for work when the client continues an earlier conversation with another prompt for an executor.
func Continued() Rule {
	return func(r Request) (Reply, bool) {
		last := r.Messages[len(r.Messages)-1]
		return call("wait_for_task"), r.Executor() && len(r.Told()) > 0 && last.Role == "user" && strings.Contains(last.Text, "your earlier session continues")
	}
}

// Claimed reports whether the last word of ferrus was that there is work to do: edit, then check.
func Claimed(r Request) bool {
	last, ok := r.Last()
	return ok && last.Next == "check" && last.Status != "running"
}

// Work makes these calls of the client's own tools whenever there is work to do, one after the other.
func Work(calls func(r Request, work Told) []Call) Rule {
	return When(Claimed, func(r Request) (Reply, bool) {
		work, done := r.Packet(), len(r.Since())
		todo := calls(r, work)
		if done >= len(todo) {
			return Reply{}, false
		}
		return Reply{Calls: todo[done : done+1]}, true
	})
}

// Packet is the newest packet of work that the model was given; the zero one before.
func (r Request) Packet() Told {
	var newest Told
	for _, t := range r.Told() {
		if t.Tool == "wait_for_task" && t.Status == "claimed" {
			newest = t
		}
	}
	return newest
}

// ConsultOnce asks the supervisor before the work begins, unless that was done in this task.
func ConsultOnce(question string) Rule {
	return When(Claimed, func(r Request) (Reply, bool) {
		if r.Called(ours+"consult") || len(r.Packet().Consultations) > 0 {
			return Reply{}, false
		}
		return Use(ours+"consult", map[string]any{"problem": "The task leaves it open.", "tried": "I read the code.", "question": question}), true
	})
}

// TellOnce sends a message to the supervisor before the work begins, unless that was done in this task.
func TellOnce(text string) Rule {
	return When(Claimed, func(r Request) (Reply, bool) {
		return Use(ours+"progress", map[string]any{"note": text, "to": "supervisor"}), !r.Called(ours+"progress") && r.Packet().Review == ""
	})
}

// TellBack sends a message to the executor before a consultation is answered, unless this conversation has.
func TellBack(text string) Rule {
	return func(r Request) (Reply, bool) {
		last, _ := r.Last()
		return Use(ours+"queue_task", map[string]any{"text": text, "to": "executor"}), last.Next == "respond_consult" && !r.Called(ours+"queue_task")
	}
}

// AskOnce asks a person before the work begins, unless that was done in this task.
func AskOnce(question string) Rule {
	return When(Claimed, func(r Request) (Reply, bool) {
		if r.Called(ours+"ask_human") || len(r.Packet().Decisions) > 0 {
			return Reply{}, false
		}
		return Use(ours+"ask_human", map[string]any{"question": question}), true
	})
}

// Reviewing reports whether a submission lies before the model, to be judged.
func Reviewing(r Request) bool {
	last, ok := r.Last()
	return ok && last.Next == "choose"
}

// RejectFirst rejects the first submission of a task.
func RejectFirst(notes string) Rule {
	return When(Reviewing, func(r Request) (Reply, bool) {
		last, _ := r.Last()
		return Use(ours+"reject", map[string]any{"notes": notes}), last.ReviewCyclesUsed == 0
	})
}

// Respond answers consultations.
func Respond(response string) Rule {
	return instead("respond_consult", map[string]any{"response": response})
}

// Create gives a task where there is none.
func Create(description string) Rule {
	return instead("create_task", map[string]any{"description": description})
}

// instead calls a tool that is next with other arguments.
func instead(tool string, args map[string]any) Rule {
	return func(r Request) (Reply, bool) {
		last, ok := r.Last()
		return Use(ours+tool, args), ok && last.Next == tool
	}
}
