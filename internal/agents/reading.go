package agents

import (
	"bytes"
	"encoding/json"
	"time"
)

// A Usage is what an agent reports to have used. Values that it does not report are zero.
type Usage struct {
	Input   int64   `json:"input_tokens,omitempty"`        // all tokens read, cached ones included
	Cached  int64   `json:"cached_input_tokens,omitempty"` // of them, those from a cache
	Output  int64   `json:"output_tokens,omitempty"`
	Dollars float64 `json:"dollars,omitempty"`
}

// Tokens returns how many tokens were read and written.
func (u Usage) Tokens() int64 { return u.Input + u.Output }

// Plus returns the sum of two usages.
func (u Usage) Plus(v Usage) Usage {
	return Usage{u.Input + v.Input, u.Cached + v.Cached, u.Output + v.Output, u.Dollars + v.Dollars}
}

// A Trouble is a reason why an agent could not work that is not in the work itself. "" means none.
type Trouble string

const (
	RateLimited  Trouble = "rate_limited" // its provider refuses for now
	Unauthorised Trouble = "unauthorised" // it needs a login or a key
	NoServer     Trouble = "no_server"    // it could not start or reach our MCP server
)

// A Reading is what an agent's output has reported so far.
type Reading struct {
	Usage   Usage
	Doing   string    // its newest action, in a few words; "" when unknown
	Said    string    // its newest statement
	Trouble Trouble   // the newest trouble; "" after it recovered
	Until   time.Time // when a rate limit ends; zero when unknown
	Session string    // the client's own name for the session, to resume or look it up by
}

// A Note is one line of an agent's output, in words for a person.
type Note struct {
	Kind NoteKind
	Text string
	Tool string    // that is called, "ferrus check" for one of ours; "" if the agent does not report tools
	More bool      // it goes on with the speech before it, in the same line
	At   time.Time // as the agent reports it; zero if it reports no times
	Args string    // digest of the arguments of that call, as in the log of a server
}

// A NoteKind says what a Note is about.
type NoteKind string

const (
	Speech NoteKind = "says"
	Call   NoteKind = "calls"  // a tool, with its arguments in short
	Answer NoteKind = "result" // of a tool, in short
	Error  NoteKind = "error"
	Info   NoteKind = "info" // beginning, end, usage
	Raw    NoteKind = ""     // a line that the adapter does not understand, as it is
)

// A Reader reads an agent's output, in pieces of any size.
type Reader struct {
	Reading
	Now   func() time.Time // for limits that end "in 5 minutes" or "at 3pm"; nil is time.Now
	read  lineReader
	heeds int // how many of the last lines make the reading; 0 means all
	rest  []byte
}

// A lineReader reads the lines of one agent's output in order; at is the time of the line.
type lineReader func(line []byte, at time.Time, r *Reading) []Note

// Reader returns a reader for the output of the adapter's agent. One reader can read standard
// output and standard error, line by line.
func (a Adapter) Reader() *Reader { return &Reader{read: a.read(), heeds: a.heeds} }

// ReaderOf returns a reader for the output of the agent of that name. The output of an unknown
// agent, such as one of another version of ferrus, is read like that of a command.
func ReaderOf(name string) *Reader {
	a, err := Find(name)
	if err != nil {
		a = command
	}
	return a.Reader()
}

// maxRest bounds what is stored of an unfinished line; the rest is read as a line of its own.
const maxRest = 8 << 20

// Feed reads a piece of output and returns notes on the lines that end in it.
func (r *Reader) Feed(piece []byte) []Note {
	var all []Note
	r.lines(piece, func(line []byte, notes []Note) { all = append(all, timed(line, notes)...) })
	return all
}

// Skim is Feed for a caller that needs the reading alone. It leaves out lines that cannot change it.
func (r *Reader) Skim(piece []byte) {
	if end := bytes.LastIndexByte(piece, '\n'); r.heeds > 0 && end >= 0 {
		if at := lastLines(piece[:end], r.heeds); at > 0 {
			r.rest, piece = nil, piece[at:]
		}
	}
	r.lines(piece, func([]byte, []Note) {})
}

// lines reads the lines that end in a piece of output.
func (r *Reader) lines(piece []byte, each func(line []byte, notes []Note)) {
	for {
		end, rest, ok := bytes.Cut(piece, []byte("\n"))
		if !ok {
			break
		}
		each(r.line(end))
		piece = rest
	}
	r.rest = append(r.rest, piece...)
	if len(r.rest) > maxRest {
		each(r.line(nil))
	}
}

// lastLines returns where the last n lines of a text begin that are not blank.
func lastLines(text []byte, n int) (at int) {
	for at = len(text) + 1; n > 0 && at > 0; {
		begin := bytes.LastIndexByte(text[:at-1], '\n') + 1
		if len(bytes.TrimSpace(text[begin:at-1])) > 0 {
			n--
		}
		at = begin
	}
	return at
}

// Unfinished returns how many bytes of a line without its end were read.
func (r *Reader) Unfinished() int { return len(r.rest) }

// End reads the rest of a last line without a newline.
func (r *Reader) End() []Note { return timed(r.line(nil)) }

// line reads the line that ends with a piece, and returns it with its notes.
func (r *Reader) line(piece []byte) (line []byte, notes []Note) {
	line = piece
	if len(r.rest) > 0 {
		line, r.rest = append(r.rest, piece...), nil
	}
	line = bytes.TrimRight(line, "\r")
	if len(bytes.TrimSpace(line)) == 0 {
		return line, nil
	}
	now := time.Now
	if r.Now != nil {
		now = r.Now
	}
	return line, r.read(line, now(), &r.Reading)
}

// timed adds the time of a line of a stream to its notes.
func timed(line []byte, notes []Note) []Note {
	if len(notes) > 0 && line[0] == '{' {
		for i, at := 0, timeOf(line); i < len(notes); i++ {
			notes[i].At = at
		}
	}
	return notes
}

// timeOf returns the time of a line of a stream: its timestamp as a text, or in milliseconds.
func timeOf(line []byte) time.Time {
	var text struct{ Timestamp time.Time }
	if json.Unmarshal(line, &text) == nil {
		return text.Timestamp.UTC()
	}
	var number struct{ Timestamp int64 }
	if json.Unmarshal(line, &number) == nil && number.Timestamp > 0 {
		return time.UnixMilli(number.Timestamp).UTC()
	}
	return time.Time{}
}
