package cli

import (
	"bytes"
	"encoding/json"
	"maps"

	"github.com/ferrus-go/ferrus/internal/platform/format"
)

// Qualify adds a member to every report in JSON that is printed from now on, of a list to each of its objects. It is for what a person reads on stderr and a
// program would miss: that a report is not to be taken as it stands. The reports of ferrus have no such key themselves.
func (a *App) Qualify(key string, value any) {
	qualified := maps.Clone(a.qualified) // a copy of the App may be in use
	if qualified == nil {
		qualified = map[string]any{}
	}
	qualified[key] = value
	a.qualified = qualified
}

// printJSON prints a result with what qualifies it.
func (a *App) printJSON(v any, indent string) error {
	text, err := format.JSON(v, indent)
	if err == nil && len(a.qualified) > 0 {
		text, err = qualified(v, a.qualified, indent)
	}
	if err == nil {
		_, err = a.Out.Write(text)
	}
	return err
}

// qualified is v as JSON with other members, which come first.
func qualified(v any, members map[string]any, indent string) ([]byte, error) {
	text, err := format.JSON(v, "")
	if err != nil {
		return nil, err
	}
	more, err := format.JSON(members, "")
	if err != nil {
		return nil, err
	}
	if text, err = join(bytes.TrimSpace(text), bytes.TrimSpace(more)); err != nil {
		return nil, err
	}
	if indent == "" {
		return append(text, '\n'), nil
	}
	var b bytes.Buffer
	err = json.Indent(&b, text, "", indent)
	return append(b.Bytes(), '\n'), err
}

// join puts the members of one object before those of another, or of each object of a list.
func join(text, more []byte) ([]byte, error) {
	switch {
	case bytes.Equal(text, []byte("{}")):
		return more, nil
	case bytes.HasPrefix(text, []byte("{")):
		return append(append(bytes.Clone(more[:len(more)-1]), ','), text[1:]...), nil
	case !bytes.HasPrefix(text, []byte("[")):
		return text, nil
	}
	var list []json.RawMessage
	if err := json.Unmarshal(text, &list); err != nil {
		return nil, err
	}
	out := []byte{'['}
	for i, item := range list {
		joined, err := join(item, more)
		if err != nil {
			return nil, err
		}
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, joined...)
	}
	return append(out, ']'), nil
}
