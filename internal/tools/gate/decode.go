package gate

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/ferrus-go/ferrus/internal/platform/format"
	"github.com/ferrus-go/ferrus/internal/platform/safetext"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
)

// Values are the arguments of a call, by name. A missing argument is the zero value.
type Values struct {
	Text   map[string]string
	List   map[string][]string
	Flag   map[string]bool
	Number map[string]int

	Marks int // number of hidden characters of texts that became marks
}

// Notice says what became of hidden characters of the texts, "" if they had none.
func (v Values) Notice() string {
	if v.Marks == 0 {
		return ""
	}
	return fmt.Sprintf("%d hidden characters (escape sequences, invisible or bidirectional ones) of your text are stored as marks "+
		"such as <U+202E>: every reader sees them", v.Marks)
}

// clean returns a text as it is stored. A text with NUL is returned unchanged, and refused later,
// as is one of which nothing is seen.
func (v *Values) clean(text string) string {
	if strings.ContainsRune(text, 0) || safetext.Blank(text) {
		return text
	}
	text, n := safetext.Document(text)
	v.Marks += n
	return text
}

// wrong is the refusal of an argument: what is wrong with it, and what to send instead.
func wrong(message string, remedy refusal.Own) error {
	return &refusal.RefusedError{Code: refusal.InvalidInput, Message: message, Remedy: remedy}
}

// Decode reads the arguments strictly. It refuses an argument that is misspelt, given twice, of the
// wrong type or not a text, and says what is allowed. The error is a *refusal.RefusedError of code InvalidInput; the values are then
// those that were read before it.
func (t Tool) Decode(raw json.RawMessage) (Values, error) {
	v := Values{Text: map[string]string{}, List: map[string][]string{}, Flag: map[string]bool{}, Number: map[string]int{}}
	seen := map[string]bool{}
	dec := json.NewDecoder(bytes.NewReader(raw))
	if text := bytes.TrimSpace(raw); len(text) > 0 && string(text) != "null" {
		if open, err := dec.Token(); err != nil || open != json.Delim('{') {
			return v, wrong("the arguments must be an object", refusal.Say("send an object with %s", t.names()))
		}
		for dec.More() {
			name, value, err := member(dec)
			if err != nil {
				return v, wrong("the arguments are not JSON: "+err.Error(), refusal.Say("send an object with %s", t.names()))
			}
			arg, ok := t.arg(name)
			if !ok {
				return v, t.unknown(name)
			}
			if seen[name] {
				return v, wrong(name+" is given twice", "send it once")
			}
			seen[name] = true
			if err := v.read(arg, value); err != nil {
				return v, err
			}
		}
	}
	for _, a := range t.Args {
		if !seen[a.Name] && !a.Optional {
			return v, wrong(a.Name+" is missing", refusal.Say("send %s: %s", a.Name, a.Doc))
		}
	}
	return v, nil
}

// member reads one name of an object and its value.
func member(dec *json.Decoder) (string, json.RawMessage, error) {
	name, err := dec.Token()
	if err != nil {
		return "", nil, err
	}
	var value json.RawMessage
	err = dec.Decode(&value)
	return name.(string), value, err // the names of an object are strings
}

// read reads the value of one argument. null means that an optional argument is omitted.
func (v *Values) read(a Arg, value json.RawMessage) error {
	if string(value) == "null" && a.Optional {
		return nil
	}
	// This comes before decoding: encoding/json would silently repair the text, and the stored text
	// would differ from the sent one.
	if !intact(value) {
		return wrong(a.Name+" is not UTF-8", "send text, and describe binary content in words")
	}
	switch {
	case a.List:
		var list []string
		if json.Unmarshal(value, &list) != nil || list == nil {
			return wrong(a.Name+" must be a list of strings", `send it as ["..."]`)
		}
		for i, text := range list {
			list[i] = v.clean(text)
		}
		v.List[a.Name] = list
		return nil
	case a.Flag:
		if text := string(value); text != "true" && text != "false" {
			return wrong(a.Name+" must be true or false", "send it without quotes")
		}
		v.Flag[a.Name] = string(value) == "true"
		return nil
	case a.Number > 0:
		var n int
		if json.Unmarshal(value, &n) != nil || n < 1 || n > a.Number {
			return wrong(fmt.Sprintf("%s must be a whole number from 1 to %d", a.Name, a.Number), "send it without quotes, or leave it out")
		}
		v.Number[a.Name] = n
		return nil
	}
	var text *string
	if json.Unmarshal(value, &text) != nil || text == nil {
		return wrong(a.Name+" must be a string", `send it as "..."`)
	}
	if !a.Exact {
		*text = v.clean(*text)
	}
	if a.Line > 0 && (utf8.RuneCountInString(*text) > a.Line || strings.ContainsAny(*text, "\r\n\x00")) {
		return wrong(fmt.Sprintf("%s must be one line of at most %d characters", a.Name, a.Line), "shorten it")
	}
	v.Text[a.Name] = *text
	return nil
}

// intact reports whether a JSON value is UTF-8 and has no escaped half of a surrogate pair.
func intact(value []byte) bool {
	if !utf8.Valid(value) {
		return false
	}
	for i := 0; i < len(value); i++ {
		if value[i] != '\\' {
			continue
		}
		i++ // to the escaped character, which may be a backslash
		high := surrogate(value[i-1:])
		if high == 0 {
			continue
		}
		i += len(`u1234`)
		if utf16.DecodeRune(high, surrogate(value[i:])) == utf8.RuneError {
			return false
		}
		i += len(`u1234`)
	}
	return true
}

// surrogate returns the half of a surrogate pair that text starts with as an escape, 0 when it
// starts with none.
func surrogate(text []byte) rune {
	if len(text) < len(`\u1234`) || text[0] != '\\' || text[1] != 'u' {
		return 0
	}
	n, err := strconv.ParseUint(string(text[2:6]), 16, 16)
	if err != nil || !utf16.IsSurrogate(rune(n)) {
		return 0
	}
	return rune(n)
}

func (t Tool) arg(name string) (Arg, bool) {
	for _, a := range t.Args {
		if a.Name == name {
			return a, true
		}
	}
	return Arg{}, false
}

func (t Tool) unknown(name string) error {
	var names []string
	for _, a := range t.Args {
		names = append(names, a.Name)
	}
	remedy := refusal.Say("send %s", t.names())
	if near := format.Word(name, names); near != "" {
		remedy = refusal.Say("did you mean %s?", near)
	}
	return wrong(fmt.Sprintf("%s has no argument %.80q", t.Name, name), remedy)
}

// names returns the tool's arguments for a reader.
func (t Tool) names() string {
	if len(t.Args) == 0 {
		return "no arguments"
	}
	var names []string
	for _, a := range t.Args {
		if a.Optional {
			names = append(names, a.Name+" (optional)")
		} else {
			names = append(names, a.Name)
		}
	}
	return strings.Join(names, ", ")
}
