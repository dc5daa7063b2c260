package config

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"

	"github.com/ferrus-go/ferrus/internal/config/rules"
	"github.com/ferrus-go/ferrus/internal/config/trust"
)

// rulesKey is the name of the only list of tables in ferrus.toml.
const rulesKey = "rules"

// maxRules bounds the number of rules.
const maxRules = 100

// parseRules reads [[rules]], and returns the line of the first error.
func (c *Config) parseRules(data []byte) (line int, err error) {
	tables, err := ruleTables(data)
	if err != nil {
		return c.lines[rulesKey], err
	}
	for _, t := range tables {
		r, err := rules.Parse(t.values, c.ruleAgents())
		c.Rules, c.ruleLines = append(c.Rules, r), append(c.ruleLines, t.lines)
		if err != nil {
			return c.lineOf(len(c.Rules)-1, err), err
		}
	}
	i, err := rules.Never(c.Rules, c.ruleLimits())
	return c.lineOf(i, err), err
}

// lineOf returns the line of an error in rule i.
func (c Config) lineOf(i int, err error) int {
	var wrong *rules.Error
	if i < 0 || !errors.As(err, &wrong) {
		return 0
	}
	if line := c.ruleLines[i][wrong.Key]; line > 0 {
		return line
	}
	return c.ruleLines[i][""]
}

// ruleLimits are the limits that rules go by.
func (c Config) ruleLimits() rules.Limits { return c.Gate().RuleLimits() }

// RuleLimits returns the limits that rules go by.
func (g Gate) RuleLimits() rules.Limits {
	return rules.Limits{CheckRetries: g.Limits.MaxCheckRetries, ReviewCycles: g.Limits.MaxReviewCycles, SameFailure: g.Limits.MaxSameFailure}
}

// AllRules returns the rules in force: the defaults, then those of ferrus.toml.
func (g Gate) AllRules() []rules.Rule { return rules.All(g.Rules, g.RuleLimits()) }

// ruleAgents are the agents that a rule may name: the one that needs a command only where [hq.executor] has it.
func (c Config) ruleAgents() []string {
	return slices.DeleteFunc(agentNames(), func(name string) bool { return name == "command" && c.HQ.Executor.Agent != name })
}

// A ruleTable is one table of [[rules]] and its lines: "" is its header, or the whole list where that
// is written in place.
type ruleTable struct {
	values map[string]any
	lines  map[string]int
}

// ruleTables returns the tables of [[rules]]. The decoder knows only the lines of the last one, so
// each is decoded with those before it blanked and those after it cut off.
func ruleTables(data []byte) ([]ruleTable, error) {
	values, whole, err := rulesIn(data)
	if err != nil || len(values) == 0 {
		return nil, err
	}
	starts := ruleStarts(data, len(values))
	var all []ruleTable
	for i, v := range values {
		t := ruleTable{v, map[string]int{"": whole[len(whole)-1][""]}}
		if len(starts) == len(values) {
			end := len(data)
			if i+1 < len(starts) {
				end = starts[i+1]
			}
			if _, lines, err := rulesIn(append(blank(data[:starts[i]]), data[starts[i]:end]...)); err == nil && len(lines) == 1 {
				t.lines = lines[0]
				t.lines[""] = lineAt(data, starts[i])
			}
		}
		all = append(all, t)
	}
	return all, nil
}

// rulesIn decodes the list with the lines of its keys, which are right for the last table.
func rulesIn(data []byte) (values []map[string]any, lines []map[string]int, err error) {
	var top map[string]toml.Primitive
	md, err := toml.NewDecoder(bytes.NewReader(data)).Decode(&top)
	if err != nil {
		return nil, nil, err
	}
	prim, ok := top[rulesKey]
	if !ok {
		return nil, nil, nil
	}
	file := file{md, data}
	list, ok := tablesOf(file.probe(prim).value)
	var prims []map[string]toml.Primitive
	if !ok || md.PrimitiveDecode(prim, &prims) != nil {
		return nil, nil, fmt.Errorf("rules must be a list of tables; write each rule below a line [[rules]]")
	}
	if len(list) > maxRules {
		return nil, nil, fmt.Errorf("%d rules are more than %d", len(list), maxRules)
	}
	for i, table := range prims {
		at := map[string]int{"": file.line(prim)}
		for key, p := range table {
			at[key] = file.line(p)
			for below, q := range file.open(p) {
				at[key+"."+below] = file.line(q)
			}
		}
		lines = append(lines, at)
		values = append(values, list[i])
	}
	return values, lines, nil
}

// tablesOf returns a decoded list of tables, however it is written.
func tablesOf(v any) (list []map[string]any, ok bool) {
	if list, ok = v.([]map[string]any); ok {
		return list, true
	}
	items, ok := v.([]any)
	for _, item := range items {
		table, isTable := item.(map[string]any)
		ok = ok && isTable
		list = append(list, table)
	}
	return list, ok
}

// ruleStarts returns where each header [[rules]] starts: the line with which the file up to there has
// one rule more. It is empty where the list has no headers.
func ruleStarts(data []byte, want int) (starts []int) {
	for at, i := 0, 0; at < len(data) && i < want; {
		end := at + len(line(data[at:]))
		if bytes.Contains(data[at:end], []byte("[[")) {
			if values, _, err := rulesIn(data[:end]); err == nil && len(values) == i+1 {
				starts, i = append(starts, at), i+1
			}
		}
		at = end
	}
	return starts
}

// line returns the first line of data with its newline.
func line(data []byte) []byte {
	if i := bytes.IndexByte(data, '\n'); i >= 0 {
		return data[:i+1]
	}
	return data
}

// blank returns data with every line empty.
func blank(data []byte) []byte {
	return bytes.Map(func(r rune) rune {
		if r == '\n' {
			return r
		}
		return ' '
	}, data)
}

// RuleAgents returns the agents that rules start, each with the place of its rule, as At does.
func (c Config) RuleAgents() (agents []Agent, at []string) {
	for i, r := range c.Rules {
		name, model := r.Agent()
		if name == "" {
			continue
		}
		where := ruleName(i)
		if i < len(c.ruleLines) {
			where = fmt.Sprintf("%s:%d: %s", FileName, cmp.Or(c.ruleLines[i]["then"], c.ruleLines[i][""]), where)
		}
		agents, at = append(agents, Agent{Agent: name, Model: model}), append(at, where)
	}
	return agents, at
}

// ruleLiteral returns a rule as TOML.
func ruleLiteral(r rules.Rule) string {
	text := "{ on = " + quote(string(r.On))
	if when := r.When.String(); when != "" {
		text += ", when = { " + when + " }"
	}
	return text + ", then = " + quote(r.Then) + " }"
}

// ruleName returns the key of a rule in explanations: rules[1] is the first one.
func ruleName(i int) string { return fmt.Sprintf("%s[%d]", rulesKey, i+1) }

func isRule(name string) bool { return strings.HasPrefix(name, rulesKey+"[") }

// ruleValues returns what a person agrees to in the rules.
func ruleValues(list []rules.Rule) (values []trust.Value) {
	for i, r := range list {
		values = append(values, trust.Value{Key: ruleName(i), Value: ruleLiteral(r), Does: ruleDoes[r.Action()]})
	}
	return values
}

// ruleDoes says for each action which right it widens, or what it makes run.
var ruleDoes = map[string]string{
	rules.Consult:  "Makes ferrus ask the supervisor by itself.",
	rules.AskHuman: "Makes ferrus ask you.",
	rules.Approve:  "Completes work on these files without a review and without asking you.",
	rules.Executor: "Decides which program and model is started to do the work after that event.",
}

// ruleChanges compares two lists place by place.
func ruleChanges(was, now []rules.Rule) (changes []Change) {
	at := func(list []rules.Rule, i int) string {
		if i < len(list) {
			return ruleLiteral(list[i])
		}
		return none
	}
	for i := range max(len(was), len(now)) {
		if a, b := at(was, i), at(now, i); a != b {
			changes = append(changes, Change{Key: ruleName(i), Pinned: a, Now: b})
		}
	}
	return changes
}

// ExplainRules returns the rules in the order in which they are tried. A default has the line of the
// limit that it reads.
func (c Config) ExplainRules() (rows []Row) {
	limits := []string{"limits.max_same_failure"}
	for i, r := range rules.Defaults(c.ruleLimits()) {
		row := Row{Key: "rules.default" + strings.TrimPrefix(ruleName(i), rulesKey), Value: ruleLiteral(r),
			Default: ruleLiteral(rules.Defaults(Default().ruleLimits())[i]), Allowed: "not to be changed", Comment: "A default: it comes before the rules of the file."}
		if i < len(limits) {
			row.Allowed, row.Line = "as "+limits[i]+" says", c.lines[limits[i]]
		}
		rows = append(rows, row)
	}
	for i, r := range c.Rules {
		row := Row{Key: ruleName(i), Value: ruleLiteral(r), Default: none, Allowed: "a rule as docs/config.md describes it", Comment: "After " + string(r.On) + " the first rule that matches counts."}
		if i < len(c.ruleLines) {
			row.Line = c.ruleLines[i][""]
		}
		rows = append(rows, row)
	}
	return rows
}

const exampleRules = `
# Rules: what ferrus does by itself after an event. The first one that matches counts.
# [[rules]]
# on = "check_failed"
# when = { same = 3 }
# then = "consult"
`

const checksPage = `
## Checks that write files

A check proves nothing if files of the work change while it runs. Files that git
ignores may change. So a check that writes coverage, caches or compiled files
needs a line in .gitignore. The first check that changes files names them and the
lines; so do ` + "`ferrus check`, `ferrus status` and `ferrus doctor`" + `. If the same files
change during the next check too, ferrus asks you. ` + "`checks.ignore`" + ` is for files
that git tracks; run ` + "`ferrus config accept`" + ` after you have changed it.

If a merge is refused because the checks write files, add the line to .gitignore
of the project and merge again. Files that the branch has added and that the
project ignores then stay out.
`

const rulesPage = "\n## Rules\n\n" + `A rule is one table ` + "`[[rules]]`" + `. It says what ferrus does by itself after an event,
instead of waiting for a model:

` + "```toml" + `
[[rules]]
on = "check_failed"
when = { same = 3 }
then = "consult"

[[rules]]
on = "reject"
when = { cycles = 2 }
then = "executor claude-code:opus"

[[rules]]
on = "submit"
when = { paths = ["docs/**"] }
then = "approve"
` + "```" + `

`

const rulesPageEnd = `
- The rules are frozen with the task, as the checks are. You agree to them once
  (` + "`ferrus trust`" + `), and ` + "`ferrus config accept`" + ` applies a changed file to the task.
- The defaults come first, then your rules in the order of the file. The first
  rule that matches counts. ` + "`ferrus config explain`" + ` lists all of them.
- All conditions of ` + "`when`" + ` must be met. A rule without conditions follows every
  such event.
- ` + "`paths`" + ` are relative to the top of the git repository, also if the project is
  a folder below it. ` + "`**`" + ` is any number of folders, and ` + "`*`" + ` stays within one. Both
  names of a renamed file count. A submission without changed files never
  matches.
- ` + "`approve`" + ` needs passed checks of exactly the submitted files, and files that
  have not changed since. If the reviewer would see a notice, the rule does not
  match: an edited control file, a changed ` + "`ferrus.toml`" + `, something that the
  patch does not show, or anything else that ` + "`review_pending`" + ` lists.
- ` + "`executor`" + ` does not match if that executor already has the work. Only the
  conductor (` + "`ferrus run`" + `) starts the agent.
- What a rule does never starts another rule. A rule never answers for you, and
  never changes limits, checks or rules.
- ` + "`ferrus simulate`" + ` shows which rule follows an event, and ` + "`ferrus log`" + ` names the
  rule of each entry.
`
