package sandbox

import (
	"errors"
	"testing"
)

// TestAPolicyThatGivesItsSecretsAwayIsRefused before anything is started.
func TestAPolicyThatGivesItsSecretsAwayIsRefused(t *testing.T) {
	good := Policy{Read: []string{"/usr"}, Write: []string{"/home/u/p/.ferrus/worktrees/one"}, Deny: []string{"/home/u/p/.ferrus/journal.jsonl", "/home/u/.ssh"},
		Dir: "/home/u/p/.ferrus/worktrees/one", Network: true}
	change := func(f func(p *Policy)) Policy {
		p := good
		f(&p)
		return p
	}
	for name, c := range map[string]struct {
		p  Policy
		m  Mechanism
		ok bool
	}{
		"the work tree alone":             {good, Landlock, true},
		"a folder above .ferrus":          {change(func(p *Policy) { p.Write = []string{"/home/u/p"} }), Landlock, false},
		"the home folder":                 {change(func(p *Policy) { p.Write, p.Deny = []string{"/home/u"}, nil }), Landlock, false},
		"a folder above the home folder":  {change(func(p *Policy) { p.Write, p.Deny = []string{"/home"}, nil }), Landlock, false},
		"everything":                      {change(func(p *Policy) { p.Write, p.Deny = []string{"/"}, nil }), Bwrap, false},
		"a relative path":                 {change(func(p *Policy) { p.Write = []string{"one"} }), Landlock, false},
		"a path with two dots":            {change(func(p *Policy) { p.Write = []string{"/home/u/p/x/../.ferrus"} }), Landlock, false},
		"no network by landlock":          {change(func(p *Policy) { p.Network = false }), Landlock, false},
		"no network by bwrap":             {change(func(p *Policy) { p.Network = false }), Bwrap, true},
		"the project with .ferrus hidden": {change(func(p *Policy) { p.Write, p.Hidden = []string{"/home/u/p"}, []string{"/home/u/p/.ferrus"} }), Bwrap, true},
		"a folder is hidden by landlock":  {change(func(p *Policy) { p.Hidden = []string{"/home/u/p/.ferrus"} }), Landlock, false},
		"the project with another .ferrus": {change(func(p *Policy) {
			p.Write, p.Mounts = []string{"/home/u/p"}, []Mount{{From: "/x", To: "/home/u/p/.ferrus"}}
		}), Bwrap, true},
		".ferrus somewhere else":            {change(func(p *Policy) { p.Mounts = []Mount{{From: "/home/u/p/.ferrus", To: "/x"}} }), Bwrap, false},
		"a folder above it somewhere else":  {change(func(p *Policy) { p.Mounts = []Mount{{From: "/home/u/p", To: "/x"}} }), Bwrap, false},
		"the home folder somewhere else":    {change(func(p *Policy) { p.Mounts, p.Deny = []Mount{{From: "/home", To: "/x"}}, nil }), Bwrap, false},
		"a mount by landlock":               {change(func(p *Policy) { p.Mounts = []Mount{{From: "/x", To: "/y"}} }), Landlock, false},
		"a folder beside, of the same stem": {change(func(p *Policy) { p.Write = []string{"/home/u/p/.ferrus/journal.jsonl.d"} }), Landlock, true},
	} {
		err := c.p.check(c.m, "/home/u")
		var refused *PolicyError
		if c.ok != (err == nil) || err != nil && !errors.As(err, &refused) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
