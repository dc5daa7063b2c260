package model

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// A native names the tools by which a client reads, writes and runs, and their arguments.
type native struct {
	read, write, path, text string
	shell, command          string
	more                    map[string]any // what else its shell must be told
}

var natives = []native{
	{"Read", "Write", "file_path", "content", "Bash", "command", nil},                                                           // Claude Code
	{"", "", "", "", "exec_command", "cmd", nil},                                                                                // Codex
	{"read_file", "write_file", "file_path", "content", "run_shell_command", "command", map[string]any{"is_background": false}}, // Gemini CLI, Qwen Code
	{"read", "write", "filePath", "content", "bash", "command", map[string]any{"description": "Run a command"}},                 // opencode
}

// native returns the client's own, told by a tool that it offers.
func (r Request) native(tool func(native) string) (native, bool) {
	i := slices.IndexFunc(natives, func(n native) bool { return r.Offers(tool(n)) })
	if i < 0 {
		return native{}, false
	}
	return natives[i], true
}

// WriteFile returns the calls by which a model of this client writes a file, with the client's own tools; the path is
// absolute.
func (r Request) WriteFile(path, text string) []Call {
	if n, ok := r.native(func(n native) string { return n.write }); ok {
		// Claude Code and opencode write over a file only when the model has read it. That there is none yet does no harm.
		return append(r.ReadFile(path), Call{Tool: n.write, Args: map[string]any{n.path: path, n.text: text}})
	}
	if r.Offers("apply_patch") {
		return []Call{{Tool: "apply_patch", Args: map[string]any{"input": patch(path, text)}}}
	}
	return r.Shell("apply_patch <<'END OF PATCH'\n" + patch(path, text) + "END OF PATCH\n")
}

// patch is a patch of Codex that makes a file what it should be, whatever it was.
func patch(path, text string) string {
	lines := strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n+")
	return fmt.Sprintf("*** Begin Patch\n*** Add File: %s\n+%s\n*** End Patch\n", path, lines)
}

// ReadFile returns the call by which a model of this client reads a file.
func (r Request) ReadFile(path string) []Call {
	if n, ok := r.native(func(n native) string { return n.read }); ok {
		return []Call{{Tool: n.read, Args: map[string]any{n.path: path}}}
	}
	return r.Shell("cat '" + path + "'")
}

// Shell returns the call by which a model of this client runs a command. Where the client offers no such tool the call
// is one of "shell", which is refused for it.
func (r Request) Shell(command string) []Call {
	if n, ok := r.native(func(n native) string { return n.shell }); ok {
		args := map[string]any{n.command: command}
		maps.Copy(args, n.more)
		return []Call{{Tool: n.shell, Args: args}}
	}
	return []Call{{Tool: "shell", Args: map[string]any{"command": []string{"sh", "-c", command}}}}
}

// ReadPatch reads the patch of a submission before it is judged.
func ReadPatch() Rule {
	return When(Reviewing, func(r Request) (Reply, bool) {
		last, _ := r.Last()
		own := r.Since()
		if len(own) == 0 && last.Patch != "" {
			return Reply{Calls: r.ReadFile(last.Patch)}, true
		}
		if n := len(own); n > 0 && !strings.Contains(own[n-1].Result.Text, "diff --git") {
			return Reply{Problem: "the reviewer cannot read the patch: " + own[n-1].Result.Text}, true
		}
		return Reply{}, false
	})
}
