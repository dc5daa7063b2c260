package forge

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// TestASearchIsOneOfOneRepository: that of origin, or the one that it names, and nothing of it is another argument.
func TestASearchIsOneOfOneRepository(t *testing.T) {
	origin := func() (Repository, error) { return Repository{"forge.example", "me", "p"}, nil }
	none := func() (Repository, error) { return Repository{}, errors.New("no origin") }
	for query, want := range map[string]string{
		"label:ferrus":                 "forge.example/me/p: label:ferrus repo:me/p is:issue is:open",
		" is:open  label:\"a b\" ":     "forge.example/me/p: is:open label:\"a b\" repo:me/p is:issue",
		"repo:You/q is:issue":          "forge.example/You/q: repo:You/q is:issue is:open",
		"REPO:you/q":                   "forge.example/you/q: REPO:you/q is:issue is:open",
		"--hostname=evil.example -X":   "forge.example/me/p: --hostname=evil.example -X repo:me/p is:issue is:open",
		"repo:you/q repo:me/p":         "",
		"repo:you":                     "",
		"repo:you/q/../../me/p":        "",
		"repo:you/..":                  "",
		"repo:\"you/q\"":               "",
		"repo:https://evil.example/q ": "",
		"":                             "",
		" \n":                          "",
	} {
		s, err := SearchFor(query, origin)
		if got := s.String() + ": " + s.query; (err == nil) != (want != "") || err == nil && got != want {
			t.Errorf("%q is %s, %v; want %s", query, got, err, want)
		}
	}
	if s, err := SearchFor("repo:you/q", none); err != nil || s.String() != "github.com/you/q" {
		t.Errorf("without an origin: %v, %v", s, err)
	}
	if _, err := SearchFor("label:x", none); err == nil {
		t.Error("a search of no repository")
	}
}

// TestASearchFindsOpenIssues of its repository, whatever the forge answers.
func TestASearchFindsOpenIssues(t *testing.T) {
	item := func(number int, state, of, more string) string {
		return fmt.Sprintf(`{"number":%d,"state":"%s","repository_url":"https://api.github.com/repos/%s"%s}`, number, state, of, more)
	}
	answer := `{"total_count":45,"items":[` + strings.Join([]string{item(3, "open", "Me/P", ""), item(4, "closed", "me/p", ""), item(5, "open", "evil/p", ""),
		item(6, "open", "me/p", `,"pull_request":{}`), item(0, "open", "me/p", ""), item(-7, "open", "me/p", ""), item(8, "open", "me/p", `,"pull_request":null`)}, ",") + `]}`
	s, err := SearchFor("x", func() (Repository, error) { return Repository{"github.com", "me", "p"}, nil })
	if err != nil {
		t.Fatal(err)
	}
	for page, rest := range map[int]int{1: 25, 2: 5, 3: 0, maxPages: 0} {
		found, more, err := says(t, answer, 0).Search(t.Context(), s, page)
		if err != nil || len(found) != 2 || found[0].URL() != "https://github.com/me/p/issues/3" || found[1].Number != 8 || more != rest {
			t.Errorf("page %d: %v and %d more, %v", page, found, more, err)
		}
	}
	if found, more, err := says(t, `{"total_count":45,"items":[]}`, 0).Search(t.Context(), s, 1); err != nil || len(found) != 0 || more != 0 {
		t.Errorf("a page of nothing: %v and %d more, %v", found, more, err)
	}
	if _, _, err := says(t, `[]`, 0).Search(t.Context(), s, 1); err == nil {
		t.Error("a list is taken for the answer to a search")
	}
}

// TestAPullRequestClosesTheIssue of the URL, on its own host.
func TestAPullRequestClosesTheIssue(t *testing.T) {
	in := Repository{"github.com", "me", "p"}
	for issue, want := range map[string]string{
		"https://github.com/me/p/issues/42":     "Closes #42",
		"https://GitHub.com/Me/P/issues/42":     "Closes #42",
		"https://github.com/you/q/issues/7":     "Closes you/q#7",
		"https://forge.example/me/p/issues/42":  "",
		"https://github.com/me/p/pull/42":       "",
		"https://github.com/me/p/issues/42\n#1": "",
		"42":                                    "",
		"":                                      "",
	} {
		if got := Closing(issue, in); got != want {
			t.Errorf("%q is %q, want %q", issue, got, want)
		}
	}
}
