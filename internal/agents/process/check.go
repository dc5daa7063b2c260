package process

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/ferrus-go/ferrus/internal/agents"
	"github.com/ferrus-go/ferrus/internal/platform/safetext"
)

// Limits of the fields of a record. The names become parts of paths, the mark finds processes to
// kill, and the numbers are added up for budgets.
var (
	dutyForm = safetext.NewForm(`^[0-9A-Za-z_][0-9A-Za-z_-]*$`, 1, 64)
	logForm  = safetext.NewForm(`^agent-[0-9A-Za-z._-]+\.log$`, 11, 210)
	markForm = safetext.NewForm(`^[0-9A-Z-]*$`, 8, 64)
	wordForm = safetext.NewForm(`^[0-9A-Za-z._+-]*$`, 0, 64)
)

const (
	maxNumber  = 1_000_000 // of the runs of one duty
	maxText    = 64 << 10  // of an error, in bytes
	maxWords   = 1 << 10   // of a model or a client's session, in bytes
	maxPid     = math.MaxInt32
	maxTokens  = 1 << 50
	maxDollars = 1e9
)

// counts reports whether a number of tokens is plausible, so that a sum cannot overflow.
func counts(tokens int64) bool { return tokens >= 0 && tokens <= maxTokens }

// check returns an error for a field with a value that ferrus does not write.
func (r Run) check() error {
	number, err := strconv.Atoi(strings.TrimPrefix(r.Name, string(r.Duty)+"-"))
	troubles := []agents.Trouble{"", agents.RateLimited, agents.Unauthorised, agents.NoServer}
	var field string
	switch {
	case !dutyForm.MatchString(string(r.Duty)):
		field = "duty"
	case err != nil, number < 1, number > maxNumber, r.Name != Name(r.Duty, number):
		field = "run"
	case !wordForm.MatchString(r.Agent):
		field = "agent"
	case len(r.Model) > maxWords:
		field = "model"
	case r.At < 0:
		field = "at"
	case !logForm.MatchString(filepath.Base(r.Log)):
		field = "log"
	case !wordForm.MatchString(r.Sandbox):
		field = "sandbox"
	case len(r.Outside) > maxText:
		field = "outside"
	case len(r.Error) > maxText:
		field = "error"
	case len(r.Said) > maxSaid+len("…"):
		field = "said"
	case !wordForm.MatchString(r.Signal):
		field = "signal"
	case len(r.Client) > maxWords:
		field = "client_session"
	case r.Continues != "" && !agents.IsSession(r.Continues):
		field = "continues"
	case !counts(r.Usage.Input), !counts(r.Usage.Cached), !counts(r.Usage.Output), r.Usage.Dollars < 0, r.Usage.Dollars > maxDollars:
		field = "usage"
	case !slices.Contains(troubles, r.Trouble):
		field = "trouble"
	default:
		return nil
	}
	return fmt.Errorf("%s is none that ferrus writes", field)
}

// check returns an error for a field with a value that ferrus does not write.
func (o Occupant) check() error {
	var field string
	switch {
	case o.Shim < 0, o.Shim > maxPid, o.Shim == 1:
		field = "shim"
	case len(o.Run) > 2*maxWords:
		field = "run"
	case o.Mark != "" && !markForm.MatchString(o.Mark):
		field = "mark"
	default:
		return nil
	}
	return fmt.Errorf("%s is none that ferrus writes", field)
}
