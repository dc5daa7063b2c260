package status

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
)

// Acts are what a person can do, each with its command. The terminal screen and the web page show them; [CarryOut] carries out the one
// that is chosen, as it does for the command.

// An Act is a command that a person can run now. Its arguments name what the person was shown: the submission, the question,
// the task. When that has changed meanwhile the command refuses, and nothing happens.
type Act struct {
	Name    string         `json:"name"`  // of the command, such as approve
	Label   string         `json:"label"` // one or two words, for a button
	Args    []string       `json:"args"`  // what follows the program's name; {name} stands for the value of a field
	Fields  []Field        `json:"fields,omitempty"`
	Notices []string       `json:"notices,omitempty"` // what a person should know before it, a line each
	Loses   string         `json:"loses,omitempty"`   // a sentence that says what is lost, to be asked before; "" when nothing is
	Report  *Report        `json:"-"`                 // by which it is possible; nil for an act that is about no task
	On      engine.Subject `json:"-"`                 // what the person was shown
	As      string         `json:"-"`                 // the kind of request that carries it out, where that has another name
	ID      string         `json:"-"`                 // of the question that it answers, or the name of the need that it drops
	Item    string         `json:"-"`                 // the run of a pipeline, or the task that waits in the queue, that it is about
	Runs    bool           `json:"runs,omitempty"`    // it starts a run, which is a process of its own and outlives the one that starts it
}

// A FieldKind says what a field takes.
type FieldKind string

// The kinds of fields.
const (
	TextField   FieldKind = "text"   // of any length
	LineField   FieldKind = "line"   // without a line break
	NumberField FieldKind = "number" // digits only
	ChoiceField FieldKind = "choice" // the number of an option, from 1, or a text of one's own
)

// A Field is a value that the person gives to an act.
type Field struct {
	Name     string    `json:"name"`
	Label    string    `json:"label"`
	Kind     FieldKind `json:"kind"`
	Options  []string  `json:"options,omitempty"` // of a choice, the recommended one first
	Required bool      `json:"required,omitempty"`
	Value    string    `json:"-"` // before the person writes
}

// Same reports whether both are the same command about the same things: it is how an act that was shown is found among those that are
// possible now. Whether a run continues afterwards does not matter: a run that started meanwhile changes that, and nothing that the
// person was shown.
func (a Act) Same(b Act) bool {
	bound := func(args []string) []string {
		return slices.DeleteFunc(slices.Clone(args), func(arg string) bool { return arg == Continues })
	}
	return a.Name == b.Name && a.On.Task == b.On.Task && slices.Equal(bound(a.Args), bound(b.Args))
}

// Continues is the argument by which the run of a task continues after the act.
const Continues = "--resume"

// Fill returns the arguments of the command with the values of its fields. An argument whose field is empty is left out. A
// value that its field does not take is refused with invalid_input.
func (a Act) Fill(values map[string]string) ([]string, error) {
	for _, f := range a.Fields {
		if err := f.check(values[f.Name]); err != nil {
			return nil, err
		}
	}
	args := make([]string, 0, len(a.Args))
	for _, arg := range a.Args {
		if name, found := a.field(arg); !found {
			args = append(args, arg)
		} else if v := strings.TrimSpace(values[name]); v != "" {
			args = append(args, strings.Replace(arg, "{"+name+"}", v, 1))
		}
	}
	return args, nil
}

// field returns the field that an argument holds a place for.
func (a Act) field(arg string) (name string, found bool) {
	for _, f := range a.Fields {
		if strings.HasSuffix(arg, "{"+f.Name+"}") {
			return f.Name, true
		}
	}
	return "", false
}

func (f Field) check(v string) error {
	v = strings.TrimSpace(v)
	refuse := func(what string) error {
		return &refusal.RefusedError{Code: refusal.InvalidInput, Message: fmt.Sprintf("%s: %s", strings.ToLower(f.Label), what), Person: true,
			Remedy: "correct it and send it again; nothing was changed"}
	}
	switch {
	case v == "" && f.Required:
		return refuse("it is empty")
	case f.Kind == LineField && strings.ContainsAny(v, "\r\n"):
		return refuse("it has more than one line")
	case f.Kind == NumberField && v != "":
		if _, err := strconv.ParseUint(v, 10, 64); err != nil {
			return refuse("it is not a number")
		}
	}
	return nil
}

// Command returns the command as a person would type it, with "..." for a text and NAME for another value that is not given yet.
func (a Act) Command() string {
	words := []string{"ferrus"}
	for _, arg := range a.Args {
		name, found := a.field(arg)
		switch {
		case !found && arg == "--":
		case !found:
			words = append(words, arg)
		case a.kind(name) == NumberField || a.kind(name) == LineField:
			words = append(words, strings.Replace(arg, "{"+name+"}", strings.ToUpper(name), 1))
		default:
			words = append(words, strings.Replace(arg, "{"+name+"}", `"..."`, 1))
		}
	}
	return strings.Join(words, " ")
}

func (a Act) kind(name string) FieldKind {
	for _, f := range a.Fields {
		if f.Name == name {
			return f.Kind
		}
	}
	return ""
}

// FindAct returns the act of a list that is the same as the one that was shown. Without one it refuses with wrong_state: what was
// shown has changed.
func FindAct(list []Act, shown Act) (Act, error) {
	for _, a := range list {
		if a.Same(shown) {
			return a, nil
		}
	}
	return Act{}, &refusal.RefusedError{Code: refusal.WrongState, Message: "this is no longer possible: the task has changed since it was shown", Person: true,
		Remedy: "look at the task as it is now, and decide again; nothing was changed"}
}

// An Outcome is what became of an act.
type Outcome struct {
	Exit    int    // exit code of the command
	Text    string // what it printed, without its error
	Message string // what it refused or could not do, and why, in a line; "" unless it failed
	Remedy  string // what to do about that, "" where nothing is known
	Before  uint64 // the newest entry of the task when the act began; 0 where that is not known
}

// Failed reports whether the command refused or failed.
func (o Outcome) Failed() bool { return o.Exit != 0 }

// Why is all that is known of a failure, line by line: the message, what the command printed beside it, and the remedy.
func (o Outcome) Why() string {
	lines := slices.DeleteFunc([]string{o.Message, o.Text, o.Remedy}, func(text string) bool { return text == "" })
	return strings.Join(lines, "\n")
}
