package agents

import (
	"crypto/sha256"
	"encoding/hex"
)

// TraceID returns the id of the trace of a task, 32 hexadecimal digits. It follows from the id of the task alone, so that what an agent traces
// while it works is a part of the trace that is made of the journal later.
func TraceID(task string) string { return digits(16, "trace", task) }

// SpanID returns the id of a part of the trace of a task, 16 hexadecimal digits. The part is the name of a run such as executor-1, the id of a
// check, or "" for the task itself.
func SpanID(task, part string) string { return digits(8, "span", task, part) }

// TraceParent returns what TRACEPARENT tells the agent of a run, by the W3C's Trace Context: its spans belong below the run's.
func TraceParent(task, run string) string {
	return "00-" + TraceID(task) + "-" + SpanID(task, run) + "-01"
}

// digits are the first n bytes of a hash of the texts.
func digits(n int, texts ...string) string {
	h := sha256.New()
	for _, text := range texts {
		h.Write([]byte(text))
		h.Write([]byte{0})
	}
	return hex.EncodeToString(h.Sum(nil)[:n])
}
