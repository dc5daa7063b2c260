package tools

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/ferrus-go/ferrus/internal/config"
	"github.com/ferrus-go/ferrus/internal/engine"
)

// decode reads the arguments strictly: what is misspelt, given twice, of the wrong type or no text is refused with what
// is meant.
func (c *call) decode(raw json.RawMessage) error {
	c.text, c.list = map[string]string{}, map[string][]string{}
	seen := map[string]bool{}
	dec := json.NewDecoder(bytes.NewReader(raw))
	if text := bytes.TrimSpace(raw); len(text) > 0 && string(text) != "null" {
		if open, err := dec.Token(); err != nil || open != json.Delim('{') {
			return c.invalid("the arguments must be an object", "send an object with "+c.names())
		}
		for dec.More() {
			name, value, err := member(dec)
			if err != nil {
				return c.invalid("the arguments are not JSON: "+err.Error(), "send an object with "+c.names())
			}
			arg, ok := c.arg(name)
			if !ok {
				return c.unknown(name)
			}
			if seen[name] {
				return c.invalid(name+" is given twice", "send it once")
			}
			seen[name] = true
			if err := c.value(arg, value); err != nil {
				return err
			}
		}
	}
	for _, a := range c.tool.Args {
		if !seen[a.Name] && !a.Optional {
			return c.invalid(a.Name+" is missing", "send "+a.Name+": "+a.Doc)
		}
	}
	return nil
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

// value reads the value of one argument. null stands for an optional one that is left out.
func (c *call) value(a Arg, value json.RawMessage) error {
	if string(value) == "null" && a.Optional {
		return nil
	}
	// Before it is decoded: encoding/json would silently mend it, and other text would be stored than was sent.
	if !intact(value) {
		return c.invalid(a.Name+" is not UTF-8", "send text; describe what is none")
	}
	if a.List {
		var list []string
		if json.Unmarshal(value, &list) != nil || list == nil {
			return c.invalid(a.Name+" must be a list of strings", `send it as ["..."]`)
		}
		c.list[a.Name] = list
		return nil
	}
	var text *string
	if json.Unmarshal(value, &text) != nil || text == nil {
		return c.invalid(a.Name+" must be a string", `send it as "..."`)
	}
	if a.Line && (utf8.RuneCountInString(*text) > engine.MaxLine || strings.ContainsAny(*text, "\r\n\x00")) {
		return c.invalid(fmt.Sprintf("%s must be one line of at most %d characters", a.Name, engine.MaxLine), "shorten it")
	}
	c.text[a.Name] = *text
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
		i++ // to what is escaped, which may be a backslash
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

// surrogate returns the half of a surrogate pair that text begins with as an escape, 0 when it begins with none.
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

func (c *call) arg(name string) (Arg, bool) {
	for _, a := range c.tool.Args {
		if a.Name == name {
			return a, true
		}
	}
	return Arg{}, false
}

func (c *call) unknown(name string) error {
	var names []string
	for _, a := range c.tool.Args {
		names = append(names, a.Name)
	}
	remedy := "send " + c.names()
	if near := config.Nearest(name, names); near != "" {
		remedy = "did you mean " + near + "?"
	}
	return c.invalid(fmt.Sprintf("%s has no argument %.80q", c.tool.Name, name), remedy)
}

// names lists the tool's arguments for a reader.
func (c *call) names() string {
	if len(c.tool.Args) == 0 {
		return "no arguments"
	}
	var names []string
	for _, a := range c.tool.Args {
		if a.Optional {
			names = append(names, a.Name+" (optional)")
		} else {
			names = append(names, a.Name)
		}
	}
	return strings.Join(names, ", ")
}

func (c *call) invalid(message, remedy string) error {
	return &engine.Refusal{Code: engine.InvalidInput, Message: message, Remedy: remedy}
}
