package main

import (
	"fmt"
	"net/http"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

type object = map[string]any

// issueAnswer is the answer to a search for issues, to a question about one that the stand-in finds, and to the merge of a pull request; status 0 for
// another request. A search that does not end as ferrus has to end it is refused.
func (f *standIn) issueAnswer(r *http.Request) (status int, out any) {
	repo, rest, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/repos/"), "/issues/")
	number, _ := strconv.Atoi(strings.TrimSuffix(rest, "/comments"))
	switch path := r.URL.Path; {
	case path == "/search/issues":
		return f.search(r)
	case strings.HasSuffix(path, "/merge") && r.Method == "PUT":
		return f.merge(strings.TrimSuffix(strings.TrimPrefix(path, "/repos/me/p/pulls/"), "/merge"))
	case number == 7 && strings.HasSuffix(path, "/comments"):
		return 200, []any{object{"user": object{"login": "ann"}, "author_association": "MEMBER", "body": "A name is one word."}}
	case number == 7:
		state := "open"
		for _, p := range f.pulls {
			if p["merged"] != nil && strings.Contains(p["body"].(string), "\nCloses #7\n") {
				state = "closed"
			}
		}
		return 200, object{"title": "Greet a person by name", "body": "hello.sh says hello to nobody.\n\nsh hello.sh Ada is to print: Hello, Ada", "labels": []any{object{"name": "ferrus"}}, "state": state}
	case number == 45 || number >= 100 && number < 160 || repo == "other/q" && number == 5:
		if strings.HasSuffix(path, "/comments") {
			return 200, []any{}
		}
		return 200, object{"title": fmt.Sprint("pipeline: ", number), "body": "Do it."}
	case number == 8:
		return 200, object{"title": "A change", "pull_request": object{}}
	}
	return 0, nil
}

func (f *standIn) search(r *http.Request) (int, any) {
	q, items := r.URL.Query(), []object{}
	repo, words, own := "", "", 0
	for word := range strings.FieldsSeq(q.Get("q")) {
		switch at, ok := strings.CutPrefix(word, "repo:"); {
		case ok && repo == "":
			repo = at
		case word == "is:issue" || word == "is:open":
			own++
		default:
			words += " " + word
		}
	}
	if words = strings.TrimSpace(words); repo == "" || own != 2 {
		return 422, object{"message": "Validation Failed: " + q.Get("q")}
	}
	found := func(of, state string, numbers ...int) {
		for _, n := range numbers {
			items = append(items, object{"number": n, "state": state, "repository_url": "http://api.github.localhost/repos/" + of})
		}
	}
	switch {
	case repo == "other/q":
		found(repo, "open", 5)
	case words == "label:ferrus --hostname=evil.example":
		found(repo, "open", 42, 43, 45)
		found(repo, "closed", 46)
		found("evil/p", "open", 47)
		items = append(items, object{"number": 8, "state": "open", "repository_url": "http://api.github.localhost/repos/me/p", "pull_request": object{}})
	case words == "label:many":
		for n := range 60 {
			found(repo, "open", 100+n)
		}
	}
	page, _ := strconv.Atoi(q.Get("page"))
	size, _ := strconv.Atoi(q.Get("per_page"))
	from := min((page-1)*size, len(items))
	return 200, object{"total_count": len(items), "items": items[from:min(from+size, len(items))]}
}

// merge merges a pull request into main, as the button on its page does.
func (f *standIn) merge(number string) (int, any) {
	git := func(args ...string) string {
		out, err := exec.Command("git", append([]string{"--git-dir", filepath.Join(f.dir, "host.git"), "-c", "user.name=me", "-c", "user.email=me@example.com"}, args...)...).Output()
		if err != nil {
			panic(err)
		}
		return strings.TrimSpace(string(out))
	}
	for _, p := range f.pulls {
		if fmt.Sprint(p["number"]) == number {
			_, branch, _ := strings.Cut(p["label"].(string), ":")
			p["merged"] = git("commit-tree", branch+"^{tree}", "-p", "main", "-p", branch, "-m", "Merge pull request #"+number+" from me/"+branch)
			git("update-ref", "refs/heads/main", p["merged"].(string))
			return 200, object{"merged": true, "message": "Pull Request successfully merged"}
		}
	}
	return 404, object{"message": "Not Found"}
}
