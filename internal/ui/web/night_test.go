package web_test

import (
	"fmt"
	"html"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/ferrus-go/ferrus/internal/cli"
	"github.com/ferrus-go/ferrus/internal/engine/enginetest"
	"github.com/ferrus-go/ferrus/internal/status"
)

// TestAMorning looks at a project in which each kind of need waits: all of them are on the first page, each with a page of its
// own, and a person settles some of them with the browser. axe finds nothing on any page.
func TestAMorning(t *testing.T) {
	s := chromium(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	dir = filepath.Join(dir, "shop")
	if out, err := exec.Command(self, "demo", "--night", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	app := &cli.App{In: strings.NewReader(""), Out: io.Discard, Err: io.Discard}
	b := browse(t, &enginetest.Machine{T: t, Dir: dir})
	b.opens = app.OpenToReadAt
	s.logIn(b)
	v, err := status.ReadOverview(t.Context(), dir, status.Options{Open: app.OpenToReadAt, Newest: 10, Sizes: true})
	if err != nil {
		t.Fatal(err)
	}
	if len(v.Needs) < 9 || len(v.Pipelines) == 0 || len(v.Queue) == 0 || len(v.Archived) == 0 || len(v.Finished) == 0 {
		t.Fatalf("%d needs, %d runs, %d in the queue, %d archived tasks, %d archived runs", len(v.Needs), len(v.Pipelines), len(v.Queue), len(v.Archived), len(v.Finished))
	}
	overview := b.get("/")
	for _, n := range v.Needs {
		s.sees(n.Text)
		if !strings.Contains(html.UnescapeString(overview), "<code>"+n.Command+"</code>") {
			t.Errorf("the command of %s is not there: %s", n.ID, n.Command)
		}
		if n.Kind == status.NeedChoice {
			s.sees(fmt.Sprintf("Compare %d", len(n.Options)))
		}
	}
	s.accessible("the morning")
	s.picture("web-overview", 1280, 800, "light")
	s.picture("web-overview-phone", 390, 844, "dark")

	for _, m := range v.Machines {
		page := "/task"
		if m.Branch != "" {
			page = "/branch/" + m.Branch
		}
		for _, view := range []string{"", "?view=diff", "?view=log", "?view=checks", "?view=agents", "?view=documents"} {
			text := b.get(page + view)
			if !strings.Contains(text, "<h1>") {
				t.Errorf("%s%s: %s", page, view, text)
			}
		}
		s.open(b.origin + page)
		s.sees(m.TaskID)
		s.accessible(page)
	}
	for _, run := range []string{v.Pipelines[0].Run, v.Finished[0].Run} {
		s.open(b.origin + "/run/" + run)
		s.sees("Phases")
		s.accessible("the run " + run)
	}
	s.picture("web-pipeline", 1280, 800, "light")
	s.open(b.origin + "/history")
	s.sees(v.Archived[0].Title)
	s.accessible("the history")

	review := v.Needs[slices.IndexFunc(v.Needs, func(n status.Need) bool { return n.Kind == status.NeedReview })]
	s.open(b.origin + "/")
	s.follow(review.Title)
	s.sees("Your decision on")
	s.accessible("a diff")
	s.picture("web-diff", 1280, 800, "light")
	s.size(390, 844, "light")
	s.press(`tr.add a[aria-label^="Comment on line"]`)
	s.write("#comment", "Say what the package is for.")
	s.press(`.comment form button`)
	s.sees("They become the text of the rejection.")
	s.run("scroll", scrollTo(".comment"))
	s.picture("web-review-phone", 390, 844, "light")
	s.size(1280, 900, "light")
	s.press("#decide form:has([name=act][value=approve]) button")
	s.sees("Approve: done.")

	choice := v.Needs[slices.IndexFunc(v.Needs, func(n status.Need) bool { return n.Kind == status.NeedChoice })]
	s.open(b.origin + "/compare/" + choice.Options[0])
	s.sees("What differs between two")
	s.run("two", chromedp.SetValue("#to", choice.Options[1], chromedp.ByQuery))
	s.press(".between button")
	s.sees(fmt.Sprintf("From %s to %s", choice.Options[0], choice.Options[1]))
	s.accessible("a comparison")
	s.picture("web-compare", 1280, 800, "light")
	s.size(390, 844, "dark")
	s.accessible("a comparison on a phone")
	s.size(1280, 900, "light")

	question := v.Needs[slices.IndexFunc(v.Needs, func(n status.Need) bool { return n.Kind == status.NeedAnswer })]
	s.open(b.origin + "/")
	s.press(`.opts button`)
	s.sees("Answer: done.")
	now, err := status.ReadOverview(t.Context(), dir, status.Options{Open: app.OpenToReadAt, Newest: 10, Sizes: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range now.Needs {
		if n.ID == question.ID || n.ID == review.ID {
			t.Errorf("%s still needs the person", n.ID)
		}
	}
}
