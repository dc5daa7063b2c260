package handover

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/ferrus-go/ferrus/internal/platform/format"
	"github.com/ferrus-go/ferrus/internal/platform/safetext"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/store"
)

// MaxLine is the largest one-line argument in characters: a title, an option.
const MaxLine = 200

// maxOptions is how many answers a question may offer.
const maxOptions = 20

// CheckText refuses a text that cannot be a document or an argument, be it as it is sent or as it is stored.
func CheckText(name, text string, limit int) error {
	if err := store.CheckText(name, text, limit); err != nil {
		return err
	}
	return store.CheckText(name, safetext.Clean(text), limit)
}

// CheckLine refuses what is not one line of moderate length.
func CheckLine(name, text string) error {
	if utf8.RuneCountInString(text) > MaxLine || strings.ContainsAny(text, "\r\n") {
		return &refusal.RefusedError{Code: refusal.InvalidInput, Message: fmt.Sprintf("%s must be one line of at most %d characters", name, MaxLine),
			Remedy: "shorten it"}
	}
	return CheckText(name, text, 4*MaxLine)
}

// A Section is a section of a rendered document.
type Section struct {
	Heading, Arg, Text string
	Optional           bool
}

// RenderDocument joins parts into a document, having checked each and the whole.
func RenderDocument(name string, parts []Section) (string, error) {
	var b strings.Builder
	for _, p := range parts {
		if p.Optional && strings.TrimSpace(p.Text) == "" {
			continue
		}
		if err := CheckText(p.Arg, p.Text, store.MaxDoc); err != nil {
			return "", err
		}
		if b.Len() > 0 {
			b.WriteString("\n")
		}
		fmt.Fprintf(&b, "## %s\n\n%s\n", p.Heading, strings.TrimRight(p.Text, "\n"))
	}
	return b.String(), CheckText(name, b.String(), store.MaxDoc)
}

// NumberOptions lists options so that a person can answer by a number. Options that have their numbers already keep them.
func NumberOptions(options []string) (string, error) {
	if len(options) > maxOptions {
		return "", &refusal.RefusedError{Code: refusal.InvalidInput, Message: fmt.Sprintf("options has %d and may have %d", len(options), maxOptions),
			Remedy: "offer fewer"}
	}
	var b strings.Builder
	own := true // each option begins with its number
	for i, o := range options {
		if err := CheckLine("options", o); err != nil {
			return "", err
		}
		number := fmt.Sprintf("%d. ", i+1)
		own = own && strings.HasPrefix(o, number)
		b.WriteString(number + o + "\n")
	}
	if own && len(options) > 0 {
		return strings.Join(options, "\n") + "\n", nil
	}
	return b.String(), nil
}

// Question returns a question with its options, numbered, at its end, having checked the text and the whole.
func Question(text string, options []string) (string, error) {
	if err := CheckText("question", text, store.MaxDoc); err != nil {
		return "", err
	}
	list, err := NumberOptions(options)
	if err != nil {
		return "", err
	}
	if list != "" {
		text += "\n\n" + list
	}
	return text, CheckText("question", text, store.MaxDoc)
}

// SplitOptions splits a question into its text and the options that end it, each with its number: "2. no".
func SplitOptions(question string) (text string, options []string) {
	body := strings.TrimRight(question, "\n")
	begin := strings.LastIndex(body, "\n\n1. ")
	if begin < 0 {
		return question, nil
	}
	options = strings.Split(body[begin+2:], "\n")
	for i, o := range options {
		if !strings.HasPrefix(o, strconv.Itoa(i+1)+". ") {
			return question, nil
		}
	}
	return body[:begin], options
}

// ConsultationOptions are the options of a consultation, as a question offers them.
func ConsultationOptions(request string) string {
	_, options, _ := strings.Cut(request, "\n## Options\n")
	options, _, _ = strings.Cut(options, "\n## Question\n")
	return "\n" + options
}

// bareNumber is an answer that can only mean the option of that number.
var bareNumber = safetext.Lazily(`^([+-]?[0-9]+)[.)]?$`)

// ChooseOption returns the option that an answer picks by its number alone; any other answer stays as it is, and so does every
// answer to a question without options. The error is a *refusal.RefusedError of code InvalidInput for a number that no option has.
func ChooseOption(id, question, answer string) (string, error) {
	_, options := SplitOptions(question)
	m := bareNumber().FindStringSubmatch(strings.TrimSpace(answer))
	if m == nil || len(options) == 0 {
		return answer, nil
	}
	if n, err := strconv.Atoi(m[1]); err == nil && n >= 1 && n <= len(options) {
		return options[n-1], nil
	}
	return "", &refusal.RefusedError{Code: refusal.InvalidInput, Message: fmt.Sprintf("%s has no option %s, but %s", id, m[1], strings.Join(options, ", ")),
		Remedy: refusal.Say("ferrus answer{branch} N picks one of 1 to %d; an answer in words may say anything", len(options))}
}

// TitleOf is the first line of a task, without Markdown's marks, as its title.
func TitleOf(task string) string {
	task = safetext.Clean(task)
	for line := range strings.Lines(task) {
		if t := strings.TrimSpace(strings.TrimLeft(strings.TrimSpace(line), "#")); t != "" {
			return format.OneLine(t, 80)
		}
	}
	return "task"
}
