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
	"strings"
	"time"

	"github.com/ferrus-go/ferrus/internal/status"
)

// plainHelp are the words of Plain.
const plainHelp = `list          all items, with their numbers
NUMBER        show an item
next          the next item that needs you
changes, checks, agents, documents, log   more of the item
review        all to review: what was said, the patch with its comments
comment PATH:LINE TEXT   keep a comment until you decide
viewed PATH   mark a file as viewed, or not
compare       the attempts at the task, one after the other
acts          what you can do now, with numbers
act NUMBER    do it; its fields are asked for one by one
quit          end; runs go on`

// A plainScreen is the screen line by line: for screen readers, and for terminals that can do nothing else.
type plainScreen struct {
	src      Source
	in       *bufio.Reader
	out      io.Writer
	items    []item // as they were listed last: a number means what was shown with it
	overview *status.Overview
	chosen   Key // of the item that detail is about
	detail   *Detail
	listed   []Act // as they were listed last for the item; nil if they were not
}

// Plain shows a project line by line, until quit or the end of in.
func Plain(ctx context.Context, src Source, title string, in io.Reader, out io.Writer) error {
	p := &plainScreen{src: src, in: bufio.NewReader(in), out: out}
	p.say("ferrus %s. Type help for the words, quit to end.", line(title))
	if err := p.list(ctx); err != nil {
		return err
	}
	for {
		text, err := p.ask("> ")
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if text == "quit" || text == "q" {
			return nil
		}
		if err := p.obey(ctx, text); err != nil {
			p.say("error: %s", strings.Join(rowsOf(err.Error()), "\n"))
		}
	}
}

func (p *plainScreen) say(layout string, args ...any) { fmt.Fprintf(p.out, layout+"\n", args...) }

// ask reads an answer of a line.
func (p *plainScreen) ask(prompt string) (string, error) {
	fmt.Fprint(p.out, prompt)
	text, err := p.in.ReadString('\n')
	if err != nil && text == "" {
		return "", err
	}
	return strings.TrimSpace(text), nil
}

// obey does what a line says.
func (p *plainScreen) obey(ctx context.Context, text string) error {
	word, rest, _ := strings.Cut(text, " ")
	n, numberErr := strconv.Atoi(word)
	switch {
	case text == "":
		return nil
	case numberErr == nil:
		return p.show(ctx, n-1)
	case word == "help" || word == "?":
		p.say("%s", plainHelp)
	case word == "list":
		return p.list(ctx)
	case word == "next":
		return p.next(ctx)
	case word == "review":
		return p.review(ctx)
	case word == "comment":
		return p.comment(ctx, rest)
	case word == "viewed":
		return p.viewed(ctx, rest)
	case word == "compare":
		return p.compare(ctx)
	case word == "acts":
		p.acts()
	case word == "act":
		return p.act(ctx, rest)
	default:
		for _, t := range newTabs()[1:] {
			if t.name() == word {
				return p.tab(t)
			}
		}
		return fmt.Errorf("%q is not known; help lists the words", line(word))
	}
	return nil
}

func (p *plainScreen) list(ctx context.Context) error {
	o, err := p.src.Overview(ctx, false)
	if err != nil {
		return err
	}
	p.overview, p.items = o, itemsOf(o, time.Now())
	if o.Foreign != nil {
		p.say("not made here, shown as text only: %s", line(o.Foreign.Error()))
	}
	for g, of := range groups {
		n := 0
		for i, it := range p.items {
			if it.group != g {
				continue
			}
			if n++; n == 1 {
				p.say("%s:", strings.ToLower(of.title))
			}
			p.say("%d. %s: %s", i+1, it.name, it.sentence)
		}
		if n == 0 && g == 0 {
			p.say("nothing needs you")
		}
	}
	return nil
}

func (p *plainScreen) show(ctx context.Context, at int) error {
	if at < 0 || at >= len(p.items) {
		return fmt.Errorf("there is no item %d; list shows them", at+1)
	}
	return p.choose(ctx, p.items[at].key)
}

func (p *plainScreen) choose(ctx context.Context, key Key) error {
	d, err := p.src.Detail(ctx, key)
	if err != nil {
		return err
	}
	p.chosen, p.detail, p.listed = key, d, nil
	return p.tab(&storyTab{needs: needsIn(p.overview, key), commands: true})
}

// tab prints all that a tab of the screen would show of the item.
func (p *plainScreen) tab(t tab) error {
	if p.detail == nil {
		return errors.New("no item is chosen; type its number")
	}
	t.resize(100, 1)
	t.show(p.detail, time.Now())
	if cmd := t.load(p.src, p.chosen); cmd != nil {
		t.receive(cmd())
	}
	for _, r := range t.content() {
		p.say("%s", strings.TrimRight(r.text, " "))
	}
	return nil
}

// next shows the item after the chosen one that needs a person. Its number is that of the list, if it was there.
func (p *plainScreen) next(ctx context.Context) error {
	if err := p.read(ctx); err != nil {
		return err
	}
	items := itemsOf(p.overview, time.Now())
	is := func(key Key) func(item) bool { return func(it item) bool { return it.key == key } }
	from := max(0, slices.IndexFunc(items, is(p.chosen)))
	for i := 1; i <= len(items); i++ {
		it := items[(from+i)%len(items)]
		if !it.needs {
			continue
		}
		name := it.name
		if at := slices.IndexFunc(p.items, is(it.key)); at >= 0 {
			name = fmt.Sprintf("%d. %s", at+1, name)
		}
		p.say("%s", name)
		return p.choose(ctx, it.key)
	}
	p.say("nothing needs you")
	return nil
}

func (p *plainScreen) read(ctx context.Context) error {
	o, err := p.src.Overview(ctx, false)
	if err == nil {
		p.overview = o
	}
	return err
}

// can are the acts that can be done now.
func (p *plainScreen) can() []Act {
	var all []Act
	all = append(all, p.detail.Acts()...)
	return append(all, p.overview.Acts...)
}

func (p *plainScreen) acts() {
	p.listed = p.can()
	for i, a := range p.listed {
		p.say("%d. %s", i+1, line(a.Label))
	}
	if len(p.listed) == 0 {
		p.say("nothing can be done now")
	}
}

// act asks for the fields of an act, and before something is lost, and carries it out.
func (p *plainScreen) act(ctx context.Context, which string) error {
	n, err := strconv.Atoi(which)
	list := p.listed
	if list == nil {
		list = p.can()
	}
	if err != nil || n < 1 || n > len(list) {
		return fmt.Errorf("act takes a number; acts lists them")
	}
	act, values := list[n-1], map[string]string{}
	for _, notice := range act.Notices {
		p.say("notice: %s", line(notice))
	}
	for _, f := range act.Fields {
		for i, o := range f.Options {
			p.say("%s", numbered(i, o))
		}
		for _, l := range rowsOf(f.Value) {
			p.say("kept: %s", l)
		}
		text, err := p.ask(line(f.Label) + ": ")
		if err != nil {
			return err
		}
		text = cmp.Or(text, f.Value)
		if text == "" && f.Required {
			return fmt.Errorf("%s is required; nothing was done", line(f.Label))
		}
		values[f.Name] = text
	}
	if act.Loses != "" {
		text, err := p.ask(line(act.Loses) + " Type yes to go on: ")
		if err != nil || text != "yes" {
			p.say("nothing was done")
			return err
		}
	}
	key := p.chosen
	if slices.ContainsFunc(p.overview.Acts, act.Same) {
		key = Key{}
	}
	outcome, err := p.src.Do(ctx, key, act, values)
	if err != nil {
		return err
	}
	if outcome.Failed() {
		return errors.New(outcome.Why())
	}
	p.say("%s", strings.Join(rowsOf(outcome.Text), "\n"))
	return p.read(ctx)
}
