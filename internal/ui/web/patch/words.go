package patch

// A part is some of a line, by its bytes. The empty one is none.
type part struct{ from, to int }

// changedWords returns for each line of a hunk the words in which it differs from the line in its place. Only where as many lines were added
// as were removed right before them, a line has one in its place; lines that have little in common have no words.
func changedWords(lines []Line) []part {
	spans := make([]part, len(lines))
	for i := 0; i < len(lines); i++ {
		removed := i
		for i < len(lines) && lines[i].Kind == '-' {
			i++
		}
		added := i
		for i < len(lines) && lines[i].Kind == '+' {
			i++
		}
		if n := added - removed; n > 0 && n == i-added {
			for j := range n {
				spans[removed+j], spans[added+j] = differing(lines[removed+j].Text, lines[added+j].Text)
			}
		}
		if i > removed {
			i-- // this line ends the run
		}
	}
	return spans
}

// differing are the parts of two lines between what they begin and end with in common. No word is cut. Both are empty where less than a third of
// the longer line is common.
func differing(a, b string) (part, part) {
	most := min(len(a), len(b))
	head := 0
	for head < most && a[head] == b[head] {
		head++
	}
	for head > 0 && (cuts(a, head) || cuts(b, head)) {
		head--
	}
	tail := 0
	for tail < most-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	for tail > 0 && (cuts(a, len(a)-tail) || cuts(b, len(b)-tail)) {
		tail--
	}
	if 3*(head+tail) < max(len(a), len(b)) {
		return part{}, part{}
	}
	return part{head, len(a) - tail}, part{head, len(b) - tail}
}

// cuts reports whether a word goes on at an index.
func cuts(text string, at int) bool {
	return at > 0 && at < len(text) && inWord(text[at-1]) && inWord(text[at])
}
