package main

// clocks try what clocks may do to a lease.
var clocks = []Rig{
	{
		Name:    "terms by clocks, boots and probes",
		Promise: "a lease that runs is kept, one that cannot be measured is judged by the process, and none is for ever",
		Package: "./internal/lease",
		Test:    "TestWhoMayBeReplaced",
		Mutants: []Mutant{
			{"the boot is not compared", "internal/lease/lease.go", "return t.Boot == now.Boot && t.Clock == now.Clock", "return t.Clock == now.Clock"},
			{"the clock is not compared", "internal/lease/lease.go", "return t.Boot == now.Boot && t.Clock == now.Clock", "return t.Boot == now.Boot"},
			{"any deadline is believed", "internal/lease/lease.go", "return t.ours(now) && int64(t.Left(now)) <= t.TTLNS", "return t.ours(now)"},
			{"who is not known to live lives", "internal/lease/lease.go", "case holder == Alive && !t.legible(now):", "case holder != Gone && !t.legible(now):"},
			{"a restart proves nothing", "internal/lease/lease.go", "case holder != Alive && t.Boot != \"\" && t.Boot != now.Boot:", "case holder == Gone && t.Boot != now.Boot:"},
			{"a lost deadline proves a restart", "internal/lease/lease.go", "case holder != Alive && t.Boot != \"\" && t.Boot", "case holder != Alive && t.Boot"},
			{"a silent process has ended", "internal/lease/lease.go", "Verdict{Dead: true, Why: \"its lease ran out\"}", "Verdict{Dead: true, Sure: true, Why: \"its lease ran out\"}"},
		},
	},
	{
		Name:    "jumps of the wall clock",
		Promise: "the wall clock is for display alone",
		Package: "./internal/engine",
		Test:    "TestTheWallClockIsForDisplayAlone",
		Mutants: []Mutant{
			{"terms by the wall clock", "internal/engine/session.go", "Term: lease.Grant(e.opts.Clock(), ttl)", "Term: lease.Grant(lease.Instant{Boot: e.opts.Clock().Boot, Nanos: now.UnixNano()}, ttl)"},
			{"expiry by the wall clock", "internal/engine/claim.go", "return lease.Dead(now.Lease.Term, e.opts.Clock(),", "return lease.Dead(now.Lease.Term, lease.Instant{Boot: e.opts.Clock().Boot, Nanos: e.opts.Now().UnixNano()},"},
			{"silence by the wall clock", "internal/engine/renew.go", "time.Duration(e.opts.Clock().Nanos-s.last)", "time.Duration(e.opts.Now().UnixNano()-s.last)"},
			{"the time shown is not that of the wall clock", "internal/engine/session.go", "Until: now.Add(ttl)", "Until: time.Unix(0, e.opts.Clock().Nanos).Add(ttl)"},
		},
	},
	{
		Name:    "a restart of the machine",
		Promise: "no lease outlives a boot",
		Package: "./internal/engine",
		Test:    "TestARestartEndsEveryLease",
		Mutants: []Mutant{
			{"a restart proves nothing", "internal/lease/lease.go", "case holder != Alive && t.Boot != \"\" && t.Boot != now.Boot:", "case holder == Gone && t.Boot != now.Boot:"},
			{"a term without its boot", "internal/lease/lease.go", "return Term{Boot: now.Boot, Clock", "return Term{Clock"},
		},
	},
	{
		Name:    "two sessions by any clocks",
		Promise: "one holder at most, a live one keeps its term, and no lease is for ever",
		Package: "./internal/engine",
		Test:    "TestTwoSessionsByAnyClocks",
		Mutants: []Mutant{
			{"terms by the wall clock", "internal/engine/session.go", "Term: lease.Grant(e.opts.Clock(), ttl)", "Term: lease.Grant(lease.Instant{Boot: e.opts.Clock().Boot, Nanos: now.UnixNano()}, ttl)"},
			{"the clock is not compared", "internal/lease/lease.go", "return t.Boot == now.Boot && t.Clock == now.Clock", "return t.Boot == now.Boot"},
			{"a term without its clock", "internal/lease/lease.go", "Clock: now.Clock, DeadlineNS", "DeadlineNS"},
			{"a term is not renewed but made longer", "internal/lease/lease.go", "now.Nanos + int64(ttl), TTLNS", "now.Nanos + 2*int64(ttl), TTLNS"},
			{"a namesake holds the work", "internal/engine/session.go", "return t.ClaimedBy != \"\" && t.Session == s.ID && t.Epoch == s.epoch", "return t.ClaimedBy == s.Agent"},
		},
	},
	{
		Name:    "processes in time namespaces",
		Promise: "a live holder keeps the work whatever its clock says, and a dead one is replaced at once",
		Package: "./internal/e2e",
		Test:    "TestAHolderByAnotherClock",
		Needs:   "Linux, root and unshare(1)",
		Mutants: []Mutant{
			{"clocks have no names", "internal/clock/clock_linux.go", "err == nil && name != own", "err != nil"},
			{"the clock is not compared", "internal/lease/lease.go", "return t.Boot == now.Boot && t.Clock == now.Clock", "return t.Boot == now.Boot"},
			{"only a deadline that can be read ends with its process", "internal/lease/lease.go", "case holder == Gone:", "case holder == Gone && t.legible(now):"},
		},
	},
}
