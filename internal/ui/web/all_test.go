package web_test

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/ferrus-go/ferrus/internal/config/trust"
	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/engine/enginetest"
	"github.com/ferrus-go/ferrus/internal/platform/filelock"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/ui/web"
	"github.com/ferrus-go/ferrus/test/kit"
)

// many makes n projects that a person has agreed to, and nobody else's.
func many(t testing.TB, n int) []*enginetest.Machine {
	t.Helper()
	t.Setenv(trust.EnvStateDir, filepath.Join(t.TempDir(), "state"))
	t.Setenv(trust.EnvXDGConf, filepath.Join(t.TempDir(), "conf"))
	list := make([]*enginetest.Machine, n)
	for i := range list {
		list[i] = made(t)
	}
	return list
}

// browseAll serves all projects until the test ends, and logs a browser in. The page waits for each project, or shows the others meanwhile.
func browseAll(t testing.TB, patient bool) *browser {
	t.Helper()
	b := &browser{TB: t}
	b.serve(func(ctx context.Context, origin string) (site, error) {
		all, err := web.NewAll(ctx, web.AllOptions{Origin: origin, Version: "test", Log: enginetest.Quiet, Members: project.Members,
			Of: func(m project.Member) web.Options {
				opts := b.options(m.Root)
				opts.Open = app.OpenToReadAt
				opts.Untrusted = func() error {
					e, err := app.OpenToReadAt(project.At(m.Root, ""))
					if err != nil {
						return err
					}
					defer e.Close()
					if err := e.Foreign(); err != nil {
						return err
					}
					return e.Trusted()
				}
				return opts
			}})
		if err == nil && patient {
			all.Patient()
		}
		return all, err
	})
	return b
}

// below is what the addresses of a project begin with.
func below(t testing.TB, m *enginetest.Machine) string {
	t.Helper()
	list, err := project.Members()
	for _, one := range list {
		if one.Root == m.Dir {
			return "/p/" + one.ID
		}
	}
	t.Fatalf("%s is no member: %v", m.Dir, err)
	return ""
}

// asked has a task of an executor that asks the person.
func asked(t testing.TB, m *enginetest.Machine, task, question string) *engine.Session {
	t.Helper()
	enginetest.Must(m.Supervisor().CreateTask(t.Context(), task, ""))(t)
	ex := m.Executor("codex")
	enginetest.Claim(t, ex)
	enginetest.Must(ex.AskHuman(t.Context(), question, []string{"navy", "azure"}))(t)
	return ex
}

// row is what the page of all projects says of one.
func row(t testing.TB, page string, m *enginetest.Machine) string {
	t.Helper()
	_, list, _ := strings.Cut(page, `id="projects"`)
	for _, li := range strings.Split(list, `<li class="job">`)[1:] {
		if strings.Contains(unescape(li), m.Dir) {
			return unescape(li)
		}
	}
	t.Fatalf("no row of %s in\n%s", m.Dir, page)
	return ""
}

const evil = "<script>alert(1)</script>\u202e\x1b[2J"

// twenty are twenty projects: one is damaged, one's lock is held, one is hostile, one was exchanged for a clone with the state of another
// folder, and the others are well; three of them ask something.
func twenty(t testing.TB) (list []*enginetest.Machine) {
	t.Helper()
	enginetest.InFiles(t, "it damages files")
	list = many(t, 20)
	for i, m := range list[3:] {
		if i < 3 {
			asked(t, m, fmt.Sprintf("Paint wall %d.", i), fmt.Sprintf("Which blue has wall %d?", i))
		} else {
			m.Begun()
		}
	}
	damaged, locked, hostile := list[0], list[1], list[2]
	_, ex := damaged.Begun()
	enginetest.Must(ex.Progress(t.Context(), "good note"))(t)
	enginetest.Dies(t, ex)
	damaged.Write(".ferrus/journal.jsonl", strings.Replace(damaged.Read(".ferrus/journal.jsonl"), "good note", "evil note", 1))
	damaged.Remove(".ferrus/STATE.json")
	asked(t, hostile, "Task "+evil, "Question "+evil)
	foreign := list[19]
	foreign.Replace("journal.jsonl", []byte(list[3].Read(".ferrus/journal.jsonl")))
	foreign.Replace("STATE.json", []byte(list[3].Read(".ferrus/STATE.json")))
	locked.Begun()
	locked.Remove(".ferrus/STATE.json") // it is made again under the lock
	l, err := filelock.Acquire(t.Context(), locked.Path(".ferrus/STATE.lock"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return list
}

// TestTwentyProjectsInOneInbox: what needs the person in all of them, and of each that is not well why, and what helps. None delays another.
func TestTwentyProjectsInOneInbox(t *testing.T) {
	list := twenty(t)
	b := browseAll(t, false)
	page := ""
	kit.Eventually(t, "a row for each", func() bool {
		page = b.get("/")
		return strings.Contains(row(t, page, list[1]), "the project has not answered for ") && !strings.Contains(page, "being read")
	})
	for i := range 3 {
		if !strings.Contains(page, fmt.Sprintf("Which blue has wall %d?", i)) {
			t.Errorf("no question %d", i)
		}
	}
	for i, want := range map[int]string{0: "1 need", 1: "status waits for it", 2: "1 need", 3: "1 need", 6: "0 needs", 19: "read-only: "} {
		if got := row(t, page, list[i]); !strings.Contains(got, want) {
			t.Errorf("%d has no %q: %s", i, want, got)
		}
	}
	if !strings.Contains(page, "The state cannot be read") || !strings.Contains(unescape(page), "ferrus -C '"+list[0].Dir+"' doctor") {
		t.Error("nothing says what is wrong with the damaged one")
	}
	if strings.Contains(page, evil[:8]) || strings.ContainsAny(page, "\u202e\x1b") {
		t.Error("a text of an agent is no text")
	}
	_, wall, _ := strings.Cut(row(t, page, list[19]), "read-only")
	if !strings.Contains(wall, "ferrus doctor") || strings.Contains(page, `action="`+below(t, list[19])) {
		t.Errorf("state from elsewhere can be acted on: %s", wall)
	}
	if err := os.RemoveAll(list[7].Dir); err != nil {
		t.Fatal(err)
	}
	if got := row(t, b.get("/"), list[7]); !strings.Contains(got, "its folder is gone") {
		t.Error(got)
	}
}

var address = regexp.MustCompile(`(?:href|action|data-events|data-output)="([^"#]+)`)

// TestNothingOfOneProjectIsBelowAnother: no address, form or file of one is answered below the id of another, with a right token either.
func TestNothingOfOneProjectIsBelowAnother(t *testing.T) {
	list := many(t, 2)
	one, other := list[0], list[1]
	ex := asked(t, one, "Secret of one.", "Which secret blue?")
	asked(t, other, "Build it.", "Which blue?")
	b := browseAll(t, true)
	at, elsewhere := below(t, one), below(t, other)
	done := enginetest.View(t, ex).Task.TaskID
	seen := map[string]bool{}
	todo := []string{"/", at + "/history/" + done, at + "/log?branch=&name=x", at + "/task?view=documents", at + "/task?view=agents"}
	for len(todo) > 0 {
		path := todo[0]
		todo = todo[1:]
		if seen[path] || strings.HasPrefix(path, "/static/") || strings.HasPrefix(path, elsewhere) {
			continue
		}
		seen[path] = true
		if path != "/" && !strings.HasPrefix(path, at+"/") && path != "/events" && path != "/leave" {
			t.Errorf("an address outside of the project: %s", path)
			continue
		}
		if swapped := strings.Replace(path, at, elsewhere, 1); swapped != path && !strings.Contains(path, "/events") && !strings.Contains(path, "/output") {
			if text := read(t, b.send("GET", swapped, nil, nil)); strings.Contains(strings.ToLower(text), "secret") || strings.Contains(text, at) {
				t.Errorf("%s shows of the other\n%s", swapped, text)
			}
		}
		if strings.Contains(path, "/events") || strings.Contains(path, "/output") || strings.HasSuffix(path, "/act") || strings.HasSuffix(path, "/draft") ||
			strings.HasSuffix(path, "/leave") {
			continue
		}
		text := read(t, b.send("GET", path, nil, nil))
		for _, a := range address.FindAllStringSubmatch(text, -1) {
			todo = append(todo, unescape(a[1]))
		}
	}
	if len(seen) < 12 {
		t.Errorf("only %v", seen)
	}
	for _, path := range []string{elsewhere + "/../" + strings.TrimPrefix(at, "/p/") + "/task", elsewhere + "/%2e%2e" + strings.TrimPrefix(at, "/p") + "/task",
		elsewhere + "//task", "/p//task", "/p/0/task", "/p/../task", "/task", "/act", "/history", elsewhere + at + "/task", elsewhere + "/p/task"} {
		if resp := b.send("GET", path, nil, nil); resp.StatusCode != http.StatusNotFound {
			t.Errorf("%s: %s", path, resp.Status)
		}
	}
	unchanged := func() {
		t.Helper()
		for _, m := range list {
			if event, _ := last(t, m); event != "ask_human" {
				t.Errorf("%s happened in %s", event, m.Dir)
			}
		}
	}
	mine := with(form(t, b.get(at+"/"), "answer"), "f.answer", "1")
	its := with(form(t, b.get(elsewhere+"/"), "answer"), "f.answer", "1")
	b.refused(elsewhere+"/act", mine, http.StatusForbidden, "another session or project")
	b.refused(at+"/act", its, http.StatusForbidden, "another session or project")
	b.refused("/act", mine, http.StatusForbidden)
	b.refused("/p/0/act", mine, http.StatusForbidden)
	b.refused(elsewhere+"/draft", url.Values{"token": mine["token"]}, http.StatusForbidden)
	unchanged()
	mine.Set("token", its.Get("token"))
	b.refused(elsewhere+"/act", mine, http.StatusConflict) // the task is another one
	unchanged()
}

// TestTheRightsOfEachProject: what is agreed to can be acted on from the inbox, which is shown again with what undoes it. What has changed
// since cannot, and what is revoked is there no more. An open inbox is told of each change.
func TestTheRightsOfEachProject(t *testing.T) {
	list := many(t, 3)
	for i, m := range list {
		asked(t, m, "Build it.", fmt.Sprintf("Which blue has wall %d?", i))
	}
	b := browseAll(t, true)
	of := func(m *enginetest.Machine, name string) url.Values {
		t.Helper()
		for _, f := range aForm.FindAllString(b.get("/"), -1) {
			if strings.Contains(f, `action="`+below(t, m)+`/act"`) && strings.Contains(f, `value="`+name+`"`) {
				return with(form(t, f, name), "f.answer", "2")
			}
		}
		t.Fatalf("no form of %s for %s", name, m.Dir)
		return nil
	}
	told := b.stream("/events", nil)
	told.next()
	page := b.do(below(t, list[0])+"/act", of(list[0], "answer"))
	if event, via := last(t, list[0]); event != "answer" || via != "web" {
		t.Errorf("%s via %s", event, via)
	}
	if _, name, _ := told.next(); name != "change" {
		t.Errorf("told of %q", name)
	}
	if !strings.Contains(page, "<title>Inbox · All projects") || !strings.Contains(page, "Answer: done.") || strings.Contains(page, "wall 0?") || !strings.Contains(page, "wall 1?") {
		t.Errorf("after an act\n%s", page)
	}
	undo := form(t, page, "rollback")
	b.do(below(t, list[0])+"/act", undo)
	if event, _ := last(t, list[0]); event != "rollback" {
		t.Errorf("%s", event)
	}
	answer := of(list[1], "answer")
	list[1].Write("ferrus.toml", enginetest.Gate("false"))
	page = b.get("/")
	if got := row(t, page, list[1]); !strings.Contains(got, "read-only") || !strings.Contains(got, "trust") || strings.Contains(page, `action="`+below(t, list[1])) {
		t.Errorf("what has changed: %s", got)
	}
	b.refused(below(t, list[1])+"/act", answer, http.StatusForbidden, "trust")
	if event, _ := last(t, list[1]); event != "ask_human" {
		t.Errorf("%s", event)
	}
	at, form := below(t, list[2]), of(list[2], "answer")
	if _, err := list[2].Opts.Project.Revoke(); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(b.get("/"), "wall 2?") {
		t.Error("a project that was revoked is shown")
	}
	b.refused(at+"/act", form, http.StatusNotFound)
	if resp := b.send("GET", at+"/task", nil, nil); resp.StatusCode != http.StatusNotFound {
		t.Error(resp.Status)
	}
	b.send("POST", below(t, list[0])+"/leave", url.Values{"token": undo["token"]}, nil)
	if resp := b.send("GET", "/", nil, nil); resp.StatusCode != http.StatusUnauthorized {
		t.Errorf("after logging out: %s", resp.Status)
	}
}

// TestOneActInEachOfTwoProjectsWithABrowser, from the inbox of all, which follows the projects; axe finds nothing.
func TestOneActInEachOfTwoProjectsWithABrowser(t *testing.T) {
	s := chromium(t)
	list := many(t, 4)
	hurt := list[2]
	for i, m := range list[:2] {
		asked(t, m, fmt.Sprintf("Paint wall %d. %s", i, hostile), fmt.Sprintf("Which blue has wall %d?", i))
	}
	asked(t, hurt, "Build it.", "Which blue is it?")
	hurt.Write("ferrus.toml", enginetest.Gate("false"))
	if err := os.RemoveAll(list[3].Dir); err != nil {
		t.Fatal(err)
	}
	b := browseAll(t, true)
	s.logIn(b)
	s.sees("its folder is gone")
	s.sees("read-only: ")
	s.accessible("all projects")
	for i, m := range list[:2] {
		s.press(fmt.Sprintf(`form.opts[action="%s/act"] button[value="2"]`, below(t, m)))
		s.until("see no question", fmt.Sprintf(`document.readyState === "complete" && document.querySelector("main") && !document.body.innerText.includes("has wall %d?") ? "" : "it is there"`, i))
		s.sees("Answer: done.")
		if event, via := last(t, m); event != "answer" || via != "web" {
			t.Errorf("%d: %s via %s", i, event, via)
		}
	}
	s.accessible("after an act")
	s.press(`button[data-key="z"]`)
	s.sees("Which blue has wall 1?")
	if event, _ := last(t, list[1]); event != "rollback" {
		t.Errorf("%s", event)
	}
	s.open(b.origin + "/")
	enginetest.Must(list[0].Human().Reset(t.Context(), "enough"))(t)
	asked(t, list[0], "Paint the roof.", "Which red has the roof?")
	s.sees("Which red has the roof?") // without loading the page again
	s.press(`.need:has(form[action="` + below(t, list[0]) + `/act"]) h2 a`)
	s.sees("Story")
	s.accessible("the page of one of them")
	s.follow("All projects")
	s.sees("Projects")
}
