package patch

// A part is some of a line, by its bytes. The empty one is none.
type part struct{ from, to int }

// changedWords returns for each line of a hunk the words in which it differs from the line in its place. Only where as many lines were added
// as were removed right before them, a line has one in its place; lines that have little in common have no words.
func changedWords(lines []Line) []part {
	words := make([]part, len(lines))
	for at := 0; at < len(lines); {
		removed := run(lines[at:], '-')
		added := run(lines[at+removed:], '+')
		if removed == added {
			for i := range removed {
				was, now := at+i, at+removed+i
				words[was], words[now] = differing(lines[was].Text, lines[now].Text)
			}
		}
		at += max(1, removed+added)
	}
	return words
}

// run is how many lines of a kind some lines begin with.
func run(lines []Line, kind byte) int {
	for i, l := range lines {
		if l.Kind != kind {
			return i
		}
	}
	return len(lines)
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
