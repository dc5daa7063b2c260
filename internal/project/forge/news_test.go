package forge

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// answers is a client that answers each path with a text, and all others with an empty list; FAIL fails.
func answers(t *testing.T, by map[string]string) Client {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the client is a shell script")
	}
	dir := t.TempDir()
	program, text := filepath.Join(dir, "gh"), "#!/bin/sh\nfor path; do :; done\ncase $path in\n"
	for path, answer := range by {
		file := filepath.Join(dir, fmt.Sprintf("%x", path))
		if err := os.WriteFile(file, []byte(answer), 0o600); err != nil {
			t.Fatal(err)
		}
		does := "cat " + file
		if answer == "FAIL" {
			does = "exit 1"
		}
		text += "'repos/me/p/" + path + "') " + does + ";;\n"
	}
	if err := os.WriteFile(program, []byte(text+"*check-runs*|*status*) echo '{}';;\n*) echo '[]';;\nesac\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	return Client{program: program}
}

const (
	sha      = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	runsPath = "commits/" + sha + "/check-runs?per_page=100&page=1"
	statPath = "commits/" + sha + "/status?per_page=100&page=1"
)

// TestFailedChecksAreNewsOnceNoneRuns, whatever they are called.
func TestFailedChecksAreNewsOnceNoneRuns(t *testing.T) {
	run := func(id int, status, conclusion string) string {
		return fmt.Sprintf(`{"id":%d,"name":"t","status":%q,"conclusion":%q}`, id, status, conclusion)
	}
	stat := func(context, state string) string { return fmt.Sprintf(`{"context":%q,"state":%q}`, context, state) }
	for _, c := range []struct {
		runs, statuses []string
		want           string
	}{
		{nil, nil, ""},
		{[]string{run(1, "completed", "failure"), run(2, "completed", "success")}, nil, "runs/1"},
		{[]string{run(1, "completed", "timed_out"), run(2, "completed", "action_required"), run(3, "completed", "startup_failure")}, nil, "runs/1 runs/2 runs/3"},
		{[]string{run(1, "completed", "neutral"), run(2, "completed", "cancelled"), run(3, "completed", "skipped")}, nil, ""},
		{[]string{run(1, "completed", "failure"), run(2, "in_progress", "")}, nil, ""},
		{[]string{run(1, "completed", "failure"), run(2, "queued", "")}, nil, ""},
		{[]string{run(1, "completed", "failure"), run(2, "waiting", "")}, nil, "runs/1"},
		{[]string{run(1, "completed", "failure")}, []string{stat("ci", "pending")}, ""},
		{[]string{run(1, "in_progress", "")}, []string{stat("ci", "failure")}, ""},
		{nil, []string{stat("ci/a b", "failure"), stat("x", "error"), stat("y", "success")}, "commit/" + sha + "#ci%2Fa+b commit/" + sha + "#x"},
	} {
		client := answers(t, map[string]string{runsPath: `{"check_runs":[` + strings.Join(c.runs, ",") + `]}`, statPath: `{"statuses":[` + strings.Join(c.statuses, ",") + `]}`})
		p := PullRequest{Number: 7}
		p.Head.SHA = sha
		items, err := client.News(t.Context(), target, p)
		var got []string
		for _, it := range items {
			got = append(got, strings.TrimPrefix(it.URL, "https://github.com/me/p/"))
		}
		if strings.Join(got, " ") != c.want || err != nil {
			t.Errorf("%v %v: %q, want %q, %v", c.runs, c.statuses, got, c.want, err)
		}
	}
}

// TestNewsAreOnAllPages, and what cannot be asked is an error, not silence.
func TestNewsAreOnAllPages(t *testing.T) {
	said := func(from, to int) string {
		var all []string
		for i := from; i <= to; i++ {
			all = append(all, fmt.Sprintf(`{"id":%d,"user":{"login":"ann","type":"User"},"author_association":"OWNER","body":"x"}`, i))
		}
		return "[" + strings.Join(all, ",") + "]"
	}
	p := PullRequest{Number: 7}
	p.Head.SHA = sha
	pages := map[string]string{"issues/7/comments?per_page=100&page=1": said(1, 100), "issues/7/comments?per_page=100&page=2": said(101, 103),
		"pulls/7/reviews?per_page=100&page=1": said(201, 201), "pulls/7/comments?per_page=100&page=1": said(301, 301)}
	items, err := answers(t, pages).News(t.Context(), target, p)
	has := func(url string) bool {
		return slices.ContainsFunc(items, func(it Item) bool { return it.URL == target.Page(7)+url })
	}
	if err != nil || len(items) != 105 || !has("#issuecomment-103") || !has("#pullrequestreview-201") || !has("#discussion_r301") {
		t.Errorf("%d items, %v", len(items), err)
	}
	for path := range pages {
		if _, err := answers(t, map[string]string{path: "FAIL"}).News(t.Context(), target, p); (err == nil) != strings.HasSuffix(path, "2") || err != nil && WhyOf(err) != Offline {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// TestTheLogOfAJobEndsWithItsError, without colours and times; no log is no error.
func TestTheLogOfAJobEndsWithItsError(t *testing.T) {
	const at = "2026-01-01T00:00:00.0000000Z "
	log := at + "\x1b[36mgo test\x1b[0m\n" + at + "FAIL\n" + at + "##[error]exit code 1\n" + at + "Post job\n"
	for answer, want := range map[string]string{log: "s\ngo test\nFAIL\n##[error]exit code 1", at + "a\n": "s\na\n", "FAIL": "s"} {
		client := answers(t, map[string]string{"actions/jobs/5/logs": answer})
		if got := client.WithLog(t.Context(), target, Item{End: "s", job: 5}); got.End != want {
			t.Errorf("%q, want %q", got.End, want)
		}
	}
	if got := (Client{}).WithLog(t.Context(), target, Item{End: "s"}); got.End != "s" {
		t.Errorf("%q", got.End)
	}
}
