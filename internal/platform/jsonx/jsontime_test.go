package jsonx

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
)

type inner struct {
	At time.Time `json:"at"`
}

type outer struct {
	Text  string            `json:"text"`
	Note  string            `json:"note"`
	Since *time.Time        `json:"since,omitempty"`
	List  []inner           `json:"list,omitempty"`
	Of    map[string]*inner `json:"of,omitempty"`
	Plain time.Time         `json:",omitzero"`
}

// TestATimeHasThreeDigits, wherever it stands, and no text is touched that looks like one.
func TestATimeHasThreeDigits(t *testing.T) {
	at := func(ns int) time.Time { return time.Date(2026, 1, 2, 3, 4, 5, ns, time.UTC) }
	zoned := at(120e6).In(time.FixedZone("", 3600))
	v := outer{Text: "2026-01-02T03:04:05Z", Note: `{"at":"2026-01-02T03:04:05Z"} "at": "2026-01-02T03:04:05.1Z"\`,
		Since: &zoned, List: []inner{{at(0)}, {at(670e6)}, {at(678e6)}, {at(123456789)}}, Of: map[string]*inner{"at": {at(700e6)}}, Plain: at(1e6)}
	want := `{"text":"2026-01-02T03:04:05Z","note":"{\"at\":\"2026-01-02T03:04:05Z\"} \"at\": \"2026-01-02T03:04:05.1Z\"\\",` +
		`"since":"2026-01-02T03:04:05.120Z","list":[{"at":"2026-01-02T03:04:05.000Z"},{"at":"2026-01-02T03:04:05.670Z"},` +
		`{"at":"2026-01-02T03:04:05.678Z"},{"at":"2026-01-02T03:04:05.123Z"}],"of":{"at":{"at":"2026-01-02T03:04:05.700Z"}},"Plain":"2026-01-02T03:04:05.001Z"}`
	got, err := Marshal(v)
	if err != nil || string(got) != want {
		t.Errorf("%v\n%s\n%s", err, got, want)
	}
	indented, err := MarshalIndent(v, "", "  ")
	var a, b any
	if err != nil || json.Unmarshal(indented, &a) != nil || json.Unmarshal(got, &b) != nil || strings.Count(string(indented), ".000Z") != 1 {
		t.Errorf("%v\n%s", err, indented)
	}
	for _, v := range []any{nil, 7, "2026-01-02T03:04:05Z", []string{"at"}, struct{}{}} {
		want, _ := json.Marshal(v)
		if got, err := Marshal(v); err != nil || string(got) != string(want) {
			t.Errorf("%v: %s, %v", v, got, err)
		}
	}
}

// TestATimeInAnOpenValueHasThreeDigits: the type of the whole does not say that there is one.
func TestATimeInAnOpenValueHasThreeDigits(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 670e6, time.UTC)
	type open struct {
		Any  any `json:"any"`
		none any
	}
	for want, v := range map[string]any{
		`{"at":"2026-01-02T03:04:05.670Z","text":"2026-01-02T03:04:05.67Z"}`: map[string]any{"at": at, "text": "2026-01-02T03:04:05.67Z"},
		`[{"any":{"at":"2026-01-02T03:04:05.670Z"}},{"any":null}]`:           []open{{Any: &inner{at}, none: at}, {}},
		`{"a":[{"b":{"since":"2026-01-02T03:04:05.670Z"}},null]}`:            map[string][]any{"a": {map[string]any{"b": map[string]any{"since": at}}, nil}},
		`{"any":[{"at":"2026-01-02T03:04:05.670Z","is":true}]}`:              &open{Any: []map[string]any{{"at": at, "is": true}}},
	} {
		if got, err := Marshal(v); err != nil || string(got) != want {
			t.Errorf("%v\n%s\n%s", err, got, want)
		}
	}
}

// FuzzNoOtherTextIsTouched: what is read back is what was written, but for the digits of its times.
func FuzzNoOtherTextIsTouched(f *testing.F) {
	f.Add("at", `"at":"2026-01-02T03:04:05Z"`, int64(0))
	f.Fuzz(func(t *testing.T, key, text string, ns int64) {
		when := time.Unix(0, ns).UTC().Truncate(time.Millisecond)
		v := outer{Text: key, Note: text, List: []inner{{when}}, Of: map[string]*inner{key: {when}}}
		plain, err := json.Marshal(v)
		got, err2 := Marshal(v)
		var a, b outer
		if err != nil || err2 != nil || json.Unmarshal(plain, &a) != nil || json.Unmarshal(got, &b) != nil {
			t.Skip()
		}
		if a.Text != b.Text || a.Note != b.Note || !a.List[0].At.Equal(b.List[0].At) || len(a.Of) != len(b.Of) {
			t.Errorf("%s became %s", plain, got)
		}
	})
}
