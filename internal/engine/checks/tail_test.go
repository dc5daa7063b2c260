package checks

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestARingKeepsTheLastBytes(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		r := ring{size: rnd.IntN(20)}
		var all []byte
		for range rnd.IntN(8) {
			p := make([]byte, rnd.IntN(30))
			for i := range p {
				p[i] = byte(rnd.IntN(256))
			}
			r.Write(p)
			all = append(all, p...)
		}
		want := all[max(0, len(all)-r.size):]
		if got := r.Bytes(); !bytes.Equal(got, want) || r.lost() != int64(len(all)-len(want)) {
			t.Fatalf("ring of %d after %v: %v, lost %d", r.size, all, got, r.lost())
		}
	}
}

func ringOf(text string) *ring {
	r := &ring{size: feedbackWindow}
	r.Write([]byte(text))
	return r
}

func TestATailIsTheLastLines(t *testing.T) {
	long := strings.Repeat("é", maxLine)
	for name, c := range map[string]struct {
		in   string
		n    int
		want string
	}{
		"none":           {"a\n", 0, ""},
		"nothing":        {"", 5, ""},
		"fewer":          {"a\nb\n", 5, "a\nb"},
		"more":           {"a\nb\nc\n", 2, "b\nc"},
		"ragged":         {"a\nb", 1, "b"},
		"blank end":      {"a\n\n\n", 1, "a"},
		"escapes":        {"\x1b[31mred\x1b[0m\r\n", 1, "red"},
		"lost beginning": {strings.Repeat("x", feedbackWindow) + "\nend\n", 9, "end"},
		"long line":      {"a\n" + long, 1, clip(long)},
	} {
		if got := lastLines(ringOf(c.in), c.n); got != c.want {
			t.Errorf("%s: %.80q, want %.80q", name, got, c.want)
		}
	}
	got := lastLines(ringOf("begin"+strings.Repeat("é", 1<<20)+"end"), 3)
	if len(got) > maxLine || !utf8.ValidString(got) || !strings.HasSuffix(got, "end") || !strings.Contains(got, clipped) {
		t.Errorf("one line without an end: %d bytes, %.40q", len(got), got)
	}
	if got := clip("begin" + long); len(got) > maxLine || !utf8.ValidString(got) || !strings.HasPrefix(got, "begin") {
		t.Errorf("clip: %d bytes, %.40q", len(got), got)
	}
}

func TestTailsTogetherAreBounded(t *testing.T) {
	line := strings.Repeat("é", 40) + "\n"
	commands := make([]Command, 12)
	for i := range commands {
		commands[i].Tail = strings.TrimSuffix(strings.Repeat(line, 20*i), "\n") + fmt.Sprintf("\nend %d", i)
	}
	before := append([]Command(nil), commands...)
	share(commands, maxFeedback)
	sum := 0
	for i, c := range commands {
		sum += len(c.Tail)
		if !strings.HasSuffix(before[i].Tail, c.Tail) || !strings.HasSuffix(c.Tail, fmt.Sprintf("end %d", i)) {
			t.Errorf("tail %d is not an end of what it was: %q", i, c.Tail)
		}
		if c.Tail != before[i].Tail && !strings.HasPrefix(c.Tail, "é") {
			t.Errorf("tail %d does not start with a line: %.20q", i, c.Tail)
		}
	}
	if sum > maxFeedback || sum < maxFeedback*3/4 {
		t.Errorf("the tails take %d bytes of %d", sum, maxFeedback)
	}
	if got := suffix("éé", 3); got != "é" {
		t.Errorf("suffix cuts a rune: %q", got)
	}
	share(nil, maxFeedback)
}

func TestTheOutputOfFailedCommandsIsShort(t *testing.T) {
	long := strings.TrimSuffix(strings.Repeat(strings.Repeat("x", 400)+"\n", 30), "\n")
	all := []Command{{Line: "a\nb", ExitCode: 1, Tail: "one\ntwo"}, {Line: "c", ExitCode: 2, Tail: long}, {Line: "d", Signal: "SIGKILL"}, {Line: "e", ExitCode: 4}}
	got := Output(all)
	if len(got) > maxShownText+200 || strings.Contains(got, "e: ") || !strings.HasPrefix(got, "a b: exit status 1 after 0s\none\ntwo\nc: exit status 2") || !strings.HasSuffix(got, "d: ended by SIGKILL after 0s") {
		t.Errorf("%d bytes: %q", len(got), got)
	}
	if all[1].Tail != long || Output(nil) != "" {
		t.Error("what is given was changed, or nothing is something")
	}
}
