package config

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrus-go/ferrus/internal/config/rules"
	"github.com/ferrus-go/ferrus/internal/config/trust"
	"github.com/ferrus-go/ferrus/internal/state"
)

const threeRules = `# [[rules]] in a comment
[checks]
commands = ["""
[[rules]]
on = 1
"""]

[[rules]]
on = "check_failed"
when = { same = 3 }
then = "consult"

[[rules]] # the second
on = "reject"
then = "executor claude-code:opus"
  [rules.when]
  cycles = 2

[limits]
max_same_failure = 9
[[rules]]
on = "submit"
when = { paths = ["docs/**",
  "*.md"] }
then = "approve"
`

func TestRulesAreReadInTheirOrder(t *testing.T) {
	c, err := Parse(FileName, []byte(threeRules))
	want := []rules.Rule{
		{On: state.CheckFailed, When: rules.When{Same: 3}, Then: "consult"},
		{On: state.Reject, When: rules.When{Cycles: 2}, Then: "executor claude-code:opus"},
		{On: state.Submit, When: rules.When{Paths: []string{"docs/**", "*.md"}}, Then: "approve"},
	}
	if diff := cmp.Diff(want, c.Rules); diff != "" || err != nil {
		t.Fatal(diff, err)
	}
	var lines []int
	for _, r := range c.ExplainRules() {
		lines = append(lines, r.Line)
	}
	if diff := cmp.Diff([]int{20, 0, 0, 8, 13, 21}, lines); diff != "" {
		t.Error(diff)
	}
	inline, err := Parse(FileName, []byte("rules = ["+ruleLiteral(want[0])+", "+ruleLiteral(want[1])+", "+ruleLiteral(want[2])+"]\nlimits.max_same_failure = 9\n"))
	if diff := cmp.Diff(want, inline.Rules); diff != "" || err != nil || inline.ExplainRules()[5].Line != 1 {
		t.Error(diff, err)
	}
}

// TestAMistakeInARuleHasItsOwnLine: not that of another rule with the same key.
func TestAMistakeInARuleHasItsOwnLine(t *testing.T) {
	for _, c := range []struct{ old, new, want string }{
		{`"check_failed"`, `"check_faild"`, ":9: there is no rule on \"check_faild\"; did you mean check_failed?"},
		{`{ same = 3 }`, `{ same = 9 }`, ":10: same = 9 can never match: at 9 ferrus asks a person (limits.max_same_failure); use a smaller number"},
		{`{ same = 3 }`, `{ sam = 3 }`, ":10: unknown condition sam of a rule; did you mean same?"},
		{`"consult"`, `"approve"`, ":11: approve is not possible after check_failed, so this rule can never match; possible are consult, ask_human, executor"},
		{"on = \"reject\"\n", "", ":13: a rule has no on; add on = the event, such as \"check_failed\""},
		{`claude-code:opus`, `claude:opus`, ":15: there is no agent \"claude\"; did you mean claude-code?"},
		{`claude-code:opus`, `command`, ":15: there is no agent \"command\"; known are "},
		{`cycles = 2`, `cycles = 3`, ":17: cycles = 3 can never match: at 3 the task fails (limits.max_review_cycles)"},
		{`"*.md"`, `"/a.md"`, ":23: paths: \"/a.md\" begins with a slash"},
		{`then = "approve"`, "then = \"approve\"\nfoo = 1", ":26: unknown key foo of a rule; known are on, when, then"},
	} {
		text := strings.Replace(threeRules, c.old, c.new, 1)
		if text == threeRules {
			t.Fatalf("%s is not in the file", c.old)
		}
		if _, err := Parse(FileName, []byte(text)); err == nil || !strings.HasPrefix(err.Error(), FileName+c.want) {
			t.Errorf("%s: %v\nwant %s", c.new, err, c.want)
		}
	}
	for text, want := range map[string]string{
		"\nrules = 3\n":                          ":2: rules must be a list of tables; write each rule below a line [[rules]]",
		"[rules]\non = \"reject\"\n":             ":1: rules must be a list of tables",
		"rules = [1]\n":                          ":1: rules must be a list of tables",
		"[rule]\non = \"reject\"\n":              ":1: unknown table rule; did you mean rules?",
		strings.Repeat("[[rules]]\n", 101):       ":",
		"[[rules]]\non = 'reject'\nthen = 'x\n'": ":3: ",
	} {
		if _, err := Parse(FileName, []byte(text)); err == nil || !strings.HasPrefix(err.Error(), FileName+want) {
			t.Errorf("%.40q: %v, want %s", text, err, want)
		}
	}
}

// TestRulesAreFrozenAndAgreedTo: each is a value that a person agrees to, and part of the gate.
func TestRulesAreFrozenAndAgreedTo(t *testing.T) {
	c, err := Parse(FileName, []byte(threeRules))
	if err != nil {
		t.Fatal(err)
	}
	frozen, err := DecodeGate(c.Gate().Encode())
	if diff := cmp.Diff(c.Rules, frozen.Rules); diff != "" || err != nil {
		t.Fatal(diff, err)
	}
	var agreed []string
	for _, v := range c.Executable() {
		if strings.HasPrefix(v.Key, "rules[") {
			agreed = append(agreed, v.Key+" "+v.Value)
			if v.Does == "" || !InGate(v.Key) {
				t.Errorf("%+v does nothing, or is not frozen", v)
			}
		}
	}
	want := []string{`rules[1] { on = "check_failed", when = { same = 3 }, then = "consult" }`,
		`rules[2] { on = "reject", when = { cycles = 2 }, then = "executor claude-code:opus" }`,
		`rules[3] { on = "submit", when = { paths = ["docs/**", "*.md"] }, then = "approve" }`}
	if diff := cmp.Diff(want, agreed); diff != "" {
		t.Error(diff)
	}
	if trust.Digest(frozen.Executable()) != trust.Digest(c.Executable()) {
		t.Error("the frozen gate asks for another agreement than the file")
	}
	now := c
	now.Rules = []rules.Rule{c.Rules[0], {On: state.Submit, When: rules.When{Paths: []string{"**"}}, Then: "approve"}}
	var changes []string
	for _, ch := range frozen.Diff(now.Gate()) {
		changes = append(changes, ch.String())
	}
	want = []string{`rules[2]: frozen { on = "reject", when = { cycles = 2 }, then = "executor claude-code:opus" }, now { on = "submit", when = { paths = ["**"] }, then = "approve" }`,
		`rules[3]: frozen { on = "submit", when = { paths = ["docs/**", "*.md"] }, then = "approve" }, now none`}
	if diff := cmp.Diff(want, changes); diff != "" {
		t.Error(diff)
	}
	for _, text := range []string{`{"rules":[{"on":"reject","then":"answer"}]}`, `{"rules":[{"on":"submit","then":"approve"}]}`, `{"rules":[{"on":"reject","then":"consult","unless":1}]}`} {
		if _, err := DecodeGate([]byte(text)); err == nil {
			t.Errorf("%s is accepted", text)
		}
	}
	if string(Default().Gate().Encode()) != string(Config{}.with(Default()).Gate().Encode()) || strings.Contains(string(Default().Gate().Encode()), "rules") {
		t.Error("a gate without rules differs from that of an older ferrus")
	}
}

// with returns the other configuration with an empty list of rules in place of none.
func (Config) with(c Config) Config {
	c.Rules = []rules.Rule{}
	return c
}
