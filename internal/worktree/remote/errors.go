package remote

import (
	"errors"
	"fmt"
	"strings"

	"github.com/ferrus-go/ferrus/internal/platform/safetext"
	"github.com/ferrus-go/ferrus/internal/worktree/git"
)

var (
	// ErrUnreachable says that the remote did not answer, or not in time. Try again later.
	ErrUnreachable = errors.New("the remote cannot be reached")
	// ErrAccess says that the remote did not accept the credentials, or has no such repository for this person.
	ErrAccess = errors.New("the remote refuses access")
	// ErrMissing says that the remote does not have the commit that was asked for.
	ErrMissing = errors.New("the remote does not have the commit")
	// ErrNoRemote says that neither the repository nor the person has a remote of that name.
	ErrNoRemote = errors.New("there is no such remote")
	// ErrNoBranch says that the remote does not have the branch that was asked for.
	ErrNoBranch = errors.New("the remote has no branch")
)

// A StaleError says that a ref of the caller's own epoch has another commit than the caller expects. Nothing was changed. The
// holder of the epoch looks at the journal, and pushes again with what the remote has as the commit that it expects.
type StaleError struct {
	Ref    string
	Expect string // "" for none
	Have   string // "" for none: it was deleted
}

func (e *StaleError) Error() string {
	return fmt.Sprintf("%s has %s and not %s; if the journal says that this session still holds the task, push again and expect that",
		e.Ref, orNone(e.Have), orNone(e.Expect))
}

func orNone(commit string) string {
	if commit == "" {
		return "no commit"
	}
	return fmt.Sprintf("%.12s", commit)
}

// A LaterError says that the remote has a later epoch of the task: another session took it over. Nothing was changed.
type LaterError struct {
	Ref   string
	Later uint64
}

func (e *LaterError) Error() string {
	return fmt.Sprintf("%s is of an old epoch: another session has pushed epoch %d; stop work on this task", e.Ref, e.Later)
}

// A RefusedError says that the host does not take a ref, or does not delete it. Other refs may have been changed.
type RefusedError struct {
	Ref  string
	Said string // what the host said, on one line
}

func (e *RefusedError) Error() string {
	text := fmt.Sprintf("the host refuses %s: %s", e.Ref, e.Said)
	if strings.HasPrefix(e.Ref, Hidden+"/") {
		text += "; if it takes only branches and tags, use the namespace " + Branches
	}
	return text
}

// A cause is what a failed call says, what that means, and what helps.
type cause struct {
	said   []string
	is     error
	remedy string
}

var causes = []cause{
	{[]string{"not our ref", "unadvertised object", "no such remote ref"}, ErrMissing,
		"the session that holds the task pushes it again"},
	{[]string{"transport 'file' not allowed"}, ErrAccess,
		"a push to a path runs the hooks there: name the path itself in your own configuration, not in that of the repository"},
	{[]string{"transport '", "is blocked"}, ErrAccess, "use an address of https, ssh or git"},
	{[]string{"Authentication failed", "could not read Username", "could not read Password", "Permission denied (", "error: 401", "error: 403",
		"Host key verification failed", "access denied", "service not enabled", "does not appear to be a git repository", "not found", "dubious ownership"}, ErrAccess,
		"run git ls-remote %s as the same user and correct the address or the credentials"},
	{[]string{"Could not resolve", "Connection refused", "Connection timed out", "Connection reset", "Operation timed out", "unreachable", "Failed to connect",
		"unable to connect", "Couldn't connect", "the remote end hung up", "Connection closed", "early EOF", "error: 5", "Could not read from remote"}, ErrUnreachable,
		"run git ls-remote %s and try again when it answers"},
}

// explain returns the error of a failed call. A call that refused some refs gives nil: its output says which.
func (r *Remote) explain(stdout, stderr string, ended, err error) error {
	if ended != nil {
		return fmt.Errorf("%w within %v; run git ls-remote %s and try again when it answers", ErrUnreachable, r.timeout, r.Address())
	}
	if strings.Contains(stdout, "\n!\t") {
		return nil
	}
	said := redact(safetext.Line(line(stderr)))
	for _, c := range causes {
		for _, s := range c.said {
			if !strings.Contains(stderr, s) {
				continue
			}
			remedy := strings.ReplaceAll(c.remedy, "%s", r.Address())
			if c.is == ErrAccess && len(r.at.unused) > 0 {
				remedy += "; only your own configuration is used, set there what you need of: " + strings.Join(r.at.unused, ", ")
			}
			return fmt.Errorf("%w: %s; %s", c.is, said, remedy)
		}
	}
	return errors.New(redact(git.Explain("", stderr, err).Error()))
}

// line is the first line of a text in which git itself says something, or else the first one.
func line(stderr string) string {
	for l := range strings.Lines(stderr) {
		for _, mark := range []string{"fatal: ", "error: ", "ssh: "} {
			if at, ok := strings.CutPrefix(l, mark); ok {
				return strings.TrimSpace(at)
			}
		}
	}
	return git.FirstLine(stderr)
}
