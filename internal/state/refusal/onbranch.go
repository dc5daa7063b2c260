package refusal

import (
	"fmt"
	"strings"

	"github.com/ferrus-go/ferrus/internal/state"
)

// onTask are the commands that act on one task: the project's own, unless --branch names another.
var onTask = map[string]bool{
	"run": true, "resume": true, "stop": true, "status": true, "task": true, "answer": true, "send": true, "approve": true, "reject": true, "check": true,
	"release": true, "reset": true, "reopen": true, "rollback": true, "log": true, "logs": true, "show": true, "context": true, "simulate": true,
	"diff": true, "evidence": true, "config accept": true, "config check": true, "doctor": true, "open": true,
}

// Mark stands in an Own after each command that acts on one task, where its --branch belongs.
const Mark = "{branch}"

// Own is text of ferrus, such as a remedy, in which Mark follows each command that acts on one task: "ferrus reset{branch} abandons it".
// A constant is one; other text becomes part of one by Say alone, which never rewrites it. Nothing is converted to it.
type Own string

// Say returns a text in which args, if there are any, stand as those of fmt.Sprintf do. What others wrote is shown as it is; an Own keeps its
// marks.
func Say(text Own, args ...any) Own {
	if len(args) == 0 {
		return text
	}
	shown := make([]any, len(args))
	for i, arg := range args {
		if own, ok := arg.(Own); ok {
			shown[i] = string(own)
		} else {
			shown[i] = foreign{arg}
		}
	}
	return Own(fmt.Sprintf(string(text), shown...))
}

// A foreign is shown as what it holds, with nothing in it that On would rewrite.
type foreign struct{ is any }

func (f foreign) Format(s fmt.State, verb rune) {
	_, _ = s.Write([]byte(escape(fmt.Sprintf(fmt.FormatString(s, verb), f.is))))
}

// With returns the text with value, which is shown as it is, for each word.
func (o Own) With(word, value string) Own {
	return Own(strings.ReplaceAll(string(o), word, escape(value)))
}

// Join returns texts with a separator between them.
func Join(texts []Own, separator Own) Own {
	var b strings.Builder
	for i, text := range texts {
		if i > 0 {
			b.WriteString(string(separator))
		}
		b.WriteString(string(text))
	}
	return Own(b.String())
}

func escape(text string) string { return strings.ReplaceAll(text, "{", "{{") }

// On returns the text with --branch in its commands. For the project's own task, whose branch is "", they stay as they are.
func (o Own) On(branch string) string {
	if branch != "" {
		branch = " --branch " + branch
	}
	return strings.NewReplacer("{{", "{", Mark, branch).Replace(string(o))
}

// String returns the text for the project's own task.
func (o Own) String() string { return o.On("") }

// MarshalText returns what String does.
func (o Own) MarshalText() ([]byte, error) { return []byte(o.String()), nil }

// UnmarshalText reads text that is shown as it is.
func (o *Own) UnmarshalText(text []byte) error {
	*o = Own(escape(string(text)))
	return nil
}

// OnBranch returns Say(text, args...).On(branch).
func OnBranch(branch string, text Own, args ...any) string { return Say(text, args...).On(branch) }

// CommandOn returns a whole command with --branch after its name, if it acts on one task and names no branch itself. Its arguments are not
// changed.
func CommandOn(branch, command string) string {
	rest, ours := strings.CutPrefix(command, "ferrus ")
	n := bare(rest)
	if branch == "" || !ours || n == 0 {
		return command
	}
	return "ferrus " + rest[:n] + " --branch " + branch + rest[n:]
}

// Bare returns the commands in a text that act on one task and have neither a Mark nor a branch.
func Bare(text string) []string {
	var list []string
	for at, word := range strings.Split(text, "ferrus ") {
		if n := bare(word); at > 0 && n > 0 {
			list = append(list, "ferrus "+word[:n])
		}
	}
	return list
}

// bare returns the length of the name of the command with which text begins, without "ferrus ", if it acts on one task and has neither a
// Mark nor an option that names others; otherwise 0.
func bare(text string) int {
	name := 0
	for command := range onTask {
		if rest, ok := strings.CutPrefix(text, command); ok && (rest == "" || !wordByte(rest[0])) {
			name = max(name, len(command))
		}
	}
	for _, placed := range []string{Mark, " --branch", " --all", " --parallel"} {
		if strings.HasPrefix(text[name:], placed) {
			return 0
		}
	}
	return name
}

func wordByte(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// Finishing returns the command by which a person finishes a rollback or a merge whose files are being moved, "" where none
// is in progress.
func Finishing(t state.Task) string {
	switch r := t.Returning; {
	case r.To != 0 && r.Tree == "":
		return OnBranch(t.Branch, `ferrus rollback{branch} %d --reason "..."`, r.To)
	case r.To != 0:
		return OnBranch(t.Branch, `ferrus rollback{branch} %d --files --reason "..."`, r.To)
	case r.Of != "":
		return OnBranch(t.Branch, "ferrus resume{branch}")
	case r.From != "":
		return "ferrus merge " + r.From
	}
	return ""
}
