package web_test

import (
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/ferrus-go/ferrus/internal/cli"
	"github.com/ferrus-go/ferrus/internal/engine/branch"
	"github.com/ferrus-go/ferrus/internal/engine/enginetest"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/store"
	"github.com/ferrus-go/ferrus/test/kit"
)

// made is a project whose files a person has agreed to.
func made(t testing.TB) *enginetest.Machine {
	t.Helper()
	return enginetest.Repository(t, gate).Recorded().Agreed()
}

func TestAProjectWithoutATask(t *testing.T) {
	t.Parallel()
	b := browse(t, made(t))
	b.has("/", "Nothing needs you.", "New task, now")
	b.has("/task", "There is no task here.")
	for _, view := range []string{"diff", "log", "checks", "agents", "documents"} {
		b.get("/task?view=" + view)
	}
	b.has("/history", "0 tasks")
	for _, path := range []string{"/x", "/branch/none", "/branch/..%2fx", "/run/none", "/run/%2e%2e", "/history/t-20200101-000000", "/history/..", "/task?view=x",
		"/log?name=../../ferrus.toml", "/log?name=x.log", "/output?run=x&offset=0", "/log?run=x"} {
		if resp := b.send("GET", path, nil, nil); resp.StatusCode != http.StatusNotFound && resp.StatusCode != http.StatusUnprocessableEntity &&
			resp.StatusCode != http.StatusTemporaryRedirect {
			t.Errorf("%s: %s", path, resp.Status)
		}
	}
}

// TestAFailedRehearsalIsBesideWhatItRefuses: a new task by agents, on the first page and on that of the project.
func TestAFailedRehearsalIsBesideWhatItRefuses(t *testing.T) {
	t.Parallel()
	m := made(t)
	failed := project.Rehearsal{Failed: project.SetUpFailed, At: time.Now()}
	if err := project.At(m.Dir, "").Rehearsed(failed); err != nil {
		t.Fatal(err)
	}
	b := browse(t, m)
	const why = "no run starts an agent before a rehearsal passes or you say so: ferrus init --rehearse"
	_, form, _ := strings.Cut(b.get("/"), "New task, now")
	form, _, _ = strings.Cut(form, "New task, on a branch")
	if !strings.Contains(form, why) {
		t.Errorf("the form of a new task has no %q:\n%s", why, form)
	}
	b.has("/task", why)
}

// TestAQuestionIsAnsweredOnce, on the first page, by the person who acts by the page; the same form again is refused.
func TestAQuestionIsAnsweredOnce(t *testing.T) {
	t.Parallel()
	m := made(t)
	_, ex := m.Begun()
	enginetest.Must(ex.AskHuman(t.Context(), "Which colour?", []string{"blue", "red"}))(t)
	b := browse(t, m)
	page := b.has("/", "Which colour?", "blue", "recommended", "red")
	answer := with(form(t, page, "answer"), "f.answer", "2")
	shown := b.do("/act", answer)
	if !strings.Contains(shown, "Answer: done.") {
		t.Errorf("%s", shown)
	}
	if event, via := last(t, m); event != "answer" || via != "web" {
		t.Errorf("%s by %s", event, via)
	}
	if got := enginetest.View(t, ex); got.Task.State != state.Executing {
		t.Errorf("%s", got.Task.State)
	}
	b.refused("/act", answer, http.StatusConflict, "no longer possible")
	b.has("/", "!Which colour?")
}

// TestAReview reads the patch, comments on a line, sees the comments become the rejection, rejects, and approves what comes
// next. A decision about what was replaced is refused, and its comments are shown as stale.
func TestAReview(t *testing.T) {
	t.Parallel()
	m := made(t)
	sup, ex := m.Begun()
	m.Write("code.txt", "one\n<script>alert(1)</script>\n")
	m.Write("z<img src=x onerror=alert(2)>\u202e.txt", "x\n")
	enginetest.Submitted(t, ex)
	b := browse(t, m)
	b.has("/", "Review")
	page := b.has("/task?view=diff", "code.txt", "<script>alert(1)</script>", "Your decision on s1")
	if strings.Contains(page, "<script>alert") || strings.Contains(page, "<img") || !strings.Contains(page, "z&lt;img src=x onerror=alert(2)&gt;") {
		t.Errorf("a text of the work is an element:\n%s", page)
	}
	stale := form(t, page, "approve")
	page = b.has("/task?view=diff&file=0&comment=0-n2", "Comment on line 2")
	comment := commenting(page)
	page = b.do("/draft", with(comment, "text", "Why a <b>script</b>?\r\nRemove it."))
	composed := "code.txt:2\n> <script>alert(1)</script>\n\nWhy a <b>script</b>?\nRemove it.\n"
	b.has("/task?view=diff", composed, "1 comment")
	reject := with(form(t, page, "reject"), "f.message", strings.ReplaceAll(composed, "\n", "\r\n"))
	b.do("/act", reject)
	if event, via := last(t, m); event != "reject" || via != "web" {
		t.Errorf("%s by %s", event, via)
	}
	if now := enginetest.View(t, m.Human()); enginetest.Must(store.Text(m.Engine().Store(), now, state.ReviewDoc))(t) != strings.TrimSpace(composed) {
		t.Error("the review is another text")
	}
	b.refused("/act", reject, http.StatusConflict, "no longer possible", "Remove it.")
	b.has("/task?view=diff", "!1 comment")
	b.do("/draft", with(comment, "text", "late", "from", "/task?view=diff"))

	enginetest.Claim(t, ex)
	m.Write("code.txt", "one\ntwo\n")
	enginetest.Submitted(t, ex)
	page = b.has("/task?view=diff", "Comments on s1, which was replaced", "late", "Your decision on s2", "two", "Earlier: 1 submission", "!They become the text")
	b.refused("/act", stale, http.StatusConflict, "no longer possible")
	b.do("/act", with(form(t, page, "approve"), "f.note", "well done"))
	if got := enginetest.View(t, sup); got.Task.State != state.Complete {
		t.Errorf("%s", got.Task.State)
	}
	b.has("/task?view=log", "approve", "well done", "(via web)")
}

// TestACommitDuringATaskIsShownToTheReviewer: the notice names both commits, and the diff has the files that are in commits apart.
func TestACommitDuringATaskIsShownToTheReviewer(t *testing.T) {
	m := enginetest.Repository(t, enginetest.Gate("true"))
	_, ex := m.Begun()
	m.Write("work.txt", "of the executor\n")
	b := browse(t, m)
	b.has("/task?view=diff", "work.txt", "!Between the commits", "!in a commit")
	m.Write("other.txt", "of a person\n")
	m.Git("add", "other.txt")
	m.Git("commit", "-qm", "other")
	b.has("/task", "head: 1 commit on ")
	enginetest.Submitted(t, ex)
	page := b.has("/task?view=diff", "HEAD has moved", "1 commit on ", "Between the commits", "other.txt", "of a person", "of the executor", "Your decision on s1")
	if n := strings.Count(page, "in a commit"); n != 1 {
		t.Errorf("%d files are marked as committed", n)
	}
}

// TestAnAnswerOnThePageContinuesTheRun: a run has ended with a question, because its agents fail. The answer starts it again as a
// process of its own; its agents fail again.
func TestAnAnswerOnThePageContinuesTheRun(t *testing.T) {
	if kit.Quick() {
		t.Skip("it starts agents that fail")
	}
	m := enginetest.Repository(t, gate+"[hq.supervisor]\nagent = \"command\"\ncommand = \"false\"\n[hq.executor]\nagent = \"command\"\ncommand = \"false\"\n").Recorded().Agreed()
	enginetest.Must(m.Human().CreateTask(t.Context(), "Do it.", ""))(t)
	self := enginetest.Must(os.Executable())(t)
	run := exec.Command(self, "--root", m.Dir, "resume", "--headless")
	if out, _ := run.CombinedOutput(); run.ProcessState.ExitCode() != cli.ExitPerson {
		t.Fatalf("exit %d\n%s", run.ProcessState.ExitCode(), out)
	}
	agents := func() int {
		return strings.Count(string(enginetest.Must(os.ReadFile(m.Path(".ferrus/runs/"+enginetest.View(t, m.Human()).Task.TaskID+".jsonl")))(t)), "\n")
	}
	before := agents()
	b := browse(t, m)
	page := b.do("/act", with(form(t, b.get("/task"), "answer"), "f.answer", "go on"))
	if !strings.Contains(page, "continued") {
		t.Errorf("the page does not say that it continues:\n%s", page)
	}
	for until := time.Now().Add(time.Minute); enginetest.View(t, m.Human()).Task.Issued.Questions < 2; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(until) {
			t.Fatal("the run was not continued")
		}
	}
	if agents() <= before {
		t.Error("no agent was started")
	}
}

// TestWhatIsLostIsAskedFor before it happens, and the answer must be yes.
func TestWhatIsLostIsAskedFor(t *testing.T) {
	t.Parallel()
	m := made(t)
	_, ex := m.Begun()
	b := browse(t, m)
	reset := with(form(t, b.has("/task", "The task is abandoned and archived."), "reset"), "f.note", "wrong <i>idea</i>", "sure", "")
	resp := b.send("POST", "/act", reset, nil)
	page := read(t, resp)
	if resp.StatusCode != http.StatusOK || !strings.Contains(page, "The task is abandoned and archived.") {
		t.Fatalf("%s\n%s", resp.Status, page)
	}
	if got := enginetest.View(t, ex); got.Task.State != state.Executing {
		t.Fatalf("%s before it was confirmed", got.Task.State)
	}
	id := enginetest.View(t, ex).Task.TaskID
	if got := b.send("GET", "/history/"+id, nil, nil).Header.Get("Location"); got != "/task" {
		t.Errorf("the present task is at %s", got)
	}
	b.do("/act", with(form(t, page, "reset"), "sure", "yes"))
	b.has("/history", "Build it.", "abandoned")
	b.has("/history?q=build+ABAND", "Build it.")
	b.has("/history?q=other", "!Build it.", "0 tasks")
	b.has("/history/"+id, "Build it.", "abandoned", "TASK.md", "!gate.json")
}

// TestFormsThatTheListHasNot are refused: a command is never taken from the form.
func TestFormsThatTheListHasNot(t *testing.T) {
	t.Parallel()
	m := made(t)
	m.Reviewing()
	b := browse(t, m)
	good := form(t, b.get("/task?view=diff"), "approve")
	change := func(pairs ...string) url.Values {
		copied := url.Values{}
		for k, v := range good {
			copied[k] = v
		}
		return with(copied, pairs...)
	}
	for name, c := range map[string]struct {
		form   url.Values
		status int
	}{
		"another command":    {change("args", `["reset","--yes"]`), http.StatusConflict},
		"another task":       {change("task", "t-20200101-000000"), http.StatusConflict},
		"another submission": {change("args", strings.Replace(good.Get("args"), "s1", "s2", 1)), http.StatusConflict},
		"another root":       {change("args", strings.Replace(good.Get("args"), `["`, `["--root","/","`, 1)), http.StatusConflict},
		"no arguments":       {change("args", ""), http.StatusUnprocessableEntity},
		"no list":            {change("args", `{"a":1}`), http.StatusUnprocessableEntity},
		"another name":       {change("act", "reset"), http.StatusConflict},
		"another place":      {change("place", "project"), http.StatusConflict},
		"no place":           {change("place", ""), http.StatusNotFound},
		"no such branch":     {change("place", "branch:x"), http.StatusNotFound},
		"no such run":        {change("place", "run:.."), http.StatusNotFound},
		"no form token":      {change("token", ""), http.StatusForbidden},
		"two lines":          {change("f.note", "a\nb"), http.StatusUnprocessableEntity},
	} {
		if resp := b.send("POST", "/act", c.form, nil); resp.StatusCode != c.status {
			t.Errorf("%s: %s\n%s", name, resp.Status, read(t, resp))
		}
	}
	for _, from := range []string{"//evil.example", "https://evil.example", "https://evil.example/x", `/\evil.example`, "javascript:alert(1)", "x"} {
		d := change("from", from, "branch", "", "task", "t-20260101-000000", "submission", "s1", "path", "a", "line", "n1", "text", "x")
		if got := b.send("POST", "/draft", d, nil).Header.Get("Location"); got != "/" {
			t.Errorf("%s leads to %s", from, got)
		}
	}
	if event, _ := last(t, m); event != "submit" {
		t.Errorf("%s happened", event)
	}
	b.do("/act", good)
}

// TestTheStoryBeginsWithTheNewest entry, and shows where branches begin.
func TestTheStoryBeginsWithTheNewest(t *testing.T) {
	m := made(t)
	enginetest.Must(m.Human().CreateTask(t.Context(), "A way.", ""))(t)
	enginetest.Branched(t, m.Human(), branch.Fork{Names: []string{"side"}})
	ex := m.Executor("codex")
	enginetest.Claim(t, ex)
	enginetest.Must(ex.AskHuman(t.Context(), "Which <b>way</b>?", nil))(t)
	enginetest.Claim(t, m.On("side").Executor("codex"))
	b := browse(t, m)

	for _, view := range []string{"/task", "/task?view=log"} {
		page := b.get(view)
		order := []string{`<strong>Codex</strong>: asked you`, `<strong>you</strong>: created`, `<p class="fork"><a href="/branch/side">side</a>`}
		at := 0
		for _, want := range order {
			i := strings.Index(page[at:], want)
			if i < 0 {
				t.Fatalf("%s: no %q after what is newer:\n%s", view, want, page)
			}
			at += i
		}
		if n := strings.Count(page, `class="fork"`); n != 1 {
			t.Errorf("%s: %d branches leave", view, n)
		}
	}
	if page := b.get("/branch/side?view=log"); strings.Contains(page, `class="fork"`) || strings.Count(page, ` shared"`) != 1 {
		t.Errorf("what the branch has in common is not marked, or it leaves itself:\n%s", page)
	}
}
