package demo

import (
	"cmp"
	"fmt"
	"os"
	"strings"
)

// A draft is files with their text.
type draft map[string]string

// A play is what the agents do with a task.
type play struct {
	question  string   // asked before anything is written
	options   []string // of the question, the recommended one first
	does      string   // in a few words
	drafts    []draft  // written one after the other, until the checks pass
	objection string   // to the first submission
	revised   []draft  // after it, or after a hint
	steps     int      // of work that takes a second each
}

func (p play) note() string    { return "the plan: " + p.does }
func (p play) summary() string { return strings.ToUpper(p.does[:1]) + p.does[1:] + "." }

// The tasks of the night, by their first lines.
const (
	taskTotal    = "Total the cart\n\nTotal returns the price of all lines of a cart, in cents."
	taskTax      = "Add the tax to the total\n\nTotal includes 20 % tax."
	taskDiscount = "Give a discount from 100 euro on\n\nTotal is 10 % less from 100 euro on."
	taskImport   = "Import the old orders\n\nReadOrders reads orders.csv of the old shop."
	taskSearch   = "Search articles by name\n\nSearch finds articles whose name contains a word."
	taskFast     = "Make Find faster\n\nThe score is the number of lookups in a millisecond."
	taskEuro     = "Show prices in euro\n\nPrice formats cents for people."
	taskReceipt  = "Print a receipt\n\nReceipt returns the lines of a cart and the total as text."
	taskStock    = "Refuse what is not in stock\n\nAdd refuses an article that is not there."
	taskLabels   = "Write a label for each article\n\nlabels.go has a line for each article."
	taskInvoice  = "Send an invoice by mail\n\nThe invoice is the receipt with an address."
	taskRounding = "Round the tax to whole cents\n\nHalf a cent is rounded up."
)

const totalPlain = `package shop

// Total returns the price of all lines, in cents.
func Total(lines []Line) int {
	sum := 0
	for _, l := range lines {
		sum += l.Cents * l.Count
	}
	return sum
}
`

const totalPositive = `package shop

// Total returns the price of all lines, in cents. A line with a negative count costs nothing.
func Total(lines []Line) int {
	sum := 0
	for _, l := range lines {
		sum += l.Cents * max(l.Count, 0)
	}
	return sum
}
`

// plays are by the title of the task.
var plays = map[string]play{
	title(taskTotal): {does: "add up the lines",
		drafts:    []draft{{"total.go": "package shop\n\n// TODO: Total\n"}, {"total.go": totalPlain}},
		objection: "A negative count makes the cart cheaper. Let it cost nothing.",
		revised:   []draft{{"total.go": totalPositive}}},
	title(taskTax): {does: "multiply the total by 1.2",
		drafts: []draft{{"total.go": strings.Replace(totalPositive, "return sum\n", "return sum * 120 / 100 // with tax\n", 1)}}},
	title(taskDiscount): {does: "take 10 % off from 100 euro on",
		drafts:  []draft{{"total.go": strings.Replace(totalPositive, "return sum\n", "if sum >= 100_00 {\n\t\treturn sum * 90 / 100\n\t}\n\treturn sum\n", 1)}},
		revised: []draft{{"total.go": strings.Replace(totalPositive, "return sum\n", "if sum >= 100_00 {\n\t\tsum = sum * 90 / 100\n\t}\n\treturn sum * 120 / 100 // with tax\n", 1)}}},
	title(taskImport): {does: "read orders.csv line by line", drafts: failing("orders.go", "TODO: line %d has no date", "FIXME: line %d is read twice"),
		revised: []draft{{"orders.go": "package shop\n\n// ReadOrders reads orders.csv of the old shop, without the lines that have no date.\nfunc ReadOrders(file string) error { return nil }\n"}}},
	title(taskSearch): {does: "compare each name with the word", drafts: failing("search.go", "TODO: after %d names the umlaut is not found"),
		revised: []draft{{"search.go": "package shop\n\nimport \"strings\"\n\n// Search reports whether a name contains a word.\nfunc Search(name, word string) bool { return strings.Contains(name, word) }\n"}}},
	title(taskLabels): {does: "go through the articles", steps: 600, drafts: []draft{{"labels.go": "package shop\n\n// Labels are by article.\nvar Labels = map[string]string{}\n"}}},
	title(taskFast):   {does: "keep the articles in a map"},
	title(taskEuro): {does: "format cents with two digits", question: "How should a price look?\n\nThe old shop wrote 1.234,50 €; the new one has customers in other countries, too.",
		options: []string{"1.234,50 € for everybody, as before", "€1,234.50 for everybody", "as the customer's country writes it"},
		drafts:  []draft{{"price.go": "package shop\n\nimport \"fmt\"\n\n// Price formats cents for people.\nfunc Price(cents int) string { return fmt.Sprintf(\"%d.%02d €\", cents/100, cents%100) }\n"}}},
	title(taskReceipt): {does: "write a line for each line of the cart", drafts: []draft{{"receipt.go": `package shop

import (
	"fmt"
	"strings"
)

// Receipt returns the lines of a cart and the total as text.
func Receipt(lines []Line) string {
	var b strings.Builder
	for _, l := range lines {
		fmt.Fprintf(&b, "%3d x %-20s %8d\n", l.Count, l.Name, l.Cents*l.Count)
	}
	fmt.Fprintf(&b, "%26s %8d\n", "total", Total(lines))
	return b.String()
}
`}}},
}

// title is the first line of a task.
func title(task string) string {
	first, _, _ := strings.Cut(task, "\n")
	return first
}

// failing are drafts that no check passes: each has one of the remarks, in turn, with a number.
func failing(name string, remarks ...string) []draft {
	var list []draft
	for i := range 6 {
		list = append(list, draft{name: "package shop\n\n// " + fmt.Sprintf(remarks[i%len(remarks)], 100*(i+1)) + "\n"})
	}
	return list
}

// playOf returns the play of a task, whose first draft after an objection differs from the last one before.
func playOf(of string) play {
	p := plays[of]
	switch {
	case of == title(taskFast):
		p.drafts = []draft{attempt(os.Getenv("FERRUS_MODEL"))}
	case len(p.drafts) == 0:
		name := fileOf(of)
		p = play{does: "write " + name, drafts: []draft{{name: "package shop\n\n// " + of + "\n"}}}
	}
	if len(p.revised) == 0 {
		last := draft{}
		for name, text := range p.drafts[len(p.drafts)-1] {
			last[name] = text + "\n// It was looked at once more.\n"
		}
		p.revised = []draft{last}
	}
	return p
}

// attempt is what a model makes of the task that several try.
func attempt(model string) draft {
	room := map[string]int{"quick": 412, "careful": 655}[model]
	return draft{"find.go": fmt.Sprintf(`package shop

// byName has room for %d articles.
var byName = make(map[string]Line, %[1]d)

// Find returns the article of a name.
func Find(name string) Line { return byName[name] }
`, room)}
}

// fileOf names the file of a task that has no play.
func fileOf(of string) string {
	name := strings.Trim(strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, strings.ToLower(of)), "-")
	return cmp.Or(name, "task") + ".go"
}
