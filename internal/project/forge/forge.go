// Package forge asks a forge for pull requests and issues by the person's own client: gh, with its login. ferrus has no token. The client is one
// outside of the project, starts in a folder of no repository, and gets everything as JSON on its standard input. What the forge answers was
// written by others: it is bounded, and what is a name is checked.
//
// Start reading at forge.go.
package forge

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/ferrus-go/ferrus/internal/platform/proc"
	"github.com/ferrus-go/ferrus/internal/platform/safetext"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/worktree/git"
	"github.com/ferrus-go/ferrus/internal/worktree/repository"
)

// ErrNone says that there is no client of the forge.
var ErrNone error = &refusal.Kind{Code: refusal.StoreError, Text: "gh is not on PATH, outside of the project",
	Remedy: "install it: https://cli.github.com; then log in: gh auth login"}

const (
	maxAnswer = 8 << 20
	timeout   = time.Minute // of one request
)

// A Repository is one of a forge.
type Repository struct{ Host, Owner, Name string }

// Same reports whether both are one repository: a forge does not tell upper case from lower case.
func (r Repository) Same(as Repository) bool { return strings.EqualFold(r.String(), as.String()) }

// String returns HOST/OWNER/NAME.
func (r Repository) String() string { return r.Host + "/" + r.Owner + "/" + r.Name }

var (
	hostForm = safetext.NewForm(`^[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?(:[0-9]+)?$`, 1, 250)
	nameForm = safetext.NewForm(`^[A-Za-z0-9_.-]*[A-Za-z0-9_-][A-Za-z0-9_.-]*$`, 1, 100)
)

// valid reports whether the names can stand in the path of a request.
func (r Repository) valid() bool {
	return hostForm.MatchString(r.Host) && nameForm.MatchString(r.Owner) && nameForm.MatchString(r.Name)
}

// At returns the repository that the address of a git remote names: https, http or ssh, or HOST:OWNER/NAME. The error names no password.
func At(address string) (Repository, error) {
	rest, isURL := address, false
	for _, scheme := range []string{"https://", "http://", "ssh://"} {
		if after, ok := strings.CutPrefix(address, scheme); ok {
			rest, isURL = after, true
		}
	}
	host, path, _ := strings.Cut(rest, "/")
	if !isURL {
		host, path, _ = strings.Cut(rest, ":")
	}
	host = host[strings.LastIndexByte(host, '@')+1:]
	if strings.HasPrefix(address, "ssh://") {
		host, _, _ = strings.Cut(host, ":") // the port of ssh
	}
	owner, name, _ := strings.Cut(strings.TrimSuffix(strings.Trim(path, "/"), ".git"), "/")
	if r := (Repository{host, owner, name}); r.valid() {
		return r, nil
	}
	return Repository{}, fmt.Errorf("the address names no repository HOST/OWNER/NAME of a forge")
}

// A Client is the gh of a person. Its zero value is none.
type Client struct{ program, outside string }

// Find returns the client outside of a project's folder. The error is ErrNone.
func Find(root string) (Client, error) {
	outside := proc.WorkTree(root)
	program, err := proc.LookPath("gh", os.Getenv("PATH"), outside)
	if err != nil {
		return Client{}, ErrNone
	}
	return Client{program, outside}, nil
}

// A Why says why a request failed, as far as one who asks again must know.
type Why string

// Refused is for another reason, and of an error that is none of a request.
const (
	Refused   Why = ""
	Gone      Why = "gone"       // what was asked for is not there, or not for this login
	LoggedOut Why = "logged out" // the login has expired, or there is none
	Limited   Why = "limited"    // there were too many requests: see [Client.Reset]
	Offline   Why = "offline"    // there was no answer, or the forge itself has failed
)

// A requestError is a refusal that says why.
type requestError struct {
	*refusal.RefusedError
	why Why
}

func (e *requestError) Unwrap() error { return e.RefusedError }

// WhyOf returns why a request failed.
func WhyOf(err error) Why {
	var e *requestError
	if errors.As(err, &e) {
		return e.why
	}
	return Refused
}

// call makes a request to the API of a host, with in as JSON if it is not nil, and reads the answer into out.
func (c Client) call(ctx context.Context, host, method, path string, in, out any) error {
	answer := git.Head{Max: maxAnswer}
	if said, err := c.ask(ctx, host, method, path, in, &answer); err != nil {
		return failure(host, said, answer.Bytes(), err)
	}
	if answer.Cut {
		return wrong(again, "the answer of %s has more than %d bytes", host, maxAnswer)
	}
	if err := json.Unmarshal(answer.Bytes(), out); err != nil {
		return wrong(again, "the answer of %s cannot be read: %v", host, err)
	}
	return nil
}

// ask makes a request, whose answer goes to answer. It returns what the client has said of a failure.
func (c Client) ask(ctx context.Context, host, method, path string, in any, answer io.Writer) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	args := []string{"api", "--hostname", host, "--method", method, "-H", "Accept: application/vnd.github+json", path}
	cmd := exec.CommandContext(ctx, c.program)
	if in != nil {
		text, err := json.Marshal(in)
		if err != nil {
			return "", err
		}
		args = append(args, "--input", "-")
		cmd.Stdin = bytes.NewReader(text)
	}
	said := git.Head{Max: 16 << 10}
	cmd.Args = append(cmd.Args, args...)
	cmd.Dir = os.TempDir()
	cmd.Env = append(proc.Outside(os.Environ(), c.outside), "GH_PROMPT_DISABLED=1", "GH_NO_UPDATE_NOTIFIER=1", "NO_COLOR=1", "GH_PAGER=cat", "GH_DEBUG=")
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = answer, &said, 2*time.Second
	err := cmd.Run()
	if err != nil && ctx.Err() != nil {
		return "no answer", ctx.Err()
	}
	return said.String(), err
}

// again is the remedy where the forge, or what was asked of it, is wrong.
const again refusal.Own = "correct what it names, then try again"

// wrong is the refusal of an answer that is not what was asked for.
func wrong(remedy refusal.Own, message string, args ...any) error {
	return &refusal.RefusedError{Code: refusal.StoreError, Message: fmt.Sprintf(message, args...), Remedy: remedy}
}

// status is what gh says of the answer of a forge.
var status = safetext.Lazily(`\(HTTP ([0-9]{3})\)`)

// failure is the error of a request that failed.
func failure(host, said string, answer []byte, err error) error {
	var body struct {
		Message string
		Errors  []struct{ Message string }
	}
	_ = json.Unmarshal(answer, &body)
	text := safetext.Line(said)
	for _, e := range body.Errors {
		if e.Message != "" {
			text += "; " + safetext.Line(e.Message)
		}
	}
	if text == "" {
		text = err.Error()
	}
	if len(text) > 600 {
		text = strings.ToValidUTF8(text[:600], "")
	}
	why := whyOf(said, err)
	remedy := map[Why]refusal.Own{Refused: again, Gone: again,
		LoggedOut: refusal.Say("gh auth login --hostname %s", host), Limited: "try again later; gh api rate_limit says when", Offline: "try again when it answers"}[why]
	return &requestError{&refusal.RefusedError{Code: refusal.StoreError, Message: host + ": " + text, Remedy: remedy, Person: true}, why}
}

// whyOf is why a request failed, by what gh has said and how it has ended.
func whyOf(said string, err error) Why {
	code := ""
	if found := status().FindStringSubmatch(said); found != nil {
		code = found[1]
	}
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit) && exit.ExitCode() == 4, strings.Contains(said, "gh auth login"), code == "401":
		return LoggedOut
	case code == "404", code == "410":
		return Gone
	case code == "429", code == "403" && strings.Contains(strings.ToLower(said), "rate limit"):
		return Limited
	case code == "", code[0] == '5':
		return Offline
	}
	return Refused
}

// Reset returns when the requests of this login to a host count anew; the zero time if it may ask now.
func (c Client) Reset(ctx context.Context, host string) (time.Time, error) {
	var got struct {
		Resources struct {
			Core struct{ Remaining, Reset int64 }
		}
	}
	if err := c.call(ctx, host, "GET", "rate_limit", nil, &got); err != nil || got.Resources.Core.Remaining > 0 {
		return time.Time{}, err
	}
	return time.Unix(got.Resources.Core.Reset, 0), nil
}

// A Target is where a pull request of a branch is opened: in the repository itself, or in the one that it is a fork of.
type Target struct {
	Repository
	Base string // the branch into which it goes
	head string // of the branch, as the API names it there
}

// Target finds where pull requests of a branch of a repository go. base is the branch, "" for the default one.
func (c Client) Target(ctx context.Context, r Repository, branch, base string) (t Target, err error) {
	type answer struct {
		Owner         struct{ Login string }
		Name          string
		DefaultBranch string `json:"default_branch"`
		Parent        *answer
	}
	var got answer
	if err := c.call(ctx, r.Host, "GET", "repos/"+r.Owner+"/"+r.Name, nil, &got); err != nil {
		return t, err
	}
	t = Target{Repository{r.Host, got.Owner.Login, got.Name}, got.DefaultBranch, got.Owner.Login + ":" + branch}
	if got.Parent != nil {
		t.Owner, t.Name, t.Base = got.Parent.Owner.Login, got.Parent.Name, got.Parent.DefaultBranch
	}
	if base != "" {
		t.Base = base
	}
	if !t.valid() || !nameForm.MatchString(got.Owner.Login) || strings.HasPrefix(t.Base, "-") || repository.CheckName(t.Base) != nil {
		return t, wrong(again, "%s names a repository or a branch that there cannot be", r.Host)
	}
	return t, nil
}

// A PullRequest is one of a forge.
type PullRequest struct {
	Number int
	URL    string `json:"html_url"`
	Head   struct{ SHA string }
	State  string // open or closed
	Merged bool   // of one that [Client.Look] returns
}

// Open returns the open pull request of the branch, the zero one if there is none.
func (c Client) Open(ctx context.Context, t Target) (PullRequest, error) {
	var all []PullRequest
	query := "?state=open&head=" + url.QueryEscape(t.head) + "&base=" + url.QueryEscape(t.Base)
	if err := c.call(ctx, t.Host, "GET", "repos/"+t.Owner+"/"+t.Name+"/pulls"+query, nil, &all); err != nil || len(all) == 0 {
		return PullRequest{}, err
	}
	return all[0], all[0].check(t)
}

// Write opens a pull request of the branch, or gives an open one, that of a number, another title and text.
func (c Client) Write(ctx context.Context, t Target, number int, title, body string) (p PullRequest, err error) {
	fields := map[string]any{"title": title, "body": body}
	method, path := "PATCH", "/"+strconv.Itoa(number)
	if number == 0 {
		method, path = "POST", ""
		fields["head"], fields["base"] = t.head, t.Base
	}
	if err := c.call(ctx, t.Host, method, "repos/"+t.Owner+"/"+t.Name+"/pulls"+path, fields, &p); err != nil {
		return p, err
	}
	return p, p.check(t)
}

// check refuses an answer that is no pull request.
func (p *PullRequest) check(t Target) error {
	p.URL = safetext.Line(p.URL)
	if p.Number <= 0 || !repository.IsID(p.Head.SHA) {
		return wrong(again, "%s answers with something that is no pull request", t.Host)
	}
	return nil
}
