package forge

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

const (
	perSearch   = 20 // of the longest issues so many fit into an answer
	maxSearched = 50 // pages: GitHub finds a thousand
)

// A Search finds open issues of one repository.
type Search struct {
	Repository
	query string
}

// SearchFor returns the search that a person writes as GitHub has it, such as "label:bug". It is one of the repository here, or of that which a word
// repo:OWNER/NAME names, at the host of here.
func SearchFor(query string, here func() (Repository, error)) (s Search, err error) {
	words := strings.Fields(query)
	if len(words) == 0 {
		return s, fmt.Errorf("the search has no words")
	}
	own, err := here()
	var named []string
	for _, word := range words {
		if rest, ok := strings.CutPrefix(strings.ToLower(word), "repo:"); ok {
			named = append(named, word[len(word)-len(rest):])
		}
	}
	switch len(named) {
	case 0:
		if err != nil {
			return s, err
		}
		s.Repository = own
		words = append(words, "repo:"+own.Owner+"/"+own.Name)
	case 1:
		if err != nil {
			own.Host = "github.com"
		}
		owner, name, _ := strings.Cut(named[0], "/")
		if s.Repository = (Repository{own.Host, owner, name}); !s.valid() {
			return s, fmt.Errorf("%q is not repo:OWNER/NAME", "repo:"+named[0])
		}
	default:
		return s, fmt.Errorf("it names %d repositories, and a search is one of a single one", len(named))
	}
	for _, word := range []string{"is:issue", "is:open"} {
		if !slices.Contains(words, word) {
			words = append(words, word)
		}
	}
	s.query = strings.Join(words, " ")
	return s, nil
}

// Search returns a page of what a search finds, from 1 on, the oldest issue first, and how many more it finds on the pages after that. Whatever the
// search says, these are open issues of its repository, and no pull requests.
func (c Client) Search(ctx context.Context, s Search, page int) (found []Issue, more int, err error) {
	var got struct {
		Total int `json:"total_count"`
		Items []struct {
			Number      int
			State       string
			Of          string    `json:"repository_url"`
			PullRequest *struct{} `json:"pull_request"`
		}
	}
	query := url.Values{"q": {s.query}, "sort": {"created"}, "order": {"asc"}, "per_page": {strconv.Itoa(perSearch)}, "page": {strconv.Itoa(page)}}
	if err := c.call(ctx, s.Host, "GET", "search/issues?"+query.Encode(), nil, &got); err != nil {
		return nil, 0, err
	}
	of := strings.ToLower("/repos/" + s.Owner + "/" + s.Name)
	for _, it := range got.Items {
		if it.Number > 0 && it.State == "open" && it.PullRequest == nil && strings.HasSuffix(strings.ToLower(it.Of), of) {
			found = append(found, Issue{s.Repository, it.Number})
		}
	}
	if page == maxSearched || len(got.Items) == 0 {
		return found, 0, nil
	}
	return found, max(0, got.Total-page*perSearch), nil
}

// Closing returns the line by which a pull request into a repository closes the issue of a URL when it is merged. It is "" for no issue, and for one of
// another host.
func Closing(issue string, in Repository) string {
	i, err := IssueAt(issue, func() (Repository, error) { return Repository{}, fmt.Errorf("%q is no URL", issue) })
	switch {
	case err != nil || !strings.EqualFold(i.Host, in.Host):
		return ""
	case i.Same(in):
		return fmt.Sprintf("Closes #%d", i.Number)
	}
	return fmt.Sprintf("Closes %s/%s#%d", i.Owner, i.Name, i.Number)
}
