package terminal

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/ferrus-go/ferrus/internal/platform/format"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/status"
)

// A Project is what the screen of all projects shows of one.
type Project struct {
	Overview    *status.Overview
	Why, Remedy string // why nothing may be done in it, and what helps; "" where it may
}

// Projects read all projects for a screen. Their methods are called from several goroutines.
type Projects interface {
	// Rows reads all projects, and waits for none that does not answer.
	Rows() ([]status.Row[Project], error)
	// Changed is closed when something may have changed since it was called.
	Changed() <-chan struct{}
	// Open opens a project for a screen of its own.
	Open(project.Member) Source
	// Explain is what an error says, and what helps.
	Explain(error) (message, remedy string)
}

// inboxGroups are the parts of the list of all projects.
var inboxGroups = []group{groups[0], {name: "projects", title: "Projects"}}

// An Inbox is the screen of all projects: what needs the person in any of them, and the projects. An item opens the screen of its project.
type Inbox struct {
	src    Projects
	ascii  bool
	ctx    context.Context
	now    func() time.Time
	after  func(time.Duration, tea.Msg) tea.Cmd
	opened time.Time

	width, height int
	list          list
	spots         []spot            // of the list
	screens       map[string]*Model // of the projects that were opened, by their ids
	chosen        *spot             // is to be opened
	read          bool              // rows were read
	reading       bool
	reread        bool
	help          *note
	message       string
}

// A spot is an item of the inbox: what needs the person in a project, or the project itself.
type spot struct {
	item
	member      project.Member
	of          Key // the item in the project, the zero Key for the project itself
	needs       []status.Need
	why, remedy string
}

// NewInbox returns the screen of all projects.
func NewInbox(src Projects) *Inbox {
	return &Inbox{src: src, ctx: context.Background(), now: time.Now, after: later, opened: time.Now(), list: list{groups: inboxGroups, dense: true}, screens: map[string]*Model{}}
}

type rowsMsg struct {
	rows []status.Row[Project]
	err  error
}

// someMsg says that something has changed in a project.
type someMsg struct{}

// Init reads what is shown first.
func (b *Inbox) Init() tea.Cmd {
	b.reading = true
	return tea.Batch(b.load(), b.await(), b.after(agesEvery, ageMsg{}))
}

func (b *Inbox) load() tea.Cmd {
	return func() tea.Msg {
		rows, err := b.src.Rows()
		return rowsMsg{rows, err}
	}
}

func (b *Inbox) await() tea.Cmd {
	ctx, changed := b.ctx, b.src.Changed()
	return func() tea.Msg {
		select {
		case <-ctx.Done():
			return nil
		case <-changed:
			return someMsg{}
		}
	}
}

// again reads everything again, once at a time.
func (b *Inbox) again() tea.Cmd {
	if b.reading {
		b.reread = true
		return nil
	}
	b.reading, b.reread = true, false
	return b.load()
}

// Update takes a message. It reads and writes nothing.
func (b *Inbox) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		b.width, b.height = msg.Width, msg.Height
	case tea.KeyPressMsg:
		return b, b.press(msg)
	case rowsMsg:
		b.reading = false
		b.take(msg)
		if b.reread {
			return b, b.again()
		}
	case someMsg:
		return b, tea.Batch(b.await(), b.again())
	case ageMsg:
		return b, tea.Batch(b.again(), b.after(agesEvery, ageMsg{}))
	}
	return b, nil
}

func (b *Inbox) take(msg rowsMsg) {
	if msg.err != nil {
		b.message = "error: " + msg.err.Error()
		return
	}
	b.read, b.spots = true, spotsOf(msg.rows, b.src.Explain)
	items := make([]item, len(b.spots))
	for i, e := range b.spots {
		items[i] = e.item
	}
	b.list.set(items)
}

// spotsOf are the items of all projects: what needs the person, the most urgent first, then the projects, those that are well first.
func spotsOf(rows []status.Row[Project], explain func(error) (string, string)) (all []spot) {
	var quiet, unwell []spot
	for _, r := range rows {
		one := spot{member: r.Member,
			item: item{key: Key{"all", r.ID}, group: 1, title: line(r.Name), since: r.At, mark: ended}}
		if r.Err != nil {
			one.why, one.remedy = explain(r.Err)
		} else if one.since = (time.Time{}); r.Facts.Why != "" { // the age is that of facts which are not those of now
			one.why, one.remedy = "read-only: "+r.Facts.Why, r.Facts.Remedy
		}
		if o := r.Facts.Overview; o != nil {
			working := 0
			for _, it := range itemsOf(o, time.Now()) {
				if it.group == groupOf(status.AtWork) {
					working++
				}
				if !it.needs {
					continue
				}
				need := spot{item: it, member: r.Member, of: it.key, why: one.why, remedy: one.remedy, needs: needsIn(o, it.key)}
				need.key, need.group = Key{it.key.Kind, r.ID + "/" + it.key.Name}, 0
				need.sentence = line(r.Name) + "  " + it.sentence
				all = append(all, need)
			}
			one.sentence = fmt.Sprintf("%s, %d at work", format.Count(len(o.Needs), "need", "needs"), working)
			if working > 0 {
				one.mark = works
			}
		} else if r.Err == nil {
			one.sentence = "being read …"
		}
		if one.sentence += "  " + line(r.Root); one.why != "" {
			one.mark, one.sentence = failed, line(one.why)+"  "+one.sentence
			unwell = append(unwell, one)
			continue
		}
		quiet = append(quiet, one)
	}
	slices.SortStableFunc(all, func(a, b spot) int { return cmp.Or(a.urgency-b.urgency, a.since.Compare(b.since)) })
	return slices.Concat(all, quiet, unwell)
}

func (b *Inbox) press(msg tea.KeyPressMsg) tea.Cmd {
	key := msg.String()
	if b.help != nil {
		if r, _ := b.help.update(msg); r.closed {
			b.help = nil
		}
		if key != "ctrl+c" {
			return nil
		}
	}
	b.message = ""
	switch key {
	case "q", "ctrl+c":
		return tea.Quit
	case "enter":
		e := b.selected()
		switch {
		case e == nil:
		case e.member.Err != nil:
			b.message = "error: " + line(e.why)
		default:
			b.chosen = e
			return tea.Quit
		}
	case "n":
		if !b.list.nextNeed(1) {
			b.message = "nothing needs you"
		}
	case "ctrl+r":
		return b.again()
	case "?":
		b.help = &note{title: "Keys", text: inboxHelp()}
	default:
		b.list.press(key)
	}
	return nil
}

// inboxHelp are the keys of the inbox.
func inboxHelp() (text []string) {
	for _, h := range generalKeys {
		if slices.Contains([]string{"j k ↓ ↑", "g G", "pgdn pgup", "n", "ctrl+r", "?", "q"}, h.key) {
			text = append(text, fit(h.key, 10)+" "+h.does)
		}
	}
	text = append(text, fit("enter", 10)+" open the project of the item; there esc returns here")
	return append(text, "", "Marks of what needs you: "+legend(marks[:5])+",", legend(marks[5:])+".")
}

// selected is the item that is selected, nil where there is none.
func (b *Inbox) selected() *spot {
	if it, ok := b.list.selected(); ok {
		for i := range b.spots {
			if b.spots[i].key == it.key {
				return &b.spots[i]
			}
		}
	}
	return nil
}

// View draws the screen.
func (b *Inbox) View() tea.View {
	v := tea.NewView("")
	v.AltScreen = true
	if b.width == 0 {
		return v
	}
	height := max(1, b.height-aroundBody)
	below := b.preview(height)
	b.list.resize(b.width, height-len(below))
	body := append(b.list.view(true, b.now()), below...)
	if b.help != nil {
		box, _ := b.help.view(b.width-2, len(body))
		body = over(body, box[:min(len(box), len(body))], max(0, (len(body)-len(box))/2), 1)
	}
	needs, projects := 0, 0
	for _, e := range b.spots {
		if e.group == 0 {
			needs++
		} else {
			projects++
		}
	}
	summary := fmt.Sprintf("%d needs you · %d projects", needs, projects)
	if !b.read {
		summary = "reading …"
	}
	message := b.message
	if b.read && projects == 0 && message == "" {
		message = "no project is here; one joins when you agree to its files: ferrus trust"
	}
	rows := append([]string{ends(" "+brand.Render("ferrus")+"  "+bold.Render("all projects"), summary+" ", b.width)}, body...)
	rows = append(rows, fit(" "+line(message), b.width), hints([]hint{{"↵", "open"}, {"n", "next"}, {"j k", "move"}}, []hint{{"?", "keys"}, {"q", "quit"}}, b.width))
	v.SetContent(drawnIn(rows[:min(len(rows), b.height)], b.ascii))
	return v
}

// preview are the lines about the selected item below the list.
func (b *Inbox) preview(height int) []string {
	e := b.selected()
	if e == nil || b.width < 60 || height < leastBody {
		return nil
	}
	s := &sheet{width: b.width - 1}
	for _, n := range e.needs {
		n.Command = status.CommandIn(e.member.Root, n.Command)
		s.need(n, b.now())
	}
	if len(e.needs) == 0 {
		s.add(bold, "", line(e.member.Name))
		s.add(dim, "", line(e.member.Root))
	}
	if e.why != "" {
		s.add(red, "", line(e.why))
		s.add(plain, "  ", line(e.remedy))
	}
	return s.below(b.width, height, "…")
}

// needsIn are the needs of an item of a project, the most urgent first.
func needsIn(o *status.Overview, key Key) []status.Need {
	return urgently(slices.DeleteFunc(slices.Clone(o.Needs), func(n status.Need) bool { return keyOfNeed(n) != key }))
}

// urgently are needs, the most urgent first.
func urgently(list []status.Need) []status.Need {
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b status.Need) int { return a.Kind.Urgency() - b.Kind.Urgency() })
	return list
}

// screen is that of the project of an item, with the item selected. What was typed there before is still there.
func (b *Inbox) screen(e *spot) *Model {
	m := b.screens[e.member.ID]
	if m == nil {
		m = New(b.src.Open(e.member), e.member.Name)
		m.inAll, m.opened = true, b.opened
		b.screens[e.member.ID] = m
	}
	m.closing, m.returns, m.first = false, false, e.of
	m.list.choose(e.of)
	return m
}

// RunInbox shows the screen of all projects, and those that the person opens from there, until they close one. Each is a program of its own.
func RunInbox(ctx context.Context, b *Inbox, t Terminal) error {
	b.ascii = onlyASCII(t.Environ)
	for {
		b.chosen = nil
		if err := show(ctx, b, &b.ctx, t); err != nil || b.chosen == nil {
			return err
		}
		m := b.screen(b.chosen)
		if err := Run(ctx, m, t); err != nil || !m.returns {
			return err
		}
	}
}

// PlainInbox shows all projects line by line, until quit or the end of in.
func PlainInbox(ctx context.Context, src Projects, in io.Reader, out io.Writer) error {
	p := &plainScreen{in: bufio.NewReader(in), out: out}
	p.say("ferrus, all projects. Type list, the NUMBER of an item to open its project, or quit. In a project quit returns here.")
	var listed []spot
	for text := "list"; ; {
		n, numberErr := strconv.Atoi(text)
		switch {
		case text == "quit" || text == "q":
			return nil
		case text == "list":
			rows, err := src.Rows()
			if err != nil {
				return err
			}
			listed = spotsOf(rows, src.Explain)
			for i, e := range listed {
				p.say("%d. %s: %s", i+1, e.title, e.sentence)
			}
		case numberErr == nil && n > 0 && n <= len(listed) && listed[n-1].member.Err == nil:
			if err := Plain(ctx, src.Open(listed[n-1].member), listed[n-1].member.Name, p.in, out); err != nil {
				p.say("error: %s", line(err.Error()))
			}
		case text != "":
			p.say("error: %q is not known; type list, a NUMBER of it, or quit", line(text))
		}
		var err error
		if text, err = p.ask("> "); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
	}
}
