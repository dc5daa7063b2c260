package web

import "time"

// Patient has the page wait for each project until it answers, however busy the computer is.
func (a *All) Patient() { a.inbox.Limits = [2]time.Duration{time.Minute, time.Minute} }
