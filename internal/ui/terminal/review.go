package terminal

import (
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/ferrus-go/ferrus/internal/platform/format"
	"github.com/ferrus-go/ferrus/internal/platform/safetext"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/status"
	"github.com/ferrus-go/ferrus/internal/status/review"
)

// A reviewPage is a patch that a person decides about.
type reviewPage struct {
	patchView
	of         Key
	target     string // where the work goes
	from       page   // which opened it, nil for the panes
	review     *Review
	newer      *Review // of another submission, which is shown when the person wants it
	since      string  // the submission since which changes are shown, "" for all
	err        error
	asked, got int    // reads
	list       bool   // the list of files has the focus
	hidden     string // where hidden characters are, "" for nowhere
	height     int    // of the patch, as it was drawn last
}

// reviewMsg is what the nth read of a review has found.
type reviewMsg struct {
	n      int
	review *Review
	err    error
}

// savedMsg is what became of a comment or a mark.
type savedMsg struct {
	what    string
	draft   string          // of a comment: what was typed, among the drafts of forms
	comment *review.Comment // nil for a mark
	err     error
}

func (p *reviewPage) about() Key { return p.of }
func (p *reviewPage) back() page { return p.from }

func (p *reviewPage) acts() []Act {
	if p.review == nil {
		return nil
	}
	return p.review.Task.Acts
}

func (p *reviewPage) load(m *Model) tea.Cmd {
	p.asked++
	n, src, ctx, key, since := p.asked, m.src, m.ctx, p.of, p.since
	return reads(p, func() tea.Msg {
		r, err := src.Review(ctx, key, since)
		return reviewMsg{n, r, err}
	})
}

func (p *reviewPage) receive(m *Model, msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case reviewMsg:
		if msg.n < p.got {
			return nil
		}
		p.got, p.err = msg.n, msg.err
		switch {
		case msg.err != nil:
		case p.review != nil && p.review.Subject.Submission != "" && p.review.Subject != msg.review.Subject:
			p.newer = msg.review // what is read does not change under the reader
		default:
			p.take(msg.review)
		}
	case savedMsg:
		if msg.err != nil {
			m.notes = append(m.notes, &note{title: msg.what + ": refused", text: rowsOf(msg.err.Error())})
			m.showNote()
			return nil
		}
		if msg.comment != nil {
			delete(m.drafts, msg.draft)
			p.addTo(m, *msg.comment)
		}
		return tea.Batch(p.load(m), m.load())
	}
	return nil
}

func (p *reviewPage) take(r *Review) {
	p.review, p.newer, p.cursor, p.lastWidth, p.hidden = r, nil, true, 0, ""
	if r.Hidden != "" {
		p.hidden = hiddenAt(r.Review)
	}
}

// addTo adds a comment to a rejection that was typed before, which else has all of them.
func (p *reviewPage) addTo(m *Model, c review.Comment) {
	for _, a := range p.acts() {
		typed := m.drafts[draftOf(a)]
		switch {
		case a.Name != "reject" || typed == nil:
		case strings.TrimSpace(typed["message"]) == strings.TrimSpace(p.review.Draft.Text()):
			delete(m.drafts, draftOf(a))
		case c.Text != "":
			typed["message"] = strings.TrimSpace(typed["message"]) + "\n\n" + review.Draft{Comments: []review.Comment{c}}.Text()
		}
	}
}

func (p *reviewPage) press(m *Model, key string) (tea.Cmd, bool) {
	if p.review == nil {
		return nil, false
	}
	p.build(m.width) // a key may come before the picture
	if p.list {
		switch key {
		case "j", "down":
			key = "}"
		case "k", "up":
			key = "{"
		case "enter", "esc", "f", "tab":
			p.list = false
			return nil, true
		}
	}
	switch key {
	case "enter":
		if f := p.file(); f != nil {
			p.open[f.Path] = p.foldedAt(f)
			p.top, p.lastWidth = p.at, 0
		}
	case "f", "tab":
		p.list = true
	case "c":
		return p.write(m), true
	case "v":
		return p.mark(m), true
	case "d":
		return p.sinceLast(m), true
	case "s":
		m.dialog = &note{title: "What was done and said", text: p.summary()}
	case "ctrl+r":
		if p.newer == nil {
			return nil, false
		}
		p.take(p.newer)
	default:
		return nil, p.patchView.press(key, p.height)
	}
	return nil, true
}

// file is the one that the cursor is in, nil where there is none.
func (p *reviewPage) file() *review.File {
	if p.open == nil {
		p.open = map[string]bool{}
	}
	if at := p.current(); at >= 0 && at < len(p.review.Files) {
		return &p.review.Files[at]
	}
	return nil
}

// write opens a form for a comment on the line of the cursor.
func (p *reviewPage) write(m *Model) tea.Cmd {
	f := p.file()
	if f == nil {
		return nil
	}
	on := p.rows[p.at]
	switch {
	case !p.review.Reviewing:
		m.say("a comment becomes a part of a rejection, and nothing waits for your review here", false)
		return nil
	case on.key == "":
		m.say("go to a line of the patch with j and k, then comment on it", false)
		return nil
	case p.review.Since != nil && strings.HasPrefix(on.key, "o"):
		m.say("this line is of another submission; d shows all changes", false)
		return nil
	}
	c := review.Comment{Path: f.Path, Line: on.key, Quote: on.text}
	was := p.review.Draft.CommentOn(f.Path, on.key)
	act := Act{Name: "comment", Label: "Comment on " + c.Where(), Notices: []string{"> " + c.Quote}, ID: strings.Join([]string{p.of.Name, p.review.Subject.Submission, c.Path, c.Line}, "\x00"),
		Fields: []Field{{Name: "text", Label: "Your comment, kept until you decide", Kind: status.TextField}}}
	if was != nil {
		act.Fields[0].Value = safetext.Mark(was.Text)
	}
	form := newForm(act, m.drafts[draftOf(act)])
	src, about := m.src, p.review.Subject
	form.save = func(values map[string]string) tea.Cmd {
		ctx := m.ctx // an editor may have ended the one before
		c.Text = values["text"]
		return reads(p, func() tea.Msg {
			return savedMsg{"Comment", draftOf(act), &c, src.Comment(ctx, about, c)}
		})
	}
	m.dialog = form
	return nil
}

// mark marks the file of the cursor as viewed and goes on to the next one, or takes the mark away.
func (p *reviewPage) mark(m *Model) tea.Cmd {
	f := p.file()
	switch {
	case f == nil:
		return nil
	case p.review.Subject.Submission == "":
		m.say("nothing was submitted that could be viewed", false)
		return nil
	}
	src, ctx, about, path, id, viewed := m.src, m.ctx, p.review.Subject, f.Path, f.ID, !f.Viewed
	delete(p.open, f.Path)
	if viewed {
		p.jump(1)
	}
	return reads(p, func() tea.Msg {
		return savedMsg{what: "Viewed", err: src.Viewed(ctx, about, path, id, viewed)}
	})
}

// sinceLast shows what has changed since the submission before, or all changes again.
func (p *reviewPage) sinceLast(m *Model) tea.Cmd {
	last := ""
	for _, r := range p.review.Rounds {
		if r.Tree != "" {
			last = r.ID
		}
	}
	switch {
	case p.since != "":
		p.since = ""
	case last == "":
		m.say("there is no earlier submission", false)
		return nil
	default:
		p.since = last
	}
	return p.load(m)
}

// keys are those of the review, after the acts that a person has most likely come for.
func (p *reviewPage) keys() []hint {
	var list []hint
	for _, a := range p.acts() {
		if k := keyOf(a.Name); k != "" && len(list) < 2 && !slices.Contains([]string{"c", "f", "s"}, k) {
			list = append(list, hint{k, a.Name})
		}
	}
	if p.list {
		return append(list, hint{"j k", "file"}, hint{"enter", "read it"}, hint{"v", "viewed"})
	}
	return append(list, hint{"c", "comment"}, hint{"v", "viewed"}, hint{"{ }", "file"}, hint{"f", "files"}, hint{"s", "summary"}, hint{"d", "since last"}, hint{"enter", "fold"}, hint{"esc", "back"}, hint{"n", "next need"}, hint{"q", "quit"})
}

// summary is what was done and said, and all that the page has no room for.
func (p *reviewPage) summary() (text []string) {
	r := p.review
	add := func(title string, lines ...string) {
		if len(lines) > 0 {
			text = append(append(text, "", title), lines...)
		}
	}
	if s := r.Task.Submission; s != nil {
		add("What was done, by "+line(status.Who(s.By)), rowsOf(s.Text)...)
	}
	if c := r.Task.Check; c != nil {
		add(p.checks(true), rowsOf(strings.Join(c.Commands, "\n"))...)
	}
	add("What to look at", p.warnings()...)
	for _, one := range r.Rounds {
		title := "Submission " + strings.TrimPrefix(one.ID, "s")
		if one.Verdict != "" {
			title += ": " + one.Words() + " by " + status.Who(one.VerdictBy)
		}
		add(line(title), append([]string{}, append(rowsOf(one.Text), "by "+line(status.Who(one.By)))...)...)
	}
	for _, d := range append([]review.Draft{r.Draft}, r.Stale...) {
		title := "Your comments, kept until you decide"
		if d.Subject != r.Subject {
			title = "Your comments on submission " + strings.TrimPrefix(line(d.Subject.Submission), "s") + ", which was replaced"
		}
		var lines []string
		for _, c := range d.Comments {
			lines = append(lines, line(c.Where()))
			for _, l := range rowsOf(c.Text) {
				lines = append(lines, "  "+l)
			}
		}
		add(title, lines...)
	}
	return text
}

// checks says how the checks ended, with their commands where there is room.
func (p *reviewPage) checks(brief bool) string {
	c := p.review.Task.Check
	switch {
	case c == nil || c.ID == "":
		return "no checks were run"
	case c.Status != state.CheckGreen:
		return "the checks have not passed"
	}
	text := format.Count(len(c.Commands), "check", "checks") + " passed"
	if !brief && len(c.Commands) > 0 {
		text = "checks passed: " + line(strings.Join(c.Commands, ", "))
	}
	if p.review.Took > 0 {
		text += " in " + format.Duration(p.review.Took)
	}
	return text
}

// warnings are what a person should know before the decision, the most important first.
func (p *reviewPage) warnings() (list []string) {
	r := p.review
	if r.Since != nil {
		text := "only what has changed since submission " + strings.TrimPrefix(line(r.Since.ID), "s") + " is shown"
		if r.Moved {
			text += ", and changes of the project are among it"
		}
		list = append(list, text)
	}
	if p.hidden != "" {
		list = append(list, p.hidden)
	}
	if r.Cut {
		list = append(list, "the patch is longer than what is shown of it; ferrus diff shows all")
	}
	for _, n := range r.Task.Notices {
		tag, text, _ := strings.Cut(n, ": ")
		if words, ok := noticeWords[tag]; ok && r.Reviewing {
			list = append(list, line(words+text))
		}
	}
	if n := len(r.Stale); n > 0 {
		list = append(list, "you have comments on a submission that was replaced; s shows them")
	}
	return list
}

// noticeWords are for the tags of notices about what is reviewed. That about hidden characters is said with their lines.
var noticeWords = map[string]string{"unseen": "git does not show: ", "touched": "", "empty": "", "head": "", "not known": "not known: ", "config_changed": ""}

// hiddenAt says where characters are that nobody sees.
func hiddenAt(r *review.Review) string {
	first, more := "", 0
	for _, f := range r.Files {
		for _, h := range f.Hunks {
			for _, l := range h.Lines {
				switch {
				case line(l.Text) == strings.Join(strings.Fields(l.Text), " "):
				case first == "":
					first = review.Comment{Path: line(f.Path), Line: l.Key()}.Where()
				default:
					more++
				}
			}
		}
	}
	text := "hidden characters: " + first
	switch {
	case first == "":
		text += "in the names of files"
	case more > 0:
		text += fmt.Sprintf(" and %s more", format.Count(more, "line", "lines"))
	}
	return text
}
