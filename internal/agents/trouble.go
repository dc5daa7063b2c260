package agents

import (
	"fmt"
	"regexp"
	"strings"
	"time"
)

// signs are the words by which clients and providers tell a trouble. The agent's own speech is never searched for them
// where it can be told apart.
var signs = []struct {
	trouble Trouble
	words   func() *regexp.Regexp
}{
	{NoServer, lazily(`(?i)required MCP servers? failed|MCP server\W+` + ServerName + `\S*\W.*(fail|error|not connected)|` +
		`MCP issues detected|failed to (start|connect).*` + ServerName)},
	{RateLimited, lazily(`(?i)\b429\b.*(error|too many|status|reject|exhaust)|(error|status|code|rejected)\W{0,4}\b429\b|` +
		`too many requests|rate.?limit(ed|\s+(is |has been )?(reached|exceeded|error)|_error)|rate_limit_exceeded|` +
		`(exceed|hit|reached)\S* (your|the|this)\W[^.]{0,60}\b(limit|quota)\b|(usage|session|spend|weekly) limit (has been )?reached|` +
		`quota exceeded|insufficient_quota|RESOURCE_EXHAUSTED|overloaded_error|usage_limit_reached`)},
	{Unauthorised, lazily(`(?i)\b401\b.*(unauthori[sz]ed|error)|(error|status|code)\W{0,4}\b401\b|(invalid|incorrect|missing|no) (x-)?api.?key|` +
		`authentication_(error|failed)|api key (is )?(not (valid|found|set)|missing)|not logged in|run /login|please (log|sign) in|` +
		`(oauth )?token (has )?expired|must specify the GEMINI_API_KEY|set an auth method`)},
}

// troubleIn is the trouble that an error's text tells, and until when it lasts if it is told.
func troubleIn(text string, at time.Time) (Trouble, time.Time) {
	if len(text) > maxError {
		text = text[:maxError]
	}
	for _, s := range signs {
		if s.words().MatchString(text) {
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

// troubleOf is the trouble that a status of HTTP tells. 529 is Anthropic's for an overload.
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
		// An event before may have told the end more exactly.
		if trouble != RateLimited || r.Trouble != RateLimited || !end.IsZero() {
			r.Until = end
		}
		r.Trouble = trouble
	}
	return Note{Error, brief(text)}
}

// ended notes the end of an agent's work.
func ended(u Usage) Note {
	text := fmt.Sprintf("ends; %d tokens read (%d from a cache), %d written", u.Input, u.Cached, u.Output)
	if u.Dollars > 0 {
		text += fmt.Sprintf(", $%.2f", u.Dollars)
	}
	return Note{Info, text}
}

// answers is called when the agent's provider answered: a limit is over, a login is not needed. Whether our server runs is
// another question.
func (r *Reading) answers() {
	if r.Trouble != NoServer {
		r.Trouble, r.Until = "", time.Time{}
	}
}

// does is called for a call of a tool, of which one of ours shows that our server runs.
func (r *Reading) does(what string) Note {
	r.answers()
	if r.Trouble == NoServer && strings.HasPrefix(what, ServerName+" ") {
		r.Trouble = ""
	}
	r.Doing = what
	return Note{Call, what}
}

// once leaves out an error that the line before told in the same words.
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
