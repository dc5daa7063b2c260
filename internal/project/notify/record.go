package notify

import (
	"errors"
	"maps"
	"slices"
	"time"
)

const (
	maxEntries = 500            // the record remembers so many items; no project waits for more at a time
	maxTries   = 5              // of one item over one channel
	firstRetry = time.Minute    // doubles with each try
	stale      = 24 * time.Hour // an item that is older is not sent any more
)

// A record is the file of an outbox.
type record struct {
	Entries  []entry            `json:"entries"`            // the newest last
	Failures map[string]Failure `json:"failures,omitempty"` // by channel, while its last message failed
}

// An entry is an item. Message is nil when every channel has it or was tried often enough.
type entry struct {
	ID      string         `json:"id"`
	Subject string         `json:"subject"`
	At      time.Time      `json:"at"`
	Sent    []string       `json:"sent,omitempty"` // the channels that accepted it
	Tries   map[string]try `json:"tries,omitempty"`
	Message *Message       `json:"message,omitempty"`
}

// A try is how often a channel failed, and when it is tried again.
type try struct {
	Count int       `json:"count"`
	Next  time.Time `json:"next"`
}

// A Failure is why a channel did not accept its last message. Reason is "" where it did.
type Failure struct {
	Channel string    `json:"channel"`
	At      time.Time `json:"at,omitzero"`
	Reason  string    `json:"reason,omitempty"`
}

func failure(name string, err error, now time.Time) Failure {
	f := Failure{Channel: name, At: now.UTC().Truncate(time.Millisecond)}
	if err != nil {
		f.Reason = err.Error()
	}
	return f
}

// put adds an item, and reports whether it was not known.
func (r *record) put(item Item, now time.Time) bool {
	if slices.ContainsFunc(r.Entries, func(e entry) bool { return e.ID == item.ID }) {
		return false
	}
	r.drop(func(e *entry) bool { return e.Subject == item.Subject && len(e.Sent)+len(e.Tries) > 0 }) // no item is dropped untried
	r.Entries = append(r.Entries, entry{ID: item.ID, Subject: item.Subject, At: now.UTC().Truncate(time.Millisecond), Message: &item.Message})
	if n := len(r.Entries) - maxEntries; n > 0 {
		r.Entries = slices.Delete(r.Entries, 0, n)
	}
	return true
}

// withdraw forgets the messages about a subject, and reports whether there were any.
func (r *record) withdraw(subject string) bool {
	return r.drop(func(e *entry) bool { return e.Subject == subject })
}

func (r *record) drop(which func(*entry) bool) (any bool) {
	for i := range r.Entries {
		if e := &r.Entries[i]; e.Message != nil && which(e) {
			e.Message, e.Tries, any = nil, nil, true
		}
	}
	return any
}

// due returns the oldest item that one of the channels lacks and may be sent now; nil for none.
func (r *record) due(list []Channel, now time.Time) *entry {
	for i := range r.Entries {
		e := &r.Entries[i]
		if slices.ContainsFunc(list, func(ch Channel) bool { return e.owes(ch.Name, now) }) {
			return e
		}
	}
	return nil
}

// owes reports whether the item is to be sent over a channel now.
func (e *entry) owes(channel string, now time.Time) bool {
	t := e.Tries[channel]
	return e.Message != nil && !slices.Contains(e.Sent, channel) && t.Count < maxTries && !now.Before(t.Next) && now.Sub(e.At) < stale
}

// mark records what became of an item over a channel.
func (r *record) mark(id, channel string, err error, now time.Time) {
	for i := range r.Entries {
		e := &r.Entries[i]
		switch {
		case e.ID != id:
		case err == nil:
			e.Sent = append(e.Sent, channel)
		case e.Message != nil:
			t := e.Tries[channel]
			next := now.Add(firstRetry << t.Count)
			if errors.Is(err, errCut) {
				next = now
			}
			t.Count, t.Next = t.Count+1, next.UTC().Truncate(time.Millisecond)
			if e.Tries == nil {
				e.Tries = map[string]try{}
			}
			e.Tries[channel] = t
		}
	}
}

// settle forgets the message of an item that no channel lacks any more, of the list or of those
// that another process tried.
func (r *record) settle(id string, list []Channel) {
	for i := range r.Entries {
		e := &r.Entries[i]
		names := slices.Collect(maps.Keys(e.Tries))
		for _, ch := range list {
			names = append(names, ch.Name)
		}
		if e.ID == id && !slices.ContainsFunc(names, func(name string) bool {
			return !slices.Contains(e.Sent, name) && e.Tries[name].Count < maxTries
		}) {
			e.Message, e.Tries = nil, nil
		}
	}
}

// note records whether a channel works.
func (r *record) note(channel string, err error, now time.Time) {
	if err == nil {
		delete(r.Failures, channel)
		return
	}
	if r.Failures == nil {
		r.Failures = map[string]Failure{}
	}
	r.Failures[channel] = failure(channel, err, now)
}
