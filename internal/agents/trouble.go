package agents

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/ferrus-go/ferrus/internal/platform/jsonx"
	"github.com/ferrus-go/ferrus/internal/platform/safetext"
)

// signs are the words by which clients and providers report a trouble, in the order in which they
// count. They are not searched for in the agent's own speech, if that can be distinguished. An
// expression costs some hundred times as much as a look for a word, so it is tried only on a text
// that has all words of one of its sets: no text without them matches. Words are in lower case.
var signs = []struct {
	trouble Trouble
	words   [][]string
	expr    func() *regexp.Regexp
}{
	{NoServer, [][]string{{"required mcp"}, {"mcp server", ServerName}, {"mcp issues"}},
		safetext.Lazily(`(?i)required MCP servers? failed|MCP server\W+` + ServerName + `\S*\W.*(fail|error|not connected)|MCP issues detected`)},
	{NoServer, [][]string{{"failed to ", ServerName}}, safetext.Lazily(`(?i)failed to (start|connect).*` + ServerName)},

	{RateLimited, [][]string{{"429", "error"}, {"429", "too many"}, {"429", "status"}, {"429", "reject"}, {"429", "exhaust"}, {"429", "code"}},
		safetext.Lazily(`(?i)\b429\b.*(error|too many|status|reject|exhaust)|(error|status|code|rejected)\W{0,4}\b429\b`)},
	{RateLimited, [][]string{{"too many requests"}, {"rate", "limit"}, {"quota exceeded"}, {"insufficient_quota"}, {"resource_exhausted"},
		{"overloaded_error"}, {"usage_limit_reached"}},
		safetext.Lazily(`(?i)too many requests|rate.?limit(ed|\s+(is |has been )?(reached|exceeded|error)|_error)|rate_limit_exceeded|` +
			`quota exceeded|insufficient_quota|RESOURCE_EXHAUSTED|overloaded_error|usage_limit_reached`)},
	{RateLimited, [][]string{{"exceed", "limit"}, {"exceed", "quota"}, {"hit", "limit"}, {"hit", "quota"}, {"limit", "reached"}, {"quota", "reached"}},
		safetext.Lazily(`(?i)(exceed|hit|reached)\S* (your|the|this)\W[^.]{0,60}\b(limit|quota)\b|(usage|session|spend|weekly) limit (has been )?reached`)},

	{Unauthorised, [][]string{{"401", "unauthori"}, {"401", "error"}, {"401", "status"}, {"401", "code"}},
		safetext.Lazily(`(?i)\b401\b.*(unauthori[sz]ed|error)|(error|status|code)\W{0,4}\b401\b`)},
	{Unauthorised, [][]string{{"api", "key"}},
		safetext.Lazily(`(?i)(invalid|incorrect|missing|no) (x-)?api.?key|api key (is )?(not (valid|found|set)|missing)|must specify the GEMINI_API_KEY`)},
	{Unauthorised, [][]string{{"authentication_"}, {"not logged in"}, {"run /login"}, {"please log in"}, {"please sign in"}, {"token", "expired"},
		{"set an auth method"}},
		safetext.Lazily(`(?i)authentication_(error|failed)|not logged in|run /login|please (log|sign) in|(oauth )?token (has )?expired|set an auth method`)},
}

// troubleIn returns the trouble in an error's text, and its end if the text has it.
func troubleIn(text string, at time.Time) (Trouble, time.Time) {
	if len(text) > maxError {
		text = text[:maxError]
	}
	folded := fold(text)
	for _, s := range signs {
		if slices.ContainsFunc(s.words, folded.has) && s.expr().MatchString(text) {
			if s.trouble == RateLimited {
				return s.trouble, until(text, at)
			}
			return s.trouble, time.Time{}
		}
	}
	return "", time.Time{}
}

// maxError is how much of a line is searched for an error.
const maxError = 16 << 10

// A folded text is one in lower case, as (?i) takes it: the long s is an s.
type folded string

func fold(text string) folded {
	return folded(strings.ReplaceAll(strings.ToLower(text), "\u017f", "s"))
}

// has reports whether the text has all words of a set.
func (f folded) has(words []string) bool {
	for _, w := range words {
		if !strings.Contains(string(f), w) {
			return false
		}
	}
	return true
}

// troubleOf returns the trouble of an HTTP status. 529 is Anthropic's status for an overload.
func troubleOf(status int) Trouble {
	switch status {
	case 401, 403:
		return Unauthorised
	case 429, 529:
		return RateLimited
	}
	return ""
}

// failed notes an error by its status or its text.
func failed(status int, text string, at time.Time, r *Reading) Note {
	trouble, end := troubleIn(text, at)
	if t := troubleOf(status); t != "" {
		trouble = t
	}
	if trouble != "" {
		// An earlier event may have reported the end more exactly.
		if trouble != RateLimited || r.Trouble != RateLimited || !end.IsZero() {
			r.Until = end
		}
		r.Trouble = trouble
	}
	return Note{Kind: Error, Text: brief(text)}
}

// ended notes the end of an agent's work.
func ended(u Usage) Note {
	text := fmt.Sprintf("ends; %d tokens read (%d from a cache), %d written", u.Input, u.Cached, u.Output)
	if u.Dollars > 0 {
		text += fmt.Sprintf(", $%.2f", u.Dollars)
	}
	return Note{Kind: Info, Text: text}
}

// answers is called when the agent's provider has answered: a limit has ended, and the login works.
// This says nothing about our server.
func (r *Reading) answers() {
	if r.Trouble != NoServer {
		r.Trouble, r.Until = "", time.Time{}
	}
}

// does is called for a call of a tool. A call of one of our tools shows that our server runs.
func (r *Reading) does(what string) Note {
	r.answers()
	if r.Trouble == NoServer && strings.HasPrefix(what, ServerName+" ") {
		r.Trouble = ""
	}
	r.Doing = what
	return Note{Kind: Call, Text: what}
}

// uses is does for a call of a tool with its arguments.
func (r *Reading) uses(tool string, args json.RawMessage) Note {
	n := r.does(call(tool, args))
	n.Tool, n.Args = clean(toolName(tool)), jsonx.Digest(args)
	return n
}

// once skips an error that the previous line reported in the same words.
func once(read lineReader) lineReader {
	var last Note
	return func(line []byte, at time.Time, r *Reading) []Note {
		notes := read(line, at, r)
		if len(notes) > 0 && notes[0].Kind == Error && notes[0] == last {
			notes = notes[1:]
		}
		if len(notes) > 0 {
			last = notes[len(notes)-1]
		}
		return notes
	}
}
