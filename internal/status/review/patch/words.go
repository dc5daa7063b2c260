package patch

// A Part is some of a line, by its bytes. The empty one is none.
type Part struct{ From, To int }

// Pairs returns what stands side by side of a hunk, by the indexes of its lines: a removed line and the added one in its place, or twice a
// line of both files. Where there is none, it is -1.
func Pairs(lines []Line) (list [][2]int) {
	for at := 0; at < len(lines); {
		removed := run(lines[at:], '-')
		added := run(lines[at+removed:], '+')
		if removed+added == 0 {
			list = append(list, [2]int{at, at})
			at++
		}
		for i := range max(removed, added) {
			pair := [2]int{-1, -1}
			if i < removed {
				pair[0] = at + i
			}
			if i < added {
				pair[1] = at + removed + i
			}
			list = append(list, pair)
		}
		at += removed + added
	}
	return list
}

// ChangedWords returns for each line of a hunk the words in which it differs from the line that stands beside it. Lines that have little in
// common have none.
func ChangedWords(lines []Line) []Part {
	words := make([]Part, len(lines))
	for _, pair := range Pairs(lines) {
		if was, now := pair[0], pair[1]; was >= 0 && now >= 0 && was != now {
			words[was], words[now] = differing(lines[was].Text, lines[now].Text)
		}
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
func differing(a, b string) (Part, Part) {
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
		return Part{}, Part{}
	}
	return Part{head, len(a) - tail}, Part{head, len(b) - tail}
}

// cuts reports whether a word goes on at an index.
func cuts(text string, at int) bool {
	return at > 0 && at < len(text) && InWord(text[at-1]) && InWord(text[at])
}

// InWord reports whether a byte is a part of a word or of a number.
func InWord(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || c >= 0x80
}
