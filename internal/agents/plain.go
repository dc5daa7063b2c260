package agents

import "time"

// plainForgets is how many lines after the last sign of a trouble an agent must print to have
// recovered. An error may have several lines.
const plainForgets = 20

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
