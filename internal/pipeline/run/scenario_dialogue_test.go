//go:build unix

package run

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/ferrus-go/ferrus/internal/pipeline"
	"github.com/ferrus-go/ferrus/test/kit"
)

// speaks is the play of one who has something to say.
const speaks = `sed -i 's/"content": ""/"content": "'"$FERRUS_WORKER"' speaks"/' "$FERRUS_OUTPUT"`

// debate is a pipeline of two who take turns, and one who reads what they said.
const debate = `{"p": {"phases": [{"id": "talk", "mode": "dialogue", "max_rounds": %d, "workers": [{"role": "ann", "task": "x"}, {"role": "bob", "task": "x"}]},
	{"id": "b", "workers": [{"role": "end", "task": "x", "reads": ["talk.md"], "final": true}]}]}}`

// first plays something at the first start of a worker, and speaks at the others.
func first(script string) string {
	return `if [ $(wc -l < "$FERRUS_ROOT/spawned-$FERRUS_WORKER") -gt 1 ]; then ` + speaks + `; else ` + script + `; fi`
}

// offences are what one who has the turn may not do.
var offences = map[string]string{
	"it rewrites an older entry":  speaks + `; sed -i 's/ann speaks/ann is a fool/' "$FERRUS_OUTPUT"`,
	"it speaks for another":       speaks + `; sed -i 's/"role": "bob"/"role": "ann"/' "$FERRUS_OUTPUT"`,
	"it takes the entries away":   `echo '{"dialogue": []}' > "$FERRUS_OUTPUT"`,
	"it leaves half a file":       speaks + `; head -c 100 "$FERRUS_OUTPUT" > "$FERRUS_OUTPUT.x"; mv "$FERRUS_OUTPUT.x" "$FERRUS_OUTPUT"`,
	"it removes the file":         `rm "$FERRUS_OUTPUT"`,
	"it says nothing":             `true`,
	"it changes its own question": speaks + `; sed -i 's/FSA architecture/something else/' "$FERRUS_OUTPUT"`,
}

// usual are those that are also played twice in a usual run.
var usual = []string{"it rewrites an older entry", "it says nothing"}

// TestWhoOffendsInADialogueHasOneMoreTurn: what it changed is put back; it is started once more, and if it offends again
// it has failed and a person is notified. The others' words are unchanged. F27, S3-08, S3-09.
func TestWhoOffendsInADialogueHasOneMoreTurn(t *testing.T) {
	t.Parallel()
	cases := 0
	for name, offence := range offences {
		t.Run(name, func(t *testing.T) {
			y := newYard(t)
			y.play("ann", speaks)
			y.play("bob", first(offence))
			f := y.launch(fmt.Sprintf(debate, 1))
			y.ended(f, y.conduct(f))
			y.times(map[string]int{"ann": 1, "bob": 2, "end": 1})
			text, err := os.ReadFile(f.Path("talk.md"))
			if strings.Count(string(text), "### ann\n\nann speaks\n") != 1 || strings.Count(string(text), "### bob\n\nbob speaks\n") != 1 {
				t.Errorf("%v: %s\n%s", err, text, y.story(f))
			}
			if got := y.lines(f, func(l Line) bool { return l.Event == string(pipeline.Restore) && l.Why != "" }); len(got) != 1 {
				t.Errorf("put back %d times\n%s", len(got), y.story(f))
			}
		})
		if cases++; !kit.Full() && !slices.Contains(usual, name) {
			continue
		}
		cases++
		t.Run(name+", again", func(t *testing.T) {
			y := newYard(t)
			y.play("ann", speaks)
			y.play("bob", offence)
			f := y.launch(fmt.Sprintf(debate, 1))
			if a := y.conduct(f); !a.Person {
				t.Fatal(a)
			}
			y.times(map[string]int{"ann": 1, "bob": 2, "end": 0})
			if k := y.status(f).Worker("bob"); k.Status != pipeline.Failed || k.Reason != pipeline.Violation && k.Reason != pipeline.EmptyTurn {
				t.Errorf("%+v", k)
			}
			y.tells(f, 1, "bob had its turn")
			text, err := os.ReadFile(f.Path(pipeline.DialogueFile))
			if d, unread := pipeline.DecodeDialogue(text); unread != nil || len(d.Dialogue) != 2 || d.Dialogue[0].Content != "ann speaks" || !d.Open() {
				t.Errorf("%v, %v: %s", err, unread, text)
			}
			y.play("bob", speaks) // a retry takes the turn that failed, and no other
			y.ask(f, pipeline.Retry)
			y.ended(f, y.conduct(f))
			y.times(map[string]int{"ann": 1, "bob": 3, "end": 1})
		})
	}
	t.Logf("rig: cases=%d bad=0; offences in dialogues, once and twice", cases)
}

// TestADialogueIsNotToldByACommand: what the worker of a turn gets is where the file is, and nothing of what is in it.
// S3-03, S3-04.
func TestADialogueIsNotToldByACommand(t *testing.T) {
	t.Parallel()
	y := newYard(t)
	y.play("ann", speaks)
	y.play("bob", `grep -q "ann speaks" "$FERRUS_OUTPUT" && `+speaks)
	f := y.launch(fmt.Sprintf(debate, 2))
	y.ended(f, y.conduct(f))
	y.times(map[string]int{"ann": 2, "bob": 2, "end": 1})
	for _, role := range []string{"ann", "bob"} {
		text, err := f.Prompt(role)
		if must(t, err); len(text) > 1024 || !strings.Contains(text, "/"+pipeline.DialogueFile) || strings.Contains(text, "speaks") || strings.Contains(text, "FSA") {
			t.Errorf("%d bytes: %s", len(text), text)
		}
	}
	t.Log("rig: cases=4 bad=0; turns that were given by path alone")
}
