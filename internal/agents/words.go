package agents

import (
	"encoding/json"
	"strings"
	"unicode/utf8"

	"github.com/ferrus-go/ferrus/internal/platform/safetext"
)

// briefly is how many characters of a result or an argument a person sees.
const briefly = 160

// maxNote bounds a text before it is cleaned, which may make it eight times as long.
const maxNote = 1 << 20

// clean returns text that is safe for a terminal.
func clean(s string) string {
	if len(s) > maxNote {
		s = s[:safetext.Whole([]byte(s[:maxNote]))] + " [...]"
	}
	return safetext.Output(s)
}

// brief returns text on one line, cut if it is long.
func brief(s string) string {
	if len(s) > 16*briefly {
		s = s[:16*briefly] // avoids folding megabytes
	}
	s = strings.Join(strings.Fields(clean(s)), " ")
	if utf8.RuneCountInString(s) > briefly {
		s = string([]rune(s)[:briefly-1]) + "…"
	}
	return s
}

// result returns the answer of a tool, in short. For our own tools that is the message.
func result(text string) string {
	var ours struct{ Status, Message string }
	if strings.HasPrefix(text, "{") && json.Unmarshal([]byte(text), &ours) == nil && ours.Message != "" {
		if ours.Status != "" {
			return brief(ours.Status + ": " + ours.Message)
		}
		return brief(ours.Message)
	}
	return brief(text)
}

// telling are arguments of which one says what a call is about.
var telling = []string{"command", "cmd", "file_path", "filePath", "notebook_path", "path", "pattern", "query", "url", "title",
	"question", "problem", "summary", "note", "notes", "response", "description", "prompt"}

// toolName returns the name of a tool as a person knows it: one of ours follows the name of our server.
func toolName(tool string) string {
	for _, prefix := range []string{"mcp__" + ServerName + "__", "mcp_" + geminiServer + "_", ServerName + "_"} {
		if ours, ok := strings.CutPrefix(tool, prefix); ok {
			return ServerName + " " + ours
		}
	}
	return tool
}

// call describes a call of a tool in a few words.
func call(tool string, args json.RawMessage) string {
	tool = toolName(tool)
	var named map[string]json.RawMessage
	if json.Unmarshal(args, &named) != nil || len(named) == 0 {
		return brief(tool)
	}
	for _, key := range telling {
		var text string
		if json.Unmarshal(named[key], &text) == nil && text != "" {
			return brief(tool + " " + text)
		}
	}
	return brief(tool + " " + string(args))
}
