package doctor

import (
	"cmp"
	"time"

	"github.com/ferrus-go/ferrus/internal/state/refusal"
)

// Examine runs the checks in their order and returns what each of them found, if there was something to check. With fix it
// also fixes what can be fixed.
func (p *Context) Examine(checks []Check, fix bool) []Finding {
	var found []Finding
	for _, c := range checks {
		if !c.Of.is(p.shared()) {
			continue
		}
		f := p.examine(c, fix)
		if f.Text != "" {
			found = append(found, f)
		}
		if c.Ends && f.Level == Trouble {
			break
		}
	}
	return found
}

// settling is how long a commit of another process may show a file without its fellow.
const settling = 50 * time.Millisecond

// examine runs one check, and fixes what it finds if that is asked for.
func (p *Context) examine(c Check, fix bool) Finding {
	f := c.Look(p)
	for range 2 {
		if f.Level != Trouble || c.Once {
			break
		}
		time.Sleep(settling)
		p.Forget()
		f = c.Look(p)
	}
	if fix {
		f = p.treat(c, f)
	}
	f.Check = c.Name
	return f
}

// treat fixes what a check found, and runs the check again.
func (p *Context) treat(c Check, f Finding) Finding {
	if c.Fix == nil || f.Level != Note && f.Level != Trouble {
		return f
	}
	did, err := c.Fix(p)
	p.Forget()
	after := c.Look(p)
	if after.Text == "" {
		after.Level, after.Text = OK, "nothing is wrong now"
	}
	switch {
	case err != nil && after.Text == f.Text: // else what is left is another trouble, with a remedy of its own
		message, remedy := explain(err)
		after.Text += "; could not be fixed: " + message
		after.Remedy = cmp.Or(remedy, after.Remedy)
	case after.Level == OK || after.Text != f.Text:
		after.Fixed = did
	}
	return after
}

// explain returns what an error says, and what helps if it says that.
func explain(err error) (message string, remedy refusal.Own) {
	if r := refusal.Of(err); r != nil {
		return r.Message, r.Remedy
	}
	return err.Error(), ""
}

// plain returns what an error says.
func plain(err error) string {
	message, _ := explain(err)
	return message
}

// troubled is the finding of an error.
func troubled(err error) Finding { return Bad(explain(err)) }
