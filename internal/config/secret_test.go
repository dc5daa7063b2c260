package config

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/ferrus-go/ferrus/internal/config/trust"
)

// TestSecretsOfURLsStayInTheFile: what is frozen, agreed to, explained or refused has none of them.
func TestSecretsOfURLsStayInTheFile(t *testing.T) {
	const secret = "s3cretXyz"
	urls := []string{"ntfy://user:" + secret + "@ntfy.sh/" + secret + "?title=" + secret, "pushbullet://" + secret, "slack://hook:" + secret + "@webhook",
		"generic+https://example.org/" + secret}
	c, err := Parse(FileName, []byte("notify.urls = "+literal(urls)+"\n"))
	if err != nil {
		t.Fatal(err)
	}
	said := map[string]string{
		"gate": string(c.Gate().Encode()), "changes": fmt.Sprint(Default().Gate().Diff(c.Gate())),
		"agreement": fmt.Sprint(c.Executable()), "explanation": fmt.Sprint(c.Explain()),
	}
	for _, wrong := range append(urls, "$"+secret, secret) {
		_, err := Parse(FileName, []byte("notify.urls = ["+quote(wrong)+", 1]\nlimits = "+secret))
		if err == nil {
			t.Fatal("accepted")
		}
		for i, text := range []string{"[" + quote(wrong+" ") + ", \"\"]", quote(wrong), "[" + wrong + "]", wrong, "[" + quote(wrong) + " " + wrong, "\"" + wrong, "[[" + quote(wrong) + "]]"} {
			_, err = Parse(FileName, []byte("notify.urls = "+text+"\n"))
			if err == nil {
				t.Errorf("%s is accepted", text)
			}
			said[fmt.Sprint("refusal ", i, " of ", wrong)] = fmt.Sprint(err)
		}
	}
	for what, text := range said {
		if strings.Contains(text, secret) {
			t.Errorf("%s: %s", what, text)
		}
	}
	if !strings.Contains(said["agreement"], "ntfy://ntfy.sh/...") || !strings.Contains(said["agreement"], "generic+https://example.org/...") {
		t.Errorf("a person sees no address: %s", said["agreement"])
	}
}

// TestAnotherURLIsAnotherValue: also where only a secret differs.
func TestAnotherURLIsAnotherValue(t *testing.T) {
	seen := map[string]string{}
	for _, list := range []string{`[]`, `["slack://hook:a@webhook"]`, `["slack://hook:b@webhook"]`, `["$FERRUS_NOTIFY_URL"]`, `["$FERRUS_NOTIFY_B"]`,
		`["ntfy://ntfy.sh/a"]`, `["ntfy://ntfy.sh/b"]`} {
		c, err := Parse(FileName, []byte("notify.urls = "+list))
		if err != nil {
			t.Fatal(err)
		}
		d := trust.Digest(c.Executable())
		if was, ok := seen[d]; ok {
			t.Errorf("%s and %s are the same", list, was)
		}
		seen[d] = list
		if list != "[]" && !c.Gate().sameAs(Default().Gate()) {
			t.Errorf("%s is frozen with a task", list)
		}
	}
	for _, name := range live {
		if InGate(name) {
			t.Errorf("%s is said to be frozen", name)
		}
	}
}

func (g Gate) sameAs(o Gate) bool { return bytes.Equal(g.Encode(), o.Encode()) }
