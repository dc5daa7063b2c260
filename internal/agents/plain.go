package agents

import (
	"bytes"
	"encoding/json"
	"time"
)

// plainForgets is how many lines after the last sign of a trouble an agent must print to have
// recovered. An error may have several lines.
const plainForgets = 20

// plainHeeds is how many of the last lines make the reading of such an agent: a trouble before them
// is forgotten.
const plainHeeds = plainForgets + 1

// readPlain reads the output of an agent without a machine-readable report: what it says, and lines
// that look like a fatal error.
func readPlain() lineReader {
	since := 0
	return func(line []byte, at time.Time, r *Reading) []Note {
		text := clean(string(line))
		if trouble, until := troubleIn(text, at); trouble != "" {
			since = 0
			r.Trouble, r.Until = trouble, until
			return []Note{{Kind: Error, Text: text}}
		}
		if since++; since > plainForgets {
			r.Trouble, r.Until = "", time.Time{}
		}
		r.Said = text
		return []Note{{Kind: Raw, Text: text}}
	}
}

// object decodes a line that is a JSON object, and reports whether it is one. Most lines that are none
// show it by their first byte.
func object(line []byte, into any) bool {
	return bytes.HasPrefix(bytes.TrimLeft(line, " \t\r"), []byte("{")) && json.Unmarshal(line, into) == nil
}

// stray handles a line in a JSON stream that is not JSON: output on standard error, or before the
// stream starts.
func stray(line []byte, at time.Time, r *Reading) []Note {
	text := clean(string(line))
	if trouble, until := troubleIn(text, at); trouble != "" {
		r.Trouble, r.Until = trouble, until
		return []Note{{Kind: Error, Text: brief(text)}}
	}
	return []Note{{Kind: Raw, Text: text}}
}
