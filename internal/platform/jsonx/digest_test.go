package jsonx

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestADigestIsThatOfTheSameArguments, however they are written, and of no others.
func TestADigestIsThatOfTheSameArguments(t *testing.T) {
	same := [][]string{
		{``, `{}`, ` { } `, `null`},
		{`{"a":"x","b":[1,2]}`, `{ "b": [1, 2], "a": "\u0078" }`},
		{`{"b":[2,1],"a":"x"}`},
		{`{"n":9007199254740993}`},
		{`{"n":9007199254740992}`},
		{`{"a":"y","b":[1,2]}`},
		{`no JSON`},
	}
	seen := map[string]string{}
	for _, list := range same {
		want := Digest(json.RawMessage(list[0]))
		if other, ok := seen[want]; ok || len(want) != digits {
			t.Errorf("%s and %s: %s", other, list[0], want)
		}
		seen[want] = list[0]
		for _, args := range list {
			if got := Digest(json.RawMessage(args)); got != want || strings.Contains(args, got) {
				t.Errorf("%s: %s, not %s", args, got, want)
			}
		}
	}
}
