package format

import "strings"

// Word returns the word of the list that word was probably meant to be, or "". A candidate has
// an edit distance (insert, delete, replace or swap neighbours; case does not count) of up to a
// third of the longer word and at most 4. A word of three letters or more that begins the other, as
// ttl does ttl_secs, counts as one edit. The first of equals in the list wins.
func Word(word string, of []string) string {
	best, least := "", 5
	for _, candidate := range of {
		d := distance(strings.ToLower(word), strings.ToLower(candidate))
		shorter, longer := min(len(word), len(candidate)), max(len(word), len(candidate))
		if d > 1 && shorter >= 3 && strings.EqualFold(word[:shorter], candidate[:shorter]) {
			d = 1
		}
		if d < least && d <= (longer+1)/3 {
			best, least = candidate, d
		}
	}
	return best
}

// distance returns the optimal string alignment distance, in runes. Words whose lengths differ too
// much are not compared.
func distance(a, b string) int {
	x, y := []rune(a), []rune(b)
	if d := max(len(x)-len(y), len(y)-len(x)); d > 4 {
		return d
	}
	before, prev, row := make([]int, len(y)+1), make([]int, len(y)+1), make([]int, len(y)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := range x {
		row[0] = i + 1
		for j := range y {
			replace := prev[j]
			if x[i] != y[j] {
				replace++
			}
			row[j+1] = min(prev[j+1]+1, row[j]+1, replace)
			if i > 0 && j > 0 && x[i] == y[j-1] && x[i-1] == y[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, prev, row = prev, row, before
	}
	return prev[len(y)]
}
