package terminal

import (
	"fmt"
	"strings"
	"time"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/ferrus-go/ferrus/internal/platform/format"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/status"
)

// filesColumns is how wide the list of files is beside a patch.
const filesColumns = 30

func (p *reviewPage) view(width, height int, now time.Time) []string {
	if p.review == nil {
		rows := reading
		if p.err != nil {
			rows = errorRows(p.err)
		}
		s := &scroll{width: width, height: height, rows: rows}
		return s.view(false)
	}
	beside := width >= narrowBelow
	room, line := p.build(width), strings.Repeat("─", width)
	if beside {
		line = strings.Repeat("─", filesColumns+1) + "┬" + strings.Repeat("─", room+1)
	}
	lines := append(p.header(width, beside, now), dim.Render(line))
	p.height = max(1, height-len(lines))
	var rows []string
	switch {
	case len(p.rows) == 0:
		s := &scroll{width: room, height: p.height, rows: []row{{text: " There is no change.", style: dim}}}
		rows = s.view(false)
	case p.list && !beside:
		rows = p.files(width, p.height)
	default:
		rows = p.patchView.view(room, p.height)
	}
	if beside {
		left := p.files(filesColumns, p.height)
		for i := range rows {
			rows[i] = left[i] + " " + dim.Render("│") + " " + rows[i]
		}
	}
	return append(lines, rows...)[:height]
}

// build makes the rows of the patch for a window, and returns how wide they are.
func (p *reviewPage) build(width int) int {
	if width >= narrowBelow {
		width -= filesColumns + 3
	}
	if p.lastWidth != width {
		p.set(p.review.Review, width)
	}
	return width
}

// header says what is decided on, who has made it, and what to look at: in one line below 100 columns.
func (p *reviewPage) header(width int, beside bool, now time.Time) []string {
	r, t := p.review, p.review.Task
	where := ""
	if t.Branch != "" {
		where = " · " + line(t.Branch) + " → " + p.target
	}
	words := status.StateWords(t.State)
	judgement := plain.Render(words)
	if r.Reviewing {
		words = "your review"
		if beside {
			words = "waiting for your review"
		}
		words += fmt.Sprintf(" · round %d", t.Reviews.Used+1)
		if beside && t.Reviews.Max > 0 {
			words += fmt.Sprintf(" of %d", t.Reviews.Max)
		}
		judgement = judges.style.Render(judges.sign) + " " + bold.Render(words)
	}
	judgement += bold.Render(where)
	lines := []string{ends(bold.Render(clip(" ‹ "+line(t.Title), width-ansi.StringWidth(judgement)-2)), judgement+" ", width)}
	facts := []string{}
	if s := t.Submission; s != nil {
		facts = append(facts, dim.Render(line(status.Who(s.By))+", "+age(s.At, now)))
	}
	facts = append(facts, dim.Render(format.Count(len(r.Files), "file", "files"))+" "+green.Render(fmt.Sprintf("+%d", r.Added))+" "+red.Render(fmt.Sprintf("-%d", r.Removed)))
	style := dim
	if c := t.Check; c != nil && c.ID != "" {
		if style = red; c.Status == state.CheckGreen {
			style = green
		}
	}
	facts = append(facts, style.Render(p.checks(!beside)))
	if cost := status.Usage(t.Spent.Usage); cost != "" {
		facts = append(facts, dim.Render(line(cost)))
	}
	lines = append(lines, fit(" "+strings.Join(facts, "  "), width))
	warnings := p.warnings()
	if !beside && len(warnings) > 1 {
		warnings = []string{clip(warnings[0], width/2) + "  ! " + strings.Join(warnings[1:], "  ! ")}
	}
	const most = 4
	for i, w := range warnings {
		if i == most-1 && len(warnings) > most {
			w = fmt.Sprintf("%d more; s shows them", len(warnings)-i)
		}
		if i < most {
			lines = append(lines, yellow.Render(fit(" ! "+w, width)))
		}
	}
	return lines
}

// files is the list of files with what the person has viewed, and below it what was done and said, as far as there is room.
func (p *reviewPage) files(width, height int) []string {
	r := p.review
	s := &sheet{width: width - 1}
	s.rows = append(s.rows, row{text: fmt.Sprintf("%s, %d viewed", format.Count(len(r.Files), "file", "files"), r.Marked), style: bold})
	at := p.current()
	from := max(0, min(at-height/2, len(r.Files)-height+1))
	for i := from; i < len(r.Files) && len(s.rows) < height; i++ {
		f := r.Files[i]
		sign, style := " ", plain
		if f.Viewed {
			sign, style = "✓", dim
		}
		cursor := " "
		if i == at {
			if cursor, style = ">", style.Bold(true); p.list {
				style = style.Reverse(true)
			}
		}
		size := fmt.Sprintf("+%d -%d", f.Added, f.Removed)
		text := ends(cursor+sign+" "+clipStart(line(f.Path), width-len(size)-5), size, width-1)
		s.rows = append(s.rows, row{text: text, style: style})
	}
	if width == filesColumns {
		p.told(s)
	}
	shown := &scroll{width: width, height: height, rows: s.rows}
	lines := shown.view(false)
	if len(s.rows) > 0 {
		lines[0] = bold.Render(fit(" "+s.rows[0].text, width))
	}
	return lines
}

// told adds what was done, how it was checked, and what was said before.
func (p *reviewPage) told(s *sheet) {
	r := p.review
	part := func(title string, style lipgloss.Style, text string) {
		if text == "" {
			return
		}
		s.gap()
		s.add(bold, " ", title)
		s.add(style, " ", text)
	}
	if d := r.Task.Submission; d != nil {
		part("What was done", plain, d.Text)
	}
	if n := len(r.Rounds); n > 0 && r.Rounds[n-1].Verdict != "" {
		last := r.Rounds[n-1]
		text := last.Words() + " by " + status.Who(last.VerdictBy)
		said, changed := 0, 0
		for _, f := range r.Files {
			for _, one := range f.Said {
				if said++; one.Changed {
					changed++
				}
			}
		}
		if said > 0 {
			text += fmt.Sprintf("\n%s, %d changed since", format.Count(said, "comment", "comments"), changed)
		}
		part("Submission "+strings.TrimPrefix(line(last.ID), "s"), plain, text)
	}
}

// status says what is kept, and that there is something newer.
func (p *reviewPage) status() (string, lipgloss.Style) {
	switch n := p.kept(); {
	case p.newer != nil:
		return "submission " + strings.TrimPrefix(line(p.newer.Subject.Submission), "s") + " is there; ctrl+r shows it", yellow
	case p.err != nil:
		return "it could not be read again: " + line(p.err.Error()), red
	case n == 1:
		return "1 comment of yours is kept until you decide", yellow
	case n > 1:
		return fmt.Sprintf("%d comments of yours are kept until you decide", n), yellow
	case p.review != nil && p.review.Reviewing:
		return "y approves these files, as they are: submission " + strings.TrimPrefix(line(p.review.Subject.Submission), "s"), dim
	}
	return "", dim
}

// kept is how many comments of the person are kept.
func (p *reviewPage) kept() int {
	if p.review == nil {
		return 0
	}
	return len(p.review.Draft.Comments)
}
