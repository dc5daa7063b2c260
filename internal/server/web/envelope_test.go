package web

import (
	"strings"
	"testing"
)

// TestAMessageSaysEachThingOnce, at every depth, and nothing follows it.
func TestAMessageSaysEachThingOnce(t *testing.T) {
	for text, says := range map[string]string{
		`{"jsonrpc":"2.0","id":1,"method":"m","params":{"name":"n","arguments":{"a":1,"A":2,"b":{"a":1}}}}`: "",
		` {"a":[{"x":1},{"x":2},[]],"b":{}} ` + "\n":                                                        "",
		`{"a":1,"a":2}`:                          `"a" twice`,
		`{"a":1,"A":2}`:                          `"A" twice`,
		`{"a":1,"\u0061":2}`:                     `"a" twice`,
		`{"params":{"name":1,"Name":2}}`:         `"Name" twice`,
		`{"params":{"arguments":{"x":1,"x":2}}}`: `"x" twice`,
		`{"p":{"q":{"r":[{"x":1,"x":2}]}}}`:      `"x" twice`,
		`{"a":{},"b":[],"a":null}`:               `"a" twice`,
		`{} {}`:                                  "bytes follow",
		`{}x`:                                    "bytes follow",
		`{}` + "\x00":                            "bytes follow",
		`{"a":`:                                  "",
		`nonsense`:                               "",
		strings.Repeat(`[`, 201):                 "deeper",
		strings.Repeat(`{"a":`, 201) + "1" + strings.Repeat(`}`, 201): "deeper",
		strings.Repeat(`[`, 200) + strings.Repeat(`]`, 200):           "",
	} {
		if got := Envelope([]byte(text)); says == "" && got != "" || !strings.Contains(got, says) {
			t.Errorf("%.80s: %q, not %q", text, got, says)
		}
	}
}
