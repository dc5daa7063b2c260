package gate

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/google/go-cmp/cmp"
)

// form is a tool with an argument of each kind.
var form = Tool{Name: "form", Args: []Arg{{Name: "text"}, {Name: "line", Line: 3, Optional: true}, {Name: "list", List: true, Optional: true},
	{Name: "flag", Flag: true, Optional: true}, {Name: "number", Number: 7, Optional: true}}}

// TestWhatIsMeantIsRead, of each kind.
func TestWhatIsMeantIsRead(t *testing.T) {
	v, err := form.Decode(json.RawMessage(` {"flag": true , "text":"a\nb","list":["c"],"line":"äöü","number":7} `))
	want := Values{Text: map[string]string{"text": "a\nb", "line": "äöü"}, List: map[string][]string{"list": {"c"}}, Flag: map[string]bool{"flag": true},
		Number: map[string]int{"number": 7}}
	if diff := cmp.Diff(want, v); diff != "" || err != nil {
		t.Errorf("%v %s", err, diff)
	}
	for _, raw := range []string{`{"text":"t"}`, `{"text":"t","flag":false}`, `{"text":"t","flag":null,"line":null,"list":null,"number":null}`} {
		if v, err := form.Decode(json.RawMessage(raw)); err != nil || v.Flag["flag"] || v.Text["text"] != "t" {
			t.Errorf("%s: %+v %v", raw, v, err)
		}
	}
}

// TestWhatIsNotMeantIsRefusedWithWhatIs.
func TestWhatIsNotMeantIsRefusedWithWhatIs(t *testing.T) {
	for raw, says := range map[string]string{
		``:                              "text is missing",
		`{"text":"t","flag":"true"}`:    "flag must be true or false",
		`{"text":"t","flag":1}`:         "flag must be true or false",
		`{"text":"t","line":"abcd"}`:    "at most 3",
		`{"text":"t","line":"a\nb"}`:    "one line",
		`{"text":"t","number":"7"}`:     "number must be a whole number from 1 to 7",
		`{"text":"t","number":7.5}`:     "number must be a whole number",
		`{"text":"t","number":8}`:       "number must be a whole number",
		`{"text":"t","number":0}`:       "number must be a whole number",
		`{"text":"t","list":"l"}`:       "list must be a list",
		`{"text":"t","flagg":true}`:     "did you mean flag?",
		`{"text":"t","text":"t"}`:       "given twice",
		`{"text":"\ud800"}`:             "not UTF-8",
		`{"text":"t","elsewhere":true}`: "send text, line (optional), list (optional), flag (optional), number (optional)",
		`[]`:                            "must be an object",
		`{"text":`:                      "not JSON",
	} {
		_, err := form.Decode(json.RawMessage(raw))
		var f *refusal.RefusedError
		if !errors.As(err, &f) || !strings.Contains(err.Error(), says) || f.Code != refusal.InvalidInput || f.Remedy == "" {
			t.Errorf("%s: %v", raw, err)
		}
	}
}

// TestTheSchemaOfEachKindIsItsType.
func TestTheSchemaOfEachKindIsItsType(t *testing.T) {
	raw, err := json.Marshal(form.Definition().InputSchema)
	want := `{"type":"object","properties":{"flag":{"type":"boolean"},"line":{"type":"string"},"list":{"type":"array","items":{"type":"string"}},` +
		`"number":{"type":"integer"},"text":{"type":"string"}},"required":["text"],"additionalProperties":false}`
	if err != nil || string(raw) != want {
		t.Errorf("%s %v", raw, err)
	}
}
