package model

import (
	"fmt"
	"strings"
)

// WriteFile returns the calls by which a model of this client writes a file, with the client's own tools; the path is
// absolute.
func (r Request) WriteFile(path, text string) []Call {
	switch {
	case r.Offers("Write"):
		// Claude Code writes over a file only when the model has read it. That there is none yet does no harm.
		return []Call{{Tool: "Read", Args: map[string]any{"file_path": path}},
			{Tool: "Write", Args: map[string]any{"file_path": path, "content": text}}}
	case r.Offers("apply_patch"):
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
	if r.Offers("Read") {
		return []Call{{Tool: "Read", Args: map[string]any{"file_path": path}}}
	}
	return r.Shell("cat '" + path + "'")
}

// Shell returns the call by which a model of this client runs a command. Where the client offers no such tool the call
// is one of "shell", which is refused for it.
func (r Request) Shell(command string) []Call {
	switch {
	case r.Offers("Bash"):
		return []Call{{Tool: "Bash", Args: map[string]any{"command": command}}}
	case r.Offers("exec_command"):
		return []Call{{Tool: "exec_command", Args: map[string]any{"cmd": command}}}
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
