package terminal

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/ferrus-go/ferrus/internal/status"
	"github.com/ferrus-go/ferrus/internal/status/review"
)

// A comparePage shows several attempts at one task beside each other, and what one of them has changed.
type comparePage struct {
	patchView
	of         Key // by which it was opened
	target     string
	since      time.Time
	all        *review.Comparison
	chosen     int
	other      int            // the attempt from which the difference to the chosen one is shown, -1 for none
	between    *review.Review // that difference, nil while it is read
	err        error
	asked, got int
	height     int
}

// compareMsg is what the nth read of a comparison has found.
type compareMsg struct {
	n   int
	all *review.Comparison
	err error
}

// betweenMsg is what differs between two attempts.
type betweenMsg struct {
	from, to string
	patch    *review.Patch
	err      error
}

func (p *comparePage) back() page { return nil }

// attempt is the chosen one, nil while none is known.
func (p *comparePage) attempt() *review.Attempt {
	if p.all == nil || p.chosen >= len(p.all.Attempts) {
		return nil
	}
	return &p.all.Attempts[p.chosen]
}

func (p *comparePage) about() Key {
	if a := p.attempt(); a != nil {
		return Key{Task, a.Branch}
	}
	return p.of
}

func (p *comparePage) acts() []Act {
	if a := p.attempt(); a != nil && a.Select != nil {
		return []Act{*a.Select}
	}
	return nil
}

func (p *comparePage) load(m *Model) tea.Cmd {
	p.asked++
	n, src, ctx, key := p.asked, m.src, m.ctx, p.of
	return reads(p, func() tea.Msg {
		c, err := src.Compare(ctx, key)
		return compareMsg{n, c, err}
	})
}

func (p *comparePage) receive(_ *Model, msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case compareMsg:
		if msg.n < p.got {
			return nil
		}
		p.got, p.err = msg.n, msg.err
		if msg.err != nil {
			return nil
		}
		was, first := p.attempt(), p.all == nil
		p.all, p.lastWidth = msg.all, 0
		at := slices.IndexFunc(p.all.Attempts, func(a review.Attempt) bool { return first && a.Best || was != nil && a.Branch == was.Branch })
		if p.chosen = max(0, at); first || at < 0 {
			p.other, p.between = -1, nil
		}
	case betweenMsg:
		if a := p.attempt(); a == nil || p.other < 0 || a.Branch != msg.to || p.all.Attempts[p.other].Branch != msg.from {
			return nil
		}
		if p.err = msg.err; msg.err != nil {
			p.other = -1
			return nil
		}
		p.between, p.lastWidth = review.Look(msg.patch), 0
	}
	return nil
}

func (p *comparePage) press(m *Model, key string) (tea.Cmd, bool) {
	a := p.attempt()
	if a == nil {
		return nil, false
	}
	n := len(p.all.Attempts)
	switch key {
	case "h", "left":
		p.choose((p.chosen + n - 1) % n)
	case "l", "right":
		p.choose((p.chosen + 1) % n)
	case "enter":
		return m.show(&reviewPage{of: p.about(), target: p.target, from: p}), true
	case "d":
		return p.differ(m), true
	case "S":
		if a.Select != nil {
			return nil, false
		}
		m.say(line(a.Branch)+" cannot be taken now", false)
	default:
		if len(key) == 1 && key[0] >= '1' && int(key[0]-'1') < min(9, n) {
			p.choose(int(key[0] - '1'))
			return nil, true
		}
		return nil, p.patchView.press(key, p.height)
	}
	return nil, true
}

// choose shows another attempt.
func (p *comparePage) choose(at int) {
	p.chosen, p.other, p.between, p.err = at, -1, nil, nil
	p.at, p.top, p.left, p.lastWidth = 0, 0, 0, 0
}

// differ shows what differs between the chosen attempt and the next other one, and after the last one what it has changed itself.
func (p *comparePage) differ(m *Model) tea.Cmd {
	p.between, p.err, p.at, p.top, p.lastWidth = nil, nil, 0, 0, 0
	if p.other++; p.other == p.chosen {
		p.other++
	}
	if p.other >= len(p.all.Attempts) {
		p.other = -1
		return nil
	}
	src, ctx, all, from, to := m.src, m.ctx, p.all, p.all.Attempts[p.other].Branch, p.attempt().Branch
	return reads(p, func() tea.Msg {
		d, err := src.Between(ctx, all, from, to)
		return betweenMsg{from, to, d, err}
	})
}

func (p *comparePage) keys() []hint {
	list := []hint{{"h l", "attempt"}, {"enter", "its review"}}
	if len(p.acts()) > 0 {
		list = append(list, hint{"S", "take it"})
	}
	return append(list, hint{"d", "differences"}, hint{"j k", "scroll"}, hint{"esc", "back"}, hint{"n", "next need"}, hint{"q", "quit"})
}

func (p *comparePage) status() (string, lipgloss.Style) {
	a := p.attempt()
	switch {
	case p.err != nil:
		return line(p.err.Error()), red
	case a == nil:
		return "", dim
	case a.Select == nil:
		return line(a.Branch) + " cannot be taken now", dim
	}
	return fmt.Sprintf("Taking %s merges it into %s and removes the others. It asks first.", line(a.Branch), p.target), dim
}

func (p *comparePage) view(width, height int, now time.Time) []string {
	if p.all == nil {
		rows := reading
		if p.err != nil {
			rows = errorRows(p.err)
		}
		s := &scroll{width: width, height: height, rows: rows}
		return s.view(false)
	}
	words := fmt.Sprintf("choose one of %d", len(p.all.Attempts))
	if !p.since.IsZero() {
		words += " · " + age(p.since, now)
	}
	state := choice.style.Render(choice.sign) + " " + bold.Render(words+" ")
	lines := []string{ends(bold.Render(clip(" ‹ "+line(p.all.Title), width-ansi.StringWidth(state)-1)), state, width)}
	if p.all.Scored {
		lines = append(lines, dim.Render(fit(" A score is what a command printed. Read the diff before you take one.", width)))
	}
	rule := dim.Render(strings.Repeat("─", width))
	table := p.table(width, width >= narrowBelow && height >= 30)
	table = table[:min(len(table), max(3, height-11))] // the diff has its part of a small window
	lines = append(append(append(lines, rule), table...), rule)
	lines = append(lines, p.words(width, max(1, height/6))...)
	p.height = height - len(lines)
	if p.height <= 0 {
		return lines[:height]
	}
	if p.lastWidth != width {
		p.build(width)
	}
	return append(lines, p.patchView.view(width, p.height)...)
}

// build makes the rows of what is shown below the attempts.
func (p *comparePage) build(width int) {
	a := p.attempt()
	switch {
	case p.between != nil:
		p.set(p.between, width)
	case p.other >= 0:
		p.rows = []patchRow{{pieces: []piece{{"reading …", dim}}}}
	case a == nil || a.Patch == nil:
		p.rows = []patchRow{{pieces: []piece{{"no change can be read here", dim}}}}
	default:
		p.set(review.Look(a.Patch), width)
	}
}

// names is how wide the names of facts are; least is how wide a column of an attempt is at least.
const (
	names = 12
	least = 20
)

// table is the attempts as columns: as many as fit, the chosen one among them. all has also what was said, in a line.
func (p *comparePage) table(width int, all bool) []string {
	list := p.all.Attempts
	n := max(1, min(len(list), (width-names)/least))
	from := max(0, min(p.chosen-n/2, len(list)-n))
	column := (width - names) / n
	var lines []string
	fact := func(name string, cell func(i int, a review.Attempt) string) {
		text, any := " "+fit(name, names-1), false
		for i, a := range list[from : from+n] {
			c := cell(from+i, a)
			any = any || c != ""
			text += fit(clip(c, column-1), column)
		}
		if any {
			lines = append(lines, fit(text, width))
		}
	}
	fact("", func(i int, a review.Attempt) string {
		name := fmt.Sprintf("%d %s", i+1, line(a.Branch))
		if i == p.chosen {
			return choice.style.Bold(true).Render("> " + name)
		}
		return bold.Render("  " + name)
	})
	for _, f := range facts {
		if f.beside && !all {
			continue
		}
		fact(f.name, func(_ int, a review.Attempt) string { return f.of(p.all, a) })
	}
	return lines
}

// words are what the chosen attempt says of itself, and what was said of it, in so many lines of each.
func (p *comparePage) words(width, most int) []string {
	a := p.attempt()
	s := &sheet{width: width - 1}
	title := line(a.Branch) + ", in its own words"
	if p.other >= 0 {
		title = fmt.Sprintf("What differs from %s to %s", line(p.all.Attempts[p.other].Branch), line(a.Branch))
	}
	s.add(bold, " ", title)
	part := func(style lipgloss.Style, text string) {
		from := len(s.rows)
		if s.add(style, "   ", text); len(s.rows) > from+most {
			s.rows = s.rows[:from+most]
			s.rows[from+most-1].text = clip(s.rows[from+most-1].text, width-3) + " …"
		}
	}
	switch {
	case a.Error != "":
		part(red, "It cannot be read: "+a.Error)
	case p.other < 0:
		part(plain, strings.TrimSpace(a.Said))
		part(dim, p.reviewed(a))
	}
	if a.Patch != nil && a.Patch.Hidden != "" {
		s.add(yellow, " ", "! the change has hidden characters")
	}
	shown := &scroll{width: width, height: len(s.rows), rows: s.rows}
	return shown.view(false)
}

// reviewed is what was said of an attempt.
func (p *comparePage) reviewed(a *review.Attempt) string {
	v := a.Verdict
	if v == nil {
		return ""
	}
	text := v.Words() + " by " + line(status.Who(v.VerdictBy))
	if said := strings.TrimSpace(cmp.Or(a.Remark, v.Text)); said != "" {
		text += ": “" + line(said) + "”"
	}
	return text
}
