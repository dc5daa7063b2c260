package safetext

import "regexp"

// Reword returns a text in the words of the first pair whose expression it has, and the text itself where it has none. A
// pair is a valid expression and what replaces it, which may name its groups as in [regexp.Regexp.Expand]. The
// expressions are compiled with each call: it is for errors of libraries.
func Reword(text string, pairs [][2]string) string {
	for _, p := range pairs {
		if found := regexp.MustCompile(p[0]); found.MatchString(text) {
			return found.ReplaceAllString(text, p[1])
		}
	}
	return text
}
