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
	"github.com/ferrus-go/ferrus/test/kit"
)

// night is a project in which each kind of need waits, with its page.
func night(t *testing.T) (dir string, app *cli.App, b *browser) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir, err = filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	dir = filepath.Join(dir, "shop")
	if out, err := exec.Command(self, "demo", "--night", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	app = &cli.App{In: strings.NewReader(""), Out: io.Discard, Err: io.Discard}
	b = browse(t, &enginetest.Machine{T: t, Dir: dir})
	b.opens = app.OpenToReadAt
	return dir, app, b
}

// A move is one thing that a person does to settle a need: it presses what a selector finds, in the row of the need or on the page that
// followed, or writes there.
type move struct{ press, on, write string }

// settling are the moves that settle each kind of need.
var settling = map[status.NeedKind][]move{
	status.NeedAnswer:    {{press: ".opts button"}},
	status.NeedBudget:    {{press: `details:has([value="answer"]) > summary`}, {write: `details[open] [name="f.answer"]`}, {press: "details[open] form button"}},
	status.NeedConflict:  {{press: `form:has([value="resolve"]) button`}},
	status.NeedDelivery:  {{press: ".do a"}, {on: `form:has([value="deliver-confirm"]) button`}},
	status.NeedReview:    {{press: ".do a"}, {on: `#decide form:has([value="approve"]) button`}},
	status.NeedFailed:    {{press: `details:has([value="reopen"]) > summary`}, {write: `details[open] [name="f.message"]`}, {press: "details[open] form button"}},
	status.NeedAgreement: {{press: `form:has([value="accept"]) button`}},
	status.NeedStopped:   {{press: `form:has([value="resume"]) button`}},
	status.NeedChoice:    {{press: ".pop > summary"}, {press: ".pop form button"}},
}

// TestAMorningIsSettledOnAPhone by a person who reads only the page, each need by at most two clicks.
func TestAMorningIsSettledOnAPhone(t *testing.T) {
	t.Parallel()
	s := chromium(t)
	s.settle(t, 390)
}

// TestAMorningIsSettledByKeys alone: what is pressed and written in is reached by the tab key.
func TestAMorningIsSettledByKeys(t *testing.T) {
	t.Parallel()
	s := chromium(t)
	s.keys = true
	s.settle(t, 1280)
}

// settle settles each need of a night by at most two presses.
func (s *screen) settle(t *testing.T, width int64) {
	dir, app, b := night(t)
	overview := func() *status.Overview {
		t.Helper()
		v, err := status.ReadOverview(t.Context(), dir, status.Options{Open: app.OpenToReadAt, Newest: 10, Sizes: true})
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	first := overview()
	t.Cleanup(func() { // what the answers have started
		for _, m := range first.Machines {
			stop(t, dir, m.Branch)
		}
	})
	s.logIn(b)
	s.size(width, 844, "light")
	needs := first.Needs
	order := []status.NeedKind{status.NeedAnswer, status.NeedAgreement} // the project's own task is in the way of a merge, and a run of what it asks about
	slices.SortStableFunc(needs, func(a, b status.Need) int { return slices.Index(order, b.Kind) - slices.Index(order, a.Kind) })
	for _, n := range needs {
		moves := settling[n.Kind]
		if moves == nil {
			t.Errorf("nothing settles %s", n.ID)
			continue
		}
		if n.Kind == status.NeedChoice {
			kit.Eventually(t, "the project's own task is over", func() bool {
				v := overview()
				return v.Machines[slices.IndexFunc(v.Machines, func(m status.Machine) bool { return m.Branch == "" })].State.Over()
			})
		}
		s.open(b.origin + "/")
		row := fmt.Sprintf(`li.need[id$="-%s"] `, n.Branch)
		if n.Run != "" {
			row = fmt.Sprintf(`li.need[id$="-run-%s"] `, n.Run)
		}
		clicks := 0
		for _, m := range moves {
			switch {
			case m.write != "":
				s.write(row+m.write, "Go on.")
				continue
			case m.press != "":
				s.press(row + m.press)
			default:
				s.press(m.on)
			}
			clicks++
		}
		s.sees(": done.")
		if clicks > 2 {
			t.Errorf("%s takes %d clicks", n.ID, clicks)
		}
		kit.Eventually(t, n.ID+" is settled", func() bool {
			return !slices.ContainsFunc(overview().Needs, func(now status.Need) bool { return now.ID == n.ID })
		})
	}
}

// TestAMorning looks at a project in which each kind of need waits: all of them are on the first page, each with a page of its
// own. axe finds nothing on any page.
func TestAMorning(t *testing.T) {
	t.Parallel()
	s := chromium(t)
	dir, app, b := night(t)
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
	for width, most := range map[int64]int64{1280: 1300, 390: 3300} {
		s.size(width, 844, "light")
		if got := s.tall(); got > most {
			t.Errorf("%d needs and the work beside them are %d pixels tall at %d, more than %d", len(v.Needs), got, width, most)
		}
	}
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

	choice := v.Needs[slices.IndexFunc(v.Needs, func(n status.Need) bool { return n.Kind == status.NeedChoice })]
	s.open(b.origin + "/compare/" + choice.Options[0])
	s.sees("What differs between two")
	s.run("two", chromedp.SetValue("#to", choice.Options[1], chromedp.ByQuery))
	s.press(".between button")
	s.sees(fmt.Sprintf("From %s to %s", choice.Options[0], choice.Options[1]))
	s.accessible("a comparison")
	s.picture("web-compare", 1280, 800, "light")
}
