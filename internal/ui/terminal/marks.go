package terminal

import (
	"cmp"
	"strings"

	"charm.land/lipgloss/v2"

	"github.com/ferrus-go/ferrus/internal/status"
)

// A mark says by one character, and again by a colour, why an item needs the person or how it stands.
type mark struct {
	sign  string
	style lipgloss.Style
	means string
}

var (
	asks   = mark{"?", yellow, "question"}
	spent  = mark{"$", yellow, "budget"}
	judges = mark{"✓", blue, "review"}
	choice = mark{"⑂", violet, "choice"}
	merge  = mark{"+", green, "merge"}
	clash  = mark{"≠", red, "conflict"}
	failed = mark{"✗", red, "failed"}
	sent   = mark{"→", blue, "delivery"}
	stands = mark{"‖", dim, "stands still"}
	agree  = mark{"~", dim, "settings"}
	works  = mark{"●", blue, "at work"}
	waits  = mark{"○", dim, "queue"}
	ended  = mark{"·", dim, "done"}
)

// marks are those of the help, in the order of urgency.
var marks = []mark{asks, spent, clash, sent, judges, choice, merge, failed, stands, agree}

// needMarks are the marks of what needs the person. All else stands still.
var needMarks = map[status.NeedKind]mark{
	status.NeedAnswer: asks, status.NeedResponse: asks, status.NeedBudget: spent, status.NeedDay: spent,
	status.NeedReview: judges, status.NeedChoice: choice, status.NeedMerge: merge, status.NeedConflict: clash,
	status.NeedFailed: failed, status.NeedInspection: failed, status.NeedDelivery: sent, status.NeedAgreement: agree,
}

// markOf is the mark of a need.
func markOf(kind status.NeedKind) mark {
	m := needMarks[kind]
	if m.sign == "" {
		return stands
	}
	return m
}

// ascii has characters of seven bits for those that the screen draws, each as wide.
var ascii = strings.NewReplacer("✓", "v", "⑂", "Y", "≠", "#", "✗", "x", "→", ">", "‖", "-", "●", "*", "○", "o", "·", ".", "…", "~",
	"•", "*", "▌", ">", "▰", "#", "▱", "-", "▾", "v", "‹", "<", "↵", "*", "“", "\"", "”", "\"", "│", "|", "─", "-", "┌", "+", "┐", "+", "└", "+", "┘", "+", "├", "+", "┤", "+", "┬", "+", "┴", "+",
	"↓", "v", "↑", "^", "←", "<")

// onlyASCII reports whether a terminal shows seven bits alone, by what its environment says: the console of Linux has no such marks.
func onlyASCII(environ []string) bool {
	get := func(name string) string {
		for _, pair := range environ {
			if value, ok := strings.CutPrefix(pair, name+"="); ok {
				return value
			}
		}
		return ""
	}
	locale := strings.ToUpper(cmp.Or(get("LC_ALL"), get("LC_CTYPE"), get("LANG"), "UTF-8"))
	return get("TERM") == "linux" || !strings.Contains(locale, "UTF-8") && !strings.Contains(locale, "UTF8")
}

// legend says what marks mean.
func legend(of []mark) string {
	var words []string
	for _, m := range of {
		words = append(words, m.sign+" "+m.means)
	}
	return strings.Join(words, ", ")
}
