package pipeline

import (
	"fmt"
	"strings"

	"github.com/ferrus-go/ferrus/internal/config/workflow"
)

// Prompt returns the prompt of a worker. It names the task and the files, but no phase, no other
// worker and nothing that follows. path turns a file name into an absolute path. Of a worker that is
// a command it returns the command.
func Prompt(w workflow.Workflow, role, topic string, path func(file string) string) string {
	k, phase := w.Worker(role)
	if phase < 0 {
		return ""
	}
	if k.Run != "" {
		return k.Run + "\n"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Topic: %s\n\nYour task: %s\n\n", topic, k.Task)
	if len(k.Reads) > 0 {
		b.WriteString("Read these files first:\n")
		for _, file := range k.Reads {
			fmt.Fprintf(&b, "- %s\n", path(file))
		}
		b.WriteString("\n")
	}
	out, ask := path(k.File()), "ask nobody"
	if k.Asks {
		ask = "and ask only what a person alone may decide, by the tool ask_human"
	}
	fmt.Fprintf(&b, `Write your result to this file, and to no other: %s

The file counts as finished as soon as it exists. So write it whole: by the tool write_output if you have it, else write
%s.tmp and rename it to %s when it is complete.

Then exit. Do nothing else: change no other file, start no other agent, %s.
`, out, out, out, ask)
	return b.String()
}

// TurnPrompt returns the prompt of a worker that has the turn in a dialogue: the path of the file.
// Earlier turns, the question and the task are in the file, so that none of it is on a command
// line.
func TurnPrompt(role, path string) string {
	return fmt.Sprintf(`Read %s. You are %s: your task stands under "roles", the question at the top, and "inputs" are files to read.

Then use Edit to fill "content" of the last entry under "dialogue", as one JSON string. Set its "consensus" to true only if
you agree with the others and nothing is left to say. Change nothing else in the file, and no other file. Then exit.
`, path, role)
}

// BashWait returns the loop by which an agent that ferrus has not started waits for its inputs, for
// up to five minutes each.
func BashWait(paths []string) string {
	var tests []string
	for _, p := range paths {
		tests = append(tests, "[ -f '"+strings.ReplaceAll(p, "'", `'\''`)+"' ]")
	}
	if len(tests) == 0 {
		tests = []string{"true"}
	}
	return fmt.Sprintf(`ready=
for i in $(seq 1 60); do
  if %s; then ready=1; echo INPUT_READY; break; fi
  echo "Waiting... $i"
  sleep 5
done
[ -n "$ready" ] || echo TIMEOUT
`, strings.Join(tests, " && "))
}

// A Part is the output of one role.
type Part struct{ Role, Text string }

// Partial returns a result without some of its parts, with a note at its head. It is deterministic.
func Partial(topic string, parts []Part, missing []string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "> **PARTIAL**: nobody is left to finish this. Missing or incomplete: %s.\n\n# %s\n", list(missing),
		strings.Join(strings.Fields(topic), " "))
	for _, p := range parts {
		fmt.Fprintf(&b, "\n## %s\n\n%s\n", p.Role, strings.TrimSpace(p.Text))
	}
	return b.String()
}
