package terminal

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/ferrus-go/ferrus/internal/status/review"
)

// plainWidth is how long lines are that a view makes for Plain.
const plainWidth = 100

// review prints what the screen shows of a review: what to look at, what was done and said, and the patch with the comments.
func (p *plainScreen) review(ctx context.Context) error {
	page, err := p.readReview(ctx)
	if err != nil {
		return err
	}
	for _, l := range append(page.header(plainWidth, true, time.Now()), page.summary()...) {
		p.say("%s", strings.TrimRight(ansi.Strip(l), " "))
	}
	page.open = map[string]bool{}
	for _, f := range page.review.Files {
		page.open[f.Path] = !f.Folded // also those that were viewed
	}
	page.set(page.review.Review, plainWidth)
	for _, r := range page.rows {
		r.right.text = strings.TrimRight(r.right.text, " ")
		text := r.gutter.text
		for _, one := range r.pieces {
			text += one.text
		}
		if r.right.text != "" {
			text += "  " + r.right.text
		}
		p.say("%s", strings.TrimRight(text, " "))
	}
	return nil
}

func (p *plainScreen) readReview(ctx context.Context) (*reviewPage, error) {
	if p.detail == nil || p.chosen.Kind != Task {
		return nil, errors.New("no task is chosen; type its number")
	}
	r, err := p.src.Review(ctx, p.chosen, "")
	if err != nil {
		return nil, err
	}
	page := &reviewPage{of: p.chosen, target: "the project"}
	page.take(r)
	return page, nil
}

// comment keeps a comment: PATH:LINE TEXT. LINE is that of the new file, and o12 one of the old file.
func (p *plainScreen) comment(ctx context.Context, words string) error {
	page, err := p.readReview(ctx)
	if err != nil {
		return err
	}
	where, text, _ := strings.Cut(words, " ")
	at := strings.LastIndexByte(where, ':')
	if at < 0 {
		return errors.New("comment takes PATH:LINE and a text")
	}
	c := review.Comment{Path: where[:at], Line: where[at+1:], Text: text}
	if !strings.HasPrefix(c.Line, "o") {
		c.Line = "n" + c.Line
	}
	page.set(page.review.Review, plainWidth)
	i := slices.IndexFunc(page.rows, func(r patchRow) bool { return r.key == c.Line && page.review.Files[r.file].Path == c.Path })
	if i < 0 || !page.review.Reviewing {
		return fmt.Errorf("%s is no line of a patch that waits for your review; review shows it", line(where))
	}
	c.Quote = page.rows[i].text
	if err := p.src.Comment(ctx, page.review.Subject, c); err != nil {
		return err
	}
	p.say("kept until you decide")
	return p.again(ctx)
}

// viewed marks a file as viewed, or takes the mark away.
func (p *plainScreen) viewed(ctx context.Context, path string) error {
	page, err := p.readReview(ctx)
	if err != nil {
		return err
	}
	for _, f := range page.review.Files {
		if f.Path == path {
			p.say("viewed: %v", !f.Viewed)
			return p.src.Viewed(ctx, page.review.Subject, f.Path, f.ID, !f.Viewed)
		}
	}
	return fmt.Errorf("%s is no file of the patch; review lists them", line(path))
}

// again reads the chosen item again, whose acts may be others.
func (p *plainScreen) again(ctx context.Context) error {
	d, err := p.src.Detail(ctx, p.chosen)
	if err == nil {
		p.detail, p.listed = d, nil
	}
	return err
}

// compare prints the attempts at the task of the chosen item.
func (p *plainScreen) compare(ctx context.Context) error {
	if p.detail == nil || p.chosen.Kind != Task {
		return errors.New("no task is chosen; type its number")
	}
	c, err := p.src.Compare(ctx, p.chosen)
	if err != nil {
		return err
	}
	page := &comparePage{all: c, other: -1}
	for i, a := range c.Attempts {
		p.say("%d. %s", i+1, line(a.Branch))
		for _, f := range facts {
			if text := ansi.Strip(f.of(c, a)); f.name != "" && !f.beside && text != "" {
				p.say("  %s: %s", f.name, text)
			}
		}
		page.chosen = i
		for _, l := range page.words(plainWidth, 40)[1:] {
			p.say("%s", strings.TrimRight(ansi.Strip(l), " "))
		}
	}
	return nil
}
