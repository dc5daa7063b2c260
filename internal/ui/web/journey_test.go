package web_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/ferrus-go/ferrus/internal/engine/enginetest"
	"github.com/ferrus-go/ferrus/internal/state"
)

// hostile is text that would be a script if a page did not escape it.
const hostile = `<script>window.hacked=1</script><img src=x onerror="window.hacked=1">"'` + "`" + `{{.Token}}`

// work is what the scripted executor does: it asks once, then writes bad work, and after a rejection good work.
const work = `if [ ! -e ../side/asked ]; then : > ../side/asked; echo 'Which colour? ` + "`" + `<script>window.hacked=1</script>'; exit 1; fi
cat > ../side/input
if grep -q 'Use a constant' ../side/input; then printf 'package a\n\nconst colour = "blue"\n' > a.go; echo 'Used a constant.'
else printf 'package a\n\n// <script>window.hacked=1</script>\nvar colour = "blue"\n' > a.go; echo 'Painted it <img src=x onerror=window.hacked=1>.'; fi
`

// TestAPersonWorksWithABrowser starts a real run from the page, answers, reads the diff, comments, rejects, sees the update and
// approves, at both sizes; axe finds nothing on any page.
func TestAPersonWorksWithABrowser(t *testing.T) {
	s := chromium(t)
	agent := filepath.Join(t.TempDir(), "scripted")
	if out, err := exec.Command("go", "build", "-o", agent, "../../../docs/examples/scripted").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	side := t.TempDir()
	more := filepath.Join(side, "more")
	if err := os.WriteFile(filepath.Join(side, "review.sh"), []byte("echo 'reading <b>the patch</b>'; while [ ! -e "+more+" ]; do sleep 0.05; done\n"+
		"echo 'a second look <script>window.hacked=1</script>'; exec sleep 600\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	m := enginetest.Repository(t, gate+"\n[hq.supervisor]\nagent = \"command\"\ncommand = \"sh "+filepath.Join(side, "review.sh")+"\"\n[hq.executor]\nagent = \"command\"\ncommand = \""+
		agent+" sh ../side/work.sh\"\n").Recorded().Agreed()
	if err := os.WriteFile(filepath.Join(m.Side, "work.sh"), []byte(work), 0o600); err != nil {
		t.Fatal(err)
	}
	b := browse(t, m)
	t.Cleanup(func() { stop(t, m.Dir, "") }) // before the project goes
	s.logIn(b)
	s.accessible("an empty project")

	s.press("#new summary")
	s.write("#act-project-run-task", "Paint the house\n\n"+hostile)
	s.press("#new details[open] button")
	s.sees("New task, now: done.")
	s.sees("Which colour?")
	s.accessible("a question on the overview")
	s.open(b.origin + "/task")
	s.accessible("a question")
	s.write(`[name="f.answer"]`, "Blue.")
	s.press("#now form button")
	s.sees("Answer: done.")
	s.sees("continued: started") // the run that the question had ended
	s.sees("Submission s1")
	s.accessible("a submission")
	s.sees("reading <b>the patch</b>")
	if err := os.WriteFile(more, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s.sees("a second look <script>window.hacked=1</script>") // without loading the page again
	s.accessible("the output of an agent")
	s.open(b.origin + "/task?view=diff")
	s.sees("<script>window.hacked=1</script>")
	s.accessible("the diff")
	s.size(390, 844, "light")
	s.press(`a[aria-label^="Comment on line 4"]`)
	s.write("#comment", "Use a constant. "+hostile)
	s.accessible("a comment that is written")
	s.size(390, 844, "light")
	s.press(`.comment form button`)
	s.sees("They become the text of the rejection.")
	s.accessible("a comment")
	s.size(390, 844, "light")
	s.press("#decide details:has([name=act][value=reject]) summary")
	s.press("#decide form:has([name=act][value=reject]) button")
	s.sees("Reject: done.")
	if text := m.Read(".ferrus/REVIEW.md"); !strings.Contains(text, "a.go:4\n> var colour = \"blue\"\n\nUse a constant. "+hostile) {
		t.Errorf("%q", text)
	}
	s.sees("Your decision on s2") // the page follows the run
	s.size(1280, 900, "light")
	s.open(b.origin + "/task?view=diff&split=1")
	s.sees("Earlier: 1 submission")
	s.sees("you on s1, line 4")
	s.accessible("a second round, side by side")
	s.run("keys", chromedp.KeyEvent("j"), chromedp.KeyEvent("v"))
	s.sees("1 viewed")
	s.accessible("a file that was viewed")
	s.run("a key", chromedp.KeyEvent("y"))
	s.sees("Approve: done.")
	s.accessible("an approval")
	s.run("a key", chromedp.KeyEvent("z"))
	s.sees("Roll back: done.")
	s.run("a key", chromedp.KeyEvent("y"))
	s.sees("Approve: done.")
	s.open(b.origin + "/task?view=log")
	s.sees("approve")
	s.accessible("the log")
	s.picture("web-log", 1280, 800, "dark")
	for _, view := range []string{"agents", "checks", "documents"} {
		s.open(b.origin + "/task?view=" + view)
		s.accessible("the view " + view)
	}
	s.open(b.origin + "/task?view=agents")
	s.sees("Output of")

	id := enginetest.View(t, m.Human()).Task.TaskID
	if err := os.RemoveAll(filepath.Join(m.Side, "asked")); err != nil {
		t.Fatal(err)
	}
	enginetest.Must(m.Human().Reset(t.Context(), "done with it"))(t)
	s.open(b.origin + "/history")
	s.write("#q", "paint")
	s.press("form[role=search] button")
	s.run("search", chromedp.WaitVisible(`#q[value="paint"]`, chromedp.ByQuery))
	s.sees("1 task")
	s.accessible("the history")
	s.press(`a[href="/history/` + id + `"]`)
	s.sees("create_task")
	s.accessible("an archived task")
	s.open(b.origin + "/nowhere")
	s.accessible("a page that is not there")
}

// stop ends what the page has started in a project.
func stop(t *testing.T, dir, branch string) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	args := []string{"-C", dir, "stop"}
	if branch != "" {
		args = append(args, "--branch", branch)
	}
	if out, err := exec.Command(self, args...).CombinedOutput(); err != nil && branch == "" { // a branch may be gone
		t.Errorf("%v\n%s", err, out)
	}
}

// TestAnOpenPageFollows the project: what an agent does is seen at once, what the person writes stays, and what was decided
// elsewhere is gone.
func TestAnOpenPageFollows(t *testing.T) {
	s := chromium(t)
	m := made(t)
	_, ex := m.Begun()
	b := browse(t, m)
	s.logIn(b)
	s.open(b.origin + "/task")
	s.press("details:has([value=send]) summary")
	s.write("details:has([value=send]) textarea", "half a mess")
	enginetest.Must(ex.Progress(t.Context(), "painting the door"))(t)
	s.sees("painting the door")
	s.sees("What you write is kept")
	var kept string
	s.run("read", chromedp.Value("details:has([value=send]) textarea", &kept, chromedp.ByQuery))
	if kept != "half a mess" {
		t.Errorf("the text is %q", kept)
	}
	s.open(b.origin + "/")
	s.sees("Nothing needs you. 1 task is at work.")
	for i := range 5 {
		note := "note " + strings.Repeat("x", i+1)
		if i%2 == 0 {
			enginetest.Must(ex.AskHuman(t.Context(), note, nil))(t)
		} else {
			enginetest.Must(m.Human().Answer(t.Context(), enginetest.View(t, ex).Task.Top().ID, "yes"))(t)
			s.sees("Nothing needs you.")
			continue
		}
		s.sees(note)
	}
	if got := enginetest.View(t, ex).Task.State; got != state.AwaitingHuman {
		t.Errorf("%s", got)
	}
}

// TestTheFocusStays where it is while an open page follows, on whatever takes one, and only what was opened is open afterwards.
func TestTheFocusStays(t *testing.T) {
	s := chromium(t)
	m := made(t)
	m.Begun()
	b := browse(t, m)
	s.logIn(b)
	s.open(b.origin + "/")
	const row = `<li id="%[1]s"><a href="/%[1]s">Look</a><button>Go</button><details><summary>Command</summary>x</details></li>`
	rows := func(of ...string) (html string) {
		for _, id := range of {
			html += fmt.Sprintf(row, id)
		}
		return html
	}
	s.run("two rows", chromedp.Evaluate(fmt.Sprintf(`stop();
		const part = document.getElementById("needs"), made = (html) => { const e = document.createElement("div"); e.innerHTML = html; return e; };
		exchange(part, made(%q)); 0`, rows("a", "b")), nil))
	after := func(focus, then string) (place string) {
		s.run(focus, chromedp.Evaluate(fmt.Sprintf(`document.querySelector(%q).focus(); exchange(part, made(%q));
			document.activeElement === document.body ? "nowhere" : document.activeElement.closest("[id]").id + " " + document.activeElement.tagName`, focus, then), &place))
		return place
	}
	for _, one := range []struct{ focus, then, want string }{
		{"#b a", rows("c", "b"), "b A"},
		{"#b button", rows("a", "b", "c"), "b BUTTON"},
		{"#b summary", rows("b", "a"), "b SUMMARY"},
		{"#b button", rows("a"), "nowhere"},
		{"#a button", `<p id="a"><button>Go</button> <button>Go</button></p>` + rows("b"), "nowhere"},
		{"#b button", `<p id="b"><button>Stop</button></p>`, "nowhere"},
	} {
		if got := after(one.focus, one.then); got != one.want {
			t.Errorf("the focus of %s is %s after %s, not %s", one.focus, got, one.then, one.want)
		}
	}
	var open string
	s.run("open one", chromedp.Evaluate(fmt.Sprintf(`exchange(part, made(%[1]q)); document.querySelector("#b details").open = true; exchange(part, made(%[2]q));
		[...document.querySelectorAll("#needs [open]")].map((e) => e.closest("[id]").id).join(" ")`, rows("a", "b"), rows("b", "a", "c")), &open))
	if open != "b" {
		t.Errorf("open are %q", open)
	}
}

// TestAPageCatchesUpWithWhatItMissed between the moment it was made and the one from which it hears of changes: not only when it
// looks again after a while without any.
func TestAPageCatchesUpWithWhatItMissed(t *testing.T) {
	s := chromium(t)
	m := made(t)
	_, ex := m.Begun()
	b := browse(t, m)
	s.logIn(b)
	s.open(b.origin + "/task")
	s.run("hear nothing", chromedp.Evaluate("stop()", nil))
	other := b.stream("/events?branch=", nil)
	other.next()
	enginetest.Must(ex.Progress(t.Context(), "painting the door"))(t)
	other.next() // the change was told, to all who listened
	s.run("listen", chromedp.Evaluate(`start(); window.late = false; source.addEventListener("time", () => { window.late = true; }); 0`, nil))
	s.sees("painting the door")
	var late bool
	s.run("ask", chromedp.Evaluate("window.late", &late))
	if late {
		t.Error("the page showed it only after a while without changes")
	}
}
