package engine

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/ferrus-go/ferrus/internal/safetext"
	"github.com/ferrus-go/ferrus/internal/store"
)

var digits = regexp.MustCompile(`[0-9]+`)

// MaxLine is the largest one-line argument in characters: a title, an option.
const MaxLine = 200

// maxOptions is how many answers a question may offer.
const maxOptions = 20

// checkText refuses a text that cannot be a document or an argument, be it as it is sent or as it is stored.
func checkText(name, text string, limit int) error {
	if err := store.CheckText(name, text, limit); err != nil {
		return refusal(err)
	}
	return refusal(store.CheckText(name, safetext.Clean(text), limit))
}

// checkLine refuses what is not one line of moderate length.
func checkLine(name, text string) error {
	if utf8.RuneCountInString(text) > MaxLine || strings.ContainsAny(text, "\r\n") {
		return &Refusal{Code: InvalidInput, Message: fmt.Sprintf("%s must be one line of at most %d characters", name, MaxLine),
			Remedy: "shorten it"}
	}
	return checkText(name, text, 4*MaxLine)
}

// A part is a section of a rendered document.
type part struct {
	heading, arg, text string
	optional           bool
}

// render joins parts into a document, having checked each and the whole.
func render(name string, parts []part) (string, error) {
	var b strings.Builder
	for _, p := range parts {
		if p.optional && strings.TrimSpace(p.text) == "" {
			continue
		}
		if err := checkText(p.arg, p.text, store.MaxDoc); err != nil {
			return "", err
		}
		if b.Len() > 0 {
			b.WriteString("\n")
		}
		fmt.Fprintf(&b, "## %s\n\n%s\n", p.heading, strings.TrimRight(p.text, "\n"))
	}
	return b.String(), checkText(name, b.String(), store.MaxDoc)
}

func (in Submitting) render() (string, error) {
	return render("the submission", []part{{"Summary", "summary", in.Summary, false},
		{"Verification", "verification", in.Verification, false}, {"Known limitations", "limitations", in.Limitations, true}})
}

func (in Consulting) render() (string, error) {
	options, err := numbered(in.Options)
	if err != nil {
		return "", err
	}
	return render("the consultation", []part{{"Problem", "problem", in.Problem, false}, {"What I tried", "tried", in.Tried, false},
		{"Options", "options", options, true}, {"Question", "question", in.Question, false}})
}

// numbered lists options so that a person can answer by a number.
func numbered(options []string) (string, error) {
	if len(options) > maxOptions {
		return "", &Refusal{Code: InvalidInput, Message: fmt.Sprintf("options has %d and may have %d", len(options), maxOptions),
			Remedy: "offer fewer"}
	}
	var b strings.Builder
	for i, o := range options {
		if err := checkLine("options", o); err != nil {
			return "", err
		}
		fmt.Fprintf(&b, "%d. %s\n", i+1, o)
	}
	return b.String(), nil
}

// choice turns a bare number into the option that the question gives it; any other answer stays as it is. The options
// stand at the end of a question, so the last line with the number is the option.
func choice(question, answer string) string {
	n, err := strconv.Atoi(strings.TrimSpace(answer))
	if err != nil || n < 1 {
		return answer
	}
	for line := range strings.Lines(question) {
		if strings.HasPrefix(line, strconv.Itoa(n)+". ") {
			answer = strings.TrimRight(line, "\n")
		}
	}
	return answer
}

// numberOf names a number of things.
func numberOf(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// titleOf is the first line of a task, without Markdown's marks, as its title.
func titleOf(task string) string {
	task = safetext.Clean(task)
	for line := range strings.Lines(task) {
		if t := strings.TrimSpace(strings.TrimLeft(strings.TrimSpace(line), "#")); t != "" {
			return clip(t, 80)
		}
	}
	return "task"
}

// clip shortens a text to n characters and makes one line of it.
func clip(text string, n int) string {
	text = strings.Join(strings.Fields(text), " ")
	if utf8.RuneCountInString(text) <= n {
		return text
	}
	return string([]rune(text)[:n-1]) + "…"
}
