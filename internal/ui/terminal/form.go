package terminal

import (
	"cmp"
	"strconv"
	"strings"
	"unicode/utf8"

	"charm.land/bubbles/v2/textarea"
	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"

	"github.com/ferrus-go/ferrus/internal/status"
)

// A form asks for the fields of an act.
type form struct {
	does   Act
	inputs []*input
	at     int
	wrong  string // why it cannot be sent
	top    int    // of the text of a question
	ways   []Act  // of a new task; does is one of them
	way    int
	chosen bool // numbers are typed, and choose no way

	save func(values map[string]string) tea.Cmd // takes what is sent in place of an act; nil for an act
}

// An input is a field that is being filled in.
type input struct {
	Field
	area   *textarea.Model
	whole  string // the text itself where the area cannot hold it: it turns tabs into spaces, and ends after some lines
	line   *textinput.Model
	choice int // of the options; their number is an answer in one's own words, for which there is the area
}

func newForm(what Act, values map[string]string) *form {
	f := &form{does: what}
	for _, field := range what.Fields {
		f.inputs = append(f.inputs, newInput(field, cmp.Or(values[field.Name], field.Value)))
	}
	f.focus(0)
	return f
}

// Neither runs a program of PATH to reach the clipboard: terminals paste by themselves.
func newInput(field Field, value string) *input {
	in := &input{Field: field}
	switch field.Kind {
	case status.ChoiceField, status.TextField:
		if n, err := strconv.Atoi(value); err == nil && n >= 1 && n <= len(field.Options) {
			in.choice, value = n-1, ""
		} else if value != "" {
			in.choice = len(field.Options)
		}
		area := textarea.New()
		area.Prompt, area.ShowLineNumbers, area.CharLimit, area.MaxHeight = "", false, 0, 0
		area.KeyMap.Paste.SetEnabled(false)
		area.SetVirtualCursor(false)
		in.area = &area
		in.set(value)
	default:
		one := textinput.New()
		one.Prompt = ""
		one.KeyMap.Paste.SetEnabled(false)
		one.SetVirtualCursor(false)
		one.SetValue(value)
		in.line = &one
	}
	return in
}

// set puts a text into the area.
func (in *input) set(text string) {
	in.area.SetValue(text)
	if in.whole = ""; in.area.Value() != text {
		in.whole = text
	}
}

// tabMark stands for a tab in the area, which would turn it into spaces.
const tabMark = '\uf009'

// paste puts a text where the cursor is, and reports whether there was room for it.
func (in *input) paste(text string) bool {
	if in.whole != "" {
		return false
	}
	was, chars := in.area.Value(), in.area.Length()
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
	in.area.InsertString(strings.ReplaceAll(text, "\t", string(tabMark)))
	now := in.area.Value()
	if in.area.Length()-chars != utf8.RuneCountInString(text) { // it ends earlier
		in.set(was)
		return false
	}
	if strings.Contains(text, "\t") {
		in.set(strings.ReplaceAll(now, string(tabMark), "\t"))
	}
	return true
}

// value is what stands in a field.
func (in *input) value() string {
	switch {
	case in.choice < len(in.Options):
		return strconv.Itoa(in.choice + 1)
	case in.area != nil:
		return strings.TrimSpace(in.text())
	}
	return strings.TrimSpace(in.line.Value())
}

// text is what stands in the area.
func (in *input) text() string {
	if in.whole != "" {
		return in.whole
	}
	return in.area.Value()
}

// choosing reports whether keys choose an option.
func (in *input) choosing() bool { return in.choice < len(in.Options) }

// values are what stands in the fields.
func (f *form) values() map[string]string {
	of := map[string]string{}
	for _, in := range f.inputs {
		of[in.Name] = in.value()
	}
	return of
}

func (f *form) focus(at int) {
	n := len(f.inputs)
	if f.ways != nil { // they follow the fields
		n++
	}
	f.at = (at + n) % n
	for i, in := range f.inputs {
		switch {
		case in.area != nil && i == f.at:
			in.area.Focus()
		case in.area != nil:
			in.area.Blur()
		case in.line != nil && i == f.at:
			in.line.Focus()
		case in.line != nil:
			in.line.Blur()
		}
	}
}

func (f *form) update(msg tea.Msg) (reply, tea.Cmd) {
	if press, ok := msg.(tea.KeyPressMsg); ok && f.wayKey(press.String()) {
		return reply{}, nil
	}
	in := &input{}
	if !f.onWays() {
		in = f.inputs[f.at]
	}
	if pasted, ok := msg.(tea.PasteMsg); ok && in.area != nil {
		if f.wrong = ""; !in.paste(pasted.Content) {
			f.wrong = "this text cannot be pasted here; ctrl+e opens it in your editor"
		}
		return reply{}, nil
	}
	press, ok := msg.(tea.KeyPressMsg)
	if !ok {
		return reply{}, in.update(msg)
	}
	f.wrong = ""
	if f.asks() {
		if r, taken := f.askingKey(press.String()); taken {
			return r, nil
		}
	}
	switch k := press.String(); {
	case k == "esc":
		return reply{closed: true, values: f.values()}, nil
	case k == "ctrl+s":
		return f.send(), nil
	case k == "ctrl+y" && f.save == nil:
		return reply{copy: commandOf(f.does)}, nil
	case k == "ctrl+e" && in.area != nil:
		in.choice = len(in.Options)
		return reply{edit: true}, nil
	case k == "tab":
		f.focus(f.at + 1)
	case k == "shift+tab":
		f.focus(f.at - 1)
	case f.onWays():
	case k == "enter" && (in.area == nil || in.choosing()) && f.at < len(f.inputs)-1:
		f.focus(f.at + 1)
	case k == "enter" && (in.area == nil || in.choosing()):
		return f.send(), nil
	case in.choosing():
		if in.choose(k) && len(f.inputs) == 1 {
			return f.send(), nil
		}
	case k == "up" && len(in.Options) > 0 && in.area.Line() == 0:
		in.choice--
	case in.whole != "":
		f.wrong = "a text with tabs, or of many lines, is edited with ctrl+e"
	case in.Kind == status.NumberField && len(press.Text) > 0 && strings.Trim(press.Text, "0123456789") != "":
	default:
		return reply{}, in.update(msg)
	}
	return reply{}, nil
}

// choose takes an option by its number, and reports whether it was one; the arrows move. After the last one, and at 0, is the
// answer in one's own words.
func (in *input) choose(k string) bool {
	switch k {
	case "j", "down":
		in.choice = in.choice + 1
	case "k", "up":
		in.choice = max(in.choice-1, 0)
	case "0":
		in.choice = len(in.Options)
	default:
		if len(k) == 1 && k[0] >= '1' && k[0] <= '9' && int(k[0]-'1') < len(in.Options) {
			in.choice = int(k[0] - '1')
			return true
		}
	}
	return false
}

func (in *input) update(msg tea.Msg) (cmd tea.Cmd) {
	switch {
	case in.area != nil:
		*in.area, cmd = in.area.Update(msg)
	case in.line != nil:
		*in.line, cmd = in.line.Update(msg)
	}
	return cmd
}

// noticed is what a person should know before an act, in lines of a width.
func noticed(a Act, width int) (rows []string) {
	for _, n := range a.Notices {
		for _, piece := range wrapped(line(n), width) {
			rows = append(rows, yellow.Render(piece))
		}
	}
	return rows
}

// commandOf is the command of an act, for a person who would rather paste it.
func commandOf(a Act) string { return line(a.Command()) }

// send returns the act with its values, if all that is required is there.
func (f *form) send() reply {
	for i, in := range f.inputs {
		if in.Required && in.value() == "" {
			f.focus(i)
			f.wrong = line(in.Label) + " is required"
			return reply{}
		}
	}
	return reply{closed: true, act: &f.does, values: f.values()}
}

func (f *form) keys() []hint {
	switch {
	case f.asks():
		return f.askingKeys()
	case f.ways != nil:
		return f.newTaskKeys()
	}
	list := []hint{{"ctrl+s", "send"}, {"esc", "cancel"}}
	in := f.inputs[f.at]
	if in.choosing() {
		list = append([]hint{{"1-9", "choose"}, {"0", "your own words"}}, list...)
	}
	if in.area != nil {
		list = append(list, hint{"ctrl+e", "$EDITOR"})
	}
	if len(f.inputs) > 1 {
		list = append(list, hint{"tab", "next field"})
	}
	if f.save != nil {
		return list
	}
	return append(list, hint{"ctrl+y", "copy the command"})
}

func (f *form) view(width, height int) ([]string, *tea.Cursor) {
	if f.ways != nil {
		return f.newTaskView(width, height)
	}
	width = min(width-4, 80)
	areas, others := 0, 3
	most := 10
	for _, in := range f.inputs {
		if len(in.Options) > 0 {
			most = 3
		}
		others += 1 + len(in.Options) + min(1, len(in.Options))
		if in.area != nil {
			areas++
		} else if in.line != nil {
			others++
		}
	}
	rows := noticed(f.does, width)
	others += len(rows)
	room := 1
	if areas > 0 {
		room = max(1, min(most, (height-others-1)/areas))
	}
	var cursor *tea.Cursor
	top := 0 // the line of the field that is filled in
	for i, in := range f.inputs {
		mark, style := "  ", plain
		if i == f.at {
			mark, style, top = "> ", bold, len(rows)
		}
		label := line(in.Label)
		if !in.Required {
			label += " (may stay empty)"
		}
		rows = append(rows, style.Render(clip(mark+label, width)))
		drawn, at := in.view(width-2, room)
		if at != nil && i == f.at {
			at.X, at.Y = at.X+2, at.Y+len(rows)
			cursor = at
		}
		for _, r := range drawn {
			rows = append(rows, "  "+r)
		}
	}
	if f.wrong != "" {
		rows = append(rows, red.Render(f.wrong))
	} else if f.save == nil {
		rows = append(rows, dim.Render(clip(commandOf(f.does), width)))
	}
	if cut := top - max(0, height-2-room-2); cut > 0 && len(rows) > height-2 { // the field in hand stays in sight
		cut = min(cut, len(rows)-(height-2))
		rows = rows[cut:]
		if cursor != nil {
			cursor.Y -= cut
		}
	}
	rows = rows[:min(len(rows), max(1, height-2))]
	if cursor != nil { // within the frame
		cursor.X, cursor.Y = cursor.X+2, cursor.Y+1
	}
	return framed(line(f.does.Label), rows, width), cursor
}

func (in *input) view(width, room int) ([]string, *tea.Cursor) {
	if in.line != nil {
		in.line.SetWidth(width - 1)
		return []string{fit(in.line.View(), width)}, in.line.Cursor()
	}
	var rows []string
	for i, o := range in.Options {
		rows = append(rows, in.option(i, numbered(i, o), width))
	}
	if n := len(in.Options); n > 0 {
		rows = append(rows, in.option(n, "0. in your own words:", width))
	}
	in.area.SetWidth(width)
	in.area.SetHeight(room)
	at := in.area.Cursor()
	if at != nil {
		at.Y += len(rows)
	}
	if in.choosing() {
		at = nil
	}
	return append(rows, in.areaRows(width)...), at
}

// areaRows are the lines of the area.
func (in *input) areaRows(width int) []string {
	rows := strings.Split(in.area.View(), "\n")
	for i, r := range rows {
		rows[i] = fit(r, width)
	}
	return rows
}

// option is a line of a choice.
func (in *input) option(i int, text string, width int) string {
	if i == in.choice {
		return bold.Render(clip("* "+text, width))
	}
	return clip("  "+text, width)
}
