package cli

import (
	"bytes"
	"testing"
)

// TestEveryReportSaysWhatQualifiesIt: on a line or indented, an object or each object of a list; and none says it that is printed before, or of another App.
func TestEveryReportSaysWhatQualifiesIt(t *testing.T) {
	for _, c := range []struct {
		v            any
		line, folded string
	}{
		{struct {
			A string `json:"a"`
		}{"<x>\u202e"}, `{"foreign":{"message":"<m>"},"marks":2,"a":"<x>\u202e"}`, "{\n  \"foreign\": {\n    \"message\": \"<m>\"\n  },\n  \"marks\": 2,\n  \"a\": \"<x>\\u202e\"\n}"},
		{map[string]int{}, `{"foreign":{"message":"<m>"},"marks":2}`, "{\n  \"foreign\": {\n    \"message\": \"<m>\"\n  },\n  \"marks\": 2\n}"},
		{[]map[string]int{{"a": 1}, {}}, `[{"foreign":{"message":"<m>"},"marks":2,"a":1},{"foreign":{"message":"<m>"},"marks":2}]`, ""},
		{[]string{"a"}, `["a"]`, "[\n  \"a\"\n]"},
		{[]string{}, `[]`, "[]"},
	} {
		var out bytes.Buffer
		a := &App{Out: &out}
		plain := *a
		if err := a.PrintJSONLine(c.v); err != nil {
			t.Fatal(err)
		}
		before := out.String()
		a.Qualify("marks", 2)
		copied := *a
		a.Qualify("foreign", map[string]string{"message": "<m>"})
		out.Reset()
		if err := a.PrintJSONLine(c.v); err != nil || out.String() != c.line+"\n" {
			t.Errorf("%v: %s, %v", c.v, out.String(), err)
		}
		if out.Reset(); c.folded != "" {
			if err := a.PrintJSON(c.v); err != nil || out.String() != c.folded+"\n" {
				t.Errorf("%v: %s, %v", c.v, out.String(), err)
			}
		}
		out.Reset()
		if err := plain.PrintJSONLine(c.v); err != nil || out.String() != before {
			t.Errorf("%v was %s and is %s, %v", c.v, before, out.String(), err)
		}
		if out.Reset(); copied.PrintJSONLine(map[string]int{}) != nil || out.String() != "{\"marks\":2}\n" {
			t.Errorf("a copy says %s", out.String())
		}
	}
}
