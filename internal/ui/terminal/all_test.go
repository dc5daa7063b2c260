package terminal

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/status"
	"github.com/ferrus-go/ferrus/test/golden"
)

// A row is a project of the tests.
type projectRow = status.Row[Project]

// fakes are the projects of the tests.
type fakes struct {
	rows    []projectRow
	sources map[string]*fake
	changed chan struct{}
}

func (f *fakes) Rows() ([]projectRow, error)           { return f.rows, nil }
func (f *fakes) Changed() <-chan struct{}              { return f.changed }
func (f *fakes) Open(m project.Member) Source          { return f.sources[m.ID] }
func (f *fakes) Explain(err error) (message, r string) { return err.Error(), "do something" }

// town are five projects: two are well, one is read for the first time, one has changed files and a hostile name, and one is gone.
func town(t testing.TB) *fakes {
	adder := night(t)
	quiet := &fake{overview: &status.Overview{Root: "/home/ada/quiet"}}
	hostile := &fake{overview: &status.Overview{Root: "/home/ada/h", Needs: []status.Need{{Kind: status.NeedAnswer, Text: "May I?\x1b[2J\u202e", Since: ago(90), Command: "ferrus answer q1", Options: []string{"yes", "no"}}},
		Machines: []status.Machine{{Title: "Task \x1b[31m", Since: ago(90), Group: status.NeedsYou}}}}
	member := func(name string) project.Member {
		return project.Member{ID: "id-" + name, Root: "/home/ada/" + name, Name: name}
	}
	bad := member("h\x1b[2Jostile")
	bad.ID = "id-h"
	return &fakes{rows: []projectRow{
		{Member: member("adder"), Facts: Project{Overview: adder.overview}, At: today},
		{Member: member("early")},
		{Member: member("gone"), Err: errors.New("its folder is gone"), Facts: Project{Overview: quiet.overview}, At: ago(50)},
		{Member: bad, Facts: Project{Overview: hostile.overview, Why: "its files have changed", Remedy: "ferrus -C /home/ada/h trust"}, At: today},
		{Member: member("quiet"), Facts: Project{Overview: quiet.overview}, At: today},
	}, sources: map[string]*fake{"id-adder": adder, "id-quiet": quiet, "id-h": hostile}, changed: make(chan struct{})}
}

// inTown is the screen of all projects, its commands carried out but for the wait for a change.
func inTown(t testing.TB, width, height int) (b *Inbox, press func(keys ...string) (quit bool)) {
	t.Helper()
	src := town(t)
	b = NewInbox(src)
	b.now, b.after, b.opened = func() time.Time { return today }, func(time.Duration, tea.Msg) tea.Cmd { return nil }, ago(200)
	b.Update(tea.WindowSizeMsg{Width: width, Height: height})
	b.Update(b.load()())
	return b, func(keys ...string) (quit bool) {
		for _, k := range keys {
			if _, cmd := b.Update(pressed(k)); cmd != nil {
				_, quit = cmd().(tea.QuitMsg)
			}
		}
		return quit
	}
}

func TestViewsOfAllProjects(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {120, 40}} {
		b, _ := inTown(t, size[0], size[1])
		e := drawn(b.View().Content, size[0], size[1])
		name := fmt.Sprintf("inbox-%dx%d", size[0], size[1])
		golden.Check(t, filepath.Join("testdata", name+".txt"), textOf(e))
		golden.Check(t, filepath.Join("..", "..", "..", "docs", "pictures", "ui-"+name+".svg"), svg(e, "ferrus ui --all"))
		e.Close()
	}
	for _, size := range [][2]int{{20, 5}, {60, 11}, {300, 100}} {
		b, press := inTown(t, size[0], size[1])
		press("?")
		for _, l := range strings.Split(b.View().Content, "\n") {
			if strings.Contains(l, "\x1b[2J") || strings.Contains(l, "\u202e") {
				t.Errorf("%q", l)
			}
		}
	}
}

// TestAnItemOpensItsProject, with the item selected, and esc returns from there when it has nothing else to close.
func TestAnItemOpensItsProject(t *testing.T) {
	b, press := inTown(t, 120, 40)
	open := func() *Model {
		t.Helper()
		if !press("enter") || b.chosen == nil {
			t.Fatal("nothing was opened")
		}
		return b.screen(b.chosen)
	}
	opened := func(m *Model) *stage {
		t.Helper()
		m.now, m.after = func() time.Time { return today }, func(time.Duration, tea.Msg) tea.Cmd { return nil }
		s := &stage{Model: m, t: t}
		s.send(tea.WindowSizeMsg{Width: 120, Height: 40})
		s.carry(m.Init())
		return s
	}
	press("j") // past the hostile one, which is older
	m := open()
	s := opened(m)
	if it, _ := s.list.selected(); m.title != "adder" || it.key != (Key{Task, ""}) || !strings.Contains(s.View().Content, "all projects") {
		t.Errorf("%s %+v", m.title, it.key)
	}
	for _, keys := range [][]string{{"/", "s", "enter", "esc"}, {"tab", "esc"}, {"a", "esc"}} {
		if s.press(keys...); s.quit || m.returns {
			t.Errorf("%q returned", keys)
		}
	}
	s.press("a", "0")
	s.write("in my words")
	s.press("esc", "esc")
	if !s.quit || !m.returns {
		t.Error("esc does not return")
	}
	press("j")
	again := open()
	if again != m || again.returns || again.closing || len(again.drafts) != 1 {
		t.Errorf("another screen, or what was typed is lost: %v", again.drafts)
	}
	if s = opened(again); s.quit {
		t.Error("closed")
	}
	if it, _ := s.list.selected(); it.key != (Key{Task, "docs"}) {
		t.Errorf("%+v is selected", it.key)
	}
	if s.press("q"); !s.quit || m.returns {
		t.Error("q returns")
	}
	press("G")
	if e := b.selected(); e.member.Name != "gone" && !strings.Contains(e.member.Name, "ostile") {
		t.Errorf("what is not well is not last: %+v", e.member)
	}
}

// TestTheInboxFollowsTheProjects, and says so where there are none.
func TestTheInboxFollowsTheProjects(t *testing.T) {
	b, press := inTown(t, 120, 40)
	src := b.src.(*fakes)
	wait := b.await()
	close(src.changed)
	if _, ok := wait().(someMsg); !ok {
		t.Error("no change")
	}
	src.changed = make(chan struct{})
	src.rows = nil
	_, cmd := b.Update(someMsg{})
	if cmd == nil || !b.reading {
		t.Fatal("nothing is read")
	}
	b.Update(someMsg{})
	if !b.reread {
		t.Error("a change while it reads is lost")
	}
	b.Update(b.load()())
	if b.Update(b.load()()); !strings.Contains(b.View().Content, "ferrus trust") || press("enter") || press("n") || !press("q") {
		t.Errorf("%s", b.View().Content)
	}
}

// TestAllProjectsLineByLine: numbers open projects, and quit returns from them.
func TestAllProjectsLineByLine(t *testing.T) {
	var out strings.Builder
	if err := PlainInbox(t.Context(), town(t), strings.NewReader("2\nacts\nquit\nlist\n99\nnonsense\nquit\nlist\n"), &out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"1. Task ", "2. Rename the public function Sum to Add: adder  ", "ferrus adder. Type help", "1. New task, now", `"99" is not known`, `"nonsense" is not known`} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
	if n := strings.Count(out.String(), "1. Task "); n != 2 || strings.Contains(out.String(), "\x1b") {
		t.Errorf("%d lists in\n%q", n, out.String())
	}
}
