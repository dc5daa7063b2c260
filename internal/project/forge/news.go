package forge

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/ferrus-go/ferrus/internal/platform/safetext"
)

const (
	onPage   = 100
	maxPages = 10
	maxLog   = 64 << 10 // of the end of the log of a check that is read
)

// An Item is something about a pull request for which its task is worked on again.
type Item struct {
	Kind string // Check or Comment
	URL  string // where a person reads it: ferrus makes it of the number, so that it is the same in each answer
	Text string // that others wrote; its beginning counts
	End  string // that others wrote, or a program printed; its end counts

	job int64 // whose log can be asked for; 0 for none
}

// Kinds of items.
const (
	Check   = "check"   // that has failed
	Comment = "comment" // of a member, also in a review or on a line
)

// page is where a person reads about a repository of a target.
func (t Target) page(path string, args ...any) string {
	return "https://" + t.String() + "/" + fmt.Sprintf(path, args...)
}

// Page is where a person reads a pull request.
func (t Target) Page(number int) string { return t.page("pull/%d", number) }

func (t Target) path(path string, args ...any) string {
	return "repos/" + t.Owner + "/" + t.Name + "/" + fmt.Sprintf(path, args...)
}

// Look returns a pull request as it is now.
func (c Client) Look(ctx context.Context, t Target, number int) (p PullRequest, err error) {
	if err := c.call(ctx, t.Host, "GET", t.path("pulls/%d", number), nil, &p); err != nil {
		return p, err
	}
	return p, p.check(t)
}

// HasBranch reports whether a repository has a branch.
func (c Client) HasBranch(ctx context.Context, r Repository, branch string) (bool, error) {
	var ref any
	name := url.URL{Path: branch}
	err := c.call(ctx, r.Host, "GET", "repos/"+r.Owner+"/"+r.Name+"/git/ref/heads/"+name.EscapedPath(), nil, &ref)
	if WhyOf(err) == Gone {
		return false, nil
	}
	return err == nil, err
}

// News returns what has failed on the head commit of a pull request, once no check of it runs, and what members have said of it.
func (c Client) News(ctx context.Context, t Target, p PullRequest) ([]Item, error) {
	items, err := c.failing(ctx, t, p.Head.SHA)
	if err != nil {
		return nil, err
	}
	for _, in := range []struct{ path, page string }{
		{"issues/%d/comments", "#issuecomment-%d"}, {"pulls/%d/reviews", "#pullrequestreview-%d"}, {"pulls/%d/comments", "#discussion_r%d"},
	} {
		err := pages(ctx, c, t.Host, t.path(in.path, p.Number), func(said []said) int {
			for _, s := range said {
				if s.counts() {
					items = append(items, Item{Kind: Comment, URL: t.Page(p.Number) + fmt.Sprintf(in.page, s.ID), Text: s.text()})
				}
			}
			return len(said)
		})
		if err != nil {
			return nil, err
		}
	}
	return items, nil
}

// A said is a comment, a comment on a line, or a review.
type said struct {
	ID   int64
	User struct{ Login, Type string }
	By   string `json:"author_association"`
	Body string

	State string // of a review
	Path  string // of a comment on a line
	Line  int
}

// counts reports whether it is of a person who belongs to the repository, and stands. A bot is none, whatever it belongs to.
func (s said) counts() bool {
	return slices.Contains(members, s.By) && s.User.Type == "User" && !strings.HasSuffix(s.User.Login, "[bot]") &&
		s.State != "PENDING" && s.State != "DISMISSED" && !safetext.Blank(s.Body)
}

func (s said) text() string {
	by := s.User.Login
	if s.Path != "" {
		by += " on " + s.Path
	}
	if s.Line > 0 {
		by += ":" + strconv.Itoa(s.Line)
	}
	if s.State == "CHANGES_REQUESTED" {
		by += " requests changes"
	}
	return by + ":\n" + s.Body
}

// failures are the conclusions of a check, and the states of a status, by which the work has failed.
var failures = []string{"failure", "timed_out", "action_required", "startup_failure", "error"}

// failing returns the checks that have failed on a commit; none while one runs. One that waits for a person, such as a deployment, does not
// run.
func (c Client) failing(ctx context.Context, t Target, commit string) (items []Item, err error) {
	runs := false
	type checks struct {
		Runs []struct {
			ID                       int64
			Name, Status, Conclusion string
			App                      struct{ Slug string }
			Output                   struct{ Title, Summary, Text string }
		} `json:"check_runs"`
	}
	err = pages(ctx, c, t.Host, t.path("commits/%s/check-runs", commit), func(page checks) int {
		for _, r := range page.Runs {
			runs = runs || r.Status != "completed" && r.Status != "waiting"
			if !slices.Contains(failures, r.Conclusion) {
				continue
			}
			it := Item{Kind: Check, URL: t.page("runs/%d", r.ID), Text: r.Name + ": " + r.Conclusion + "\n" + r.Output.Title, End: r.Output.Summary + "\n" + r.Output.Text}
			if r.App.Slug == "github-actions" {
				it.job = r.ID // a job of Actions has the number of its check
			}
			items = append(items, it)
		}
		return len(page.Runs)
	})
	if err != nil {
		return nil, err
	}
	type combined struct {
		Statuses []struct {
			Context, State, Description string
			Target                      string `json:"target_url"`
		}
	}
	err = pages(ctx, c, t.Host, t.path("commits/%s/status", commit), func(page combined) int {
		for _, s := range page.Statuses {
			runs = runs || s.State == "pending"
			if slices.Contains(failures, s.State) {
				items = append(items, Item{Kind: Check, URL: t.page("commit/%s#%s", commit, url.QueryEscape(s.Context)),
					Text: s.Context + ": " + s.State + "\n" + s.Description + "\n" + s.Target})
			}
		}
		return len(page.Statuses)
	})
	if err != nil || runs {
		return nil, err
	}
	return items, nil
}

// pages reads a list page by page. take gets each, and returns how many are on it.
func pages[T any](ctx context.Context, c Client, host, path string, take func(page T) int) error {
	for n := 1; n <= maxPages; n++ {
		var page T
		if err := c.call(ctx, host, "GET", fmt.Sprintf("%s?per_page=%d&page=%d", path, onPage, n), nil, &page); err != nil {
			return err
		}
		if take(page) < onPage {
			return nil
		}
	}
	return nil
}

var (
	stamps = safetext.Lazily(`(?m)^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+Z ?`)
	failed = safetext.Lazily(`(?m)^##\[error\].*$`)
)

// WithLog returns an item with the end of the log of its job, if it has one and the forge gives it: up to the last error that the log names,
// without the times.
func (c Client) WithLog(ctx context.Context, t Target, it Item) Item {
	if it.job == 0 {
		return it
	}
	log := end{max: maxLog}
	if _, err := c.ask(ctx, t.Host, "GET", t.path("actions/jobs/%d/logs", it.job), nil, &log); err != nil {
		return it
	}
	text := stamps().ReplaceAllString(safetext.Output(strings.ToValidUTF8(log.String(), "?")), "")
	if all := failed().FindAllStringIndex(text, -1); len(all) > 0 {
		text = text[:all[len(all)-1][1]] // what follows cleans up
	}
	it.End += "\n" + text
	return it
}

// An end keeps the end of what is written to it, at least its last max bytes.
type end struct {
	max int
	buf []byte
}

// Write never fails.
func (e *end) Write(p []byte) (int, error) {
	e.buf = append(e.buf, p[max(0, len(p)-e.max):]...)
	if over := len(e.buf) - e.max; over > e.max {
		e.buf = append(e.buf[:0], e.buf[over:]...)
	}
	return len(p), nil
}

func (e *end) String() string { return string(e.buf[max(0, len(e.buf)-e.max):]) }
