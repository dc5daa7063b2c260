package agents

import "time"

// plainForgets is how many lines an agent prints after the last sign of a trouble until it has got over it. What it
// prints of an error may have several.
const plainForgets = 20

// readPlain reads the output of an agent that reports nothing a program could read: what it says, and what looks like an
// error that ends it.
func readPlain() lineReader {
	since := 0
	return func(line []byte, at time.Time, r *Reading) []Note {
		text := clean(string(line))
		if trouble, until := troubleIn(text, at); trouble != "" {
			since = 0
			r.Trouble, r.Until = trouble, until
			return []Note{{Error, text}}
		}
		if since++; since > plainForgets {
			r.Trouble, r.Until = "", time.Time{}
		}
		r.Said = text
		return []Note{{Raw, text}}
	}
}

// stray is a line of a stream of JSON that is none: what the client prints to its standard error, or before it begins.
func stray(line []byte, at time.Time, r *Reading) []Note {
	text := clean(string(line))
	if trouble, until := troubleIn(text, at); trouble != "" {
		r.Trouble, r.Until = trouble, until
		return []Note{{Error, brief(text)}}
	}
	return []Note{{Raw, text}}
}
