package cli

import (
	"strconv"
	"time"

	"github.com/ferrus-go/ferrus/internal/platform/safetext"
)

var span = safetext.Lazily(`^([0-9]{1,5})([dh])$`)

// Span reads a time of so many days or hours, such as 30d or 12h; false for any other text.
func Span(text string) (time.Duration, bool) {
	m := span().FindStringSubmatch(text)
	if m == nil {
		return 0, false
	}
	n, _ := strconv.Atoi(m[1]) // five digits
	return time.Duration(n) * map[string]time.Duration{"d": 24 * time.Hour, "h": time.Hour}[m[2]], true
}

// Moment is a time to the minute where the person is.
func Moment(at time.Time) string { return at.Local().Format("2006-01-02 15:04") }
