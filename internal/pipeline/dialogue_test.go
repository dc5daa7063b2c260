package pipeline

import (
	"strings"
	"testing"
	"time"
)

const talkText = `{"talk": {"phases": [{"id": "design", "mode": "dialogue", "max_rounds": 2, "workers": [
	{"role": "architect-1", "task": "propose"}, {"role": "architect-2", "task": "criticise", "final": true}]}]}}`

// TestDialoguesReachTheirEnd: S3-04, S3-08, S3-09, F27.
func TestDialoguesReachTheirEnd(t *testing.T) {
	t.Parallel()
	agrees := func(d *Dialogue) string { d.Dialogue[len(d.Dialogue)-1].Consensus = true; return string(d.Encode()) }
	rewrites := func(d *Dialogue) string { d.Dialogue[0].Role = "architect-2"; return string(d.Encode()) }
	mute := func(d *Dialogue) string { d.Dialogue[len(d.Dialogue)-1].Content = " \n"; return string(d.Encode()) }
	tears := func(d *Dialogue) string { return "{" }
	fired := map[string]bool{}
	for _, test := range []struct {
		name   string
		rounds int
		plays  map[string][]play
		want   string // how the transcript ends; or why the run failed
		turns  int    // workers started
		before func(*world)
	}{
		{"all rounds", 2, nil, "No consensus after 2 rounds.\n", 4, nil},
		{"consensus", 2, map[string][]play{"architect-2": {{takes: sec, turn: agrees}}}, "Consensus in round 1, by architect-2.\n", 2, nil},
		{"until there is consensus", -1, map[string][]play{"architect-1": {{}, {}, {}, {}, {}, {}, {turn: agrees}}}, "Consensus in round 7, by architect-1.\n", 13, nil},
		{"history rewritten once", 2, map[string][]play{"architect-2": {{turn: rewrites}, {}}}, "No consensus after 2 rounds.\n", 5, nil},
		{"history rewritten twice", 2, map[string][]play{"architect-2": {{turn: rewrites}}}, "architect-2 had its turn: it changed /dialogue/0/role; only", 3, nil},
		{"nothing said twice", 2, map[string][]play{"architect-1": {{turn: mute}}}, "architect-1 had its turn: it left the content of the last entry empty", 2, nil},
		{"torn, then whole", 2, map[string][]play{"architect-1": {{turn: tears}, {}}}, "No consensus after 2 rounds.\n", 5, nil},
		{"hangs", 2, map[string][]play{"architect-2": {{hangs: true}}}, "architect-2 was not done by", 2, nil},
		{"hangs after it has written", 1, map[string][]play{"architect-2": {{hangs: true}}}, "No consensus after 1 round.\n", 2, func(w *world) {
			w.tick()
			w.now = w.now.Add(time.Minute)
			w.tick()
			w.speak("architect-2", &proc{})
		}},
		{"a person meddles between the turns", 2, nil, "No consensus after 2 rounds.\n", 4, func(w *world) {
			w.do(Action{Text: open(w.w.Phases[0], "FSA architecture").Offer(w.now).Encode()})
			w.talk.Text = []byte(`{}`)
			if a := Decide(w.facts()); a.Row != "dialogue: edited" || string(a.Text) != string(w.talk.Base) {
				w.t.Errorf("%s", a)
			}
		}},
		{"our copy is broken", 2, nil, "names nobody who takes turns", 0, func(w *world) { w.talk = Talk{Base: []byte("{}")} }},
	} {
		t.Run(test.name, func(t *testing.T) {
			flow := flow(t, talkText)
			flow.Phases[0].MaxRounds = test.rounds
			w := newWorld(t, flow)
			if w.plays = test.plays; w.plays == nil {
				w.plays = map[string][]play{}
			}
			if test.before != nil {
				test.before(w)
			}
			a := w.run()
			for _, row := range w.rows {
				_, inner, _ := strings.Cut(row, ": ")
				fired[inner] = true
			}
			if n := w.spawns["architect-1"] + w.spawns["architect-2"]; n != test.turns {
				t.Errorf("%d started, not %d", n, test.turns)
			}
			if a.Person {
				if !strings.Contains(w.status.Failure, test.want) {
					t.Errorf("failed: %s", w.status.Failure)
				}
				if v := w.talk.Text; test.turns > 0 && string(v) != string(w.talk.Base) {
					t.Errorf("left as it was spoilt: %s", v)
				}
				return
			}
			w.ended(false)
			text := w.texts["design.md"]
			if !strings.HasSuffix(text, test.want) || !strings.HasPrefix(text, "# FSA architecture\n\n## Round 1\n\n### architect-1\n\narchitect-1 speaks\n") {
				t.Errorf("transcript\n%s", text)
			}
		})
	}
	for _, r := range turns {
		if !fired[r.name] && r.name != "listen" {
			t.Errorf("never fired: %s", r.name)
		}
	}
	if !fired["listen"] {
		t.Error("nobody listened")
	}
}

// TestAFailedTurnIsRetriedWhereItStood: what was said before stays; from the phase it begins anew.
func TestAFailedTurnIsRetriedWhereItStood(t *testing.T) {
	t.Parallel()
	for _, from := range []string{"", "design"} {
		w := newWorld(t, flow(t, talkText))
		mute := func(d *Dialogue) string { return "" }
		w.plays = map[string][]play{"architect-2": {{turn: mute}, {turn: mute}, {}}}
		w.run()
		w.intent = Intent{Verb: Retry, From: from}
		w.run()
		w.ended(false)
		if want := map[string]int{"": 2, "design": 3}[from]; w.spawns["architect-1"] != want {
			t.Errorf("from %q: %v", from, w.spawns)
		}
	}
}

// TestOnlyTheLastContentMayChange: S3-08.
func TestOnlyTheLastContentMayChange(t *testing.T) {
	t.Parallel()
	w := flow(t, talkText)
	d := open(w.Phases[0], "q").Offer(noon)
	d.Dialogue[0].Content = "said"
	before := d.Offer(noon)
	base := string(before.Encode())
	fill := strings.Replace(base, `"content": ""`, `"content": "mine"`, 1)
	if i := strings.LastIndex(base, `"content": ""`); i < 0 || strings.Count(base, `"content": ""`) != 1 {
		t.Fatal(base)
	}
	for _, test := range []struct{ name, after, want string }{
		{"filled", fill, "it is good"},
		{"filled in another layout", strings.Join(strings.Fields(fill), " "), "it is good"},
		{"with consensus", strings.Replace(fill, `"mine",`+"\n      "+`"consensus": false`, `"mine", "consensus": true`, 1), "it is good"},
		{"empty", base, "it left the content of the last entry empty"},
		{"blank", strings.Replace(base, `"content": ""`, `"content": " \n\t"`, 1), "it left the content of the last entry empty"},
		{"consensus alone", strings.Replace(base, `"content": "",`+"\n      "+`"consensus": false`, `"content": "", "consensus": true`, 1), "it left the content of the last entry empty"},
		{"older content", strings.Replace(fill, "said", "unsaid", 1), "it changed /dialogue/0/content; only"},
		{"older consensus", strings.Replace(fill, `"consensus": false`, `"consensus": true`, 1), "it changed /dialogue/0/consensus; only"},
		{"role and time", strings.NewReplacer(`"role": "architect-2",`+"\n      "+`"timestamp": "2026`, `"role": "x", "timestamp": "2027`).Replace(fill), "it changed /dialogue/1/role, /dialogue/1/timestamp; only"},
		{"the rounds", strings.Replace(fill, `"max_rounds": 2`, `"max_rounds": 9`, 1), "it changed /max_rounds; only"},
		{"a key of its own", strings.Replace(fill, `"question"`, `"x": 1, "question"`, 1), "it changed /x; only"},
		{"a key less", strings.Replace(fill, `"turn": "architect-2",`, "", 1), "it changed /turn; only"},
		{"an entry more", strings.Replace(fill, `"dialogue": [`, `"dialogue": [{},`, 1), "it changed /dialogue/0/round, "},
		{"a number", strings.Replace(fill, `"mine"`, `3`, 1), "/dialogue/1: content must be a string"},
		{"null", strings.Replace(fill, `"mine"`, `null`, 1), "it changed /dialogue/1/content; only"},
		{"a key twice", strings.Replace(fill, `"content": "mine"`, `"content": "mine", "content": "mine"`, 1), "/dialogue/1/content (line "},
		{"torn", fill[:len(fill)/2], "line "},
		{"not UTF-8", strings.Replace(fill, "mine", "\xff", 1), "line "},
		{"two values", fill + "{}", "line "},
	} {
		t.Run(test.name, func(t *testing.T) {
			v := Judge([]byte(base), []byte(test.after))
			if !strings.HasPrefix(v.String(), test.want) || v.Good() != (test.want == "it is good") {
				t.Errorf("got %s, want %s", v, test.want)
			}
		})
	}
	if v := Judge([]byte(base), nil); v.Good() || v.Problem != "dialogue.json is gone" {
		t.Errorf("got %s", v)
	}
	if v := Judge([]byte(fill), []byte(fill)); v.Good() {
		t.Error("a turn of nobody is good")
	}
}

// FuzzJudge: nothing that an agent leaves makes it panic, and what is good has the older entries unchanged.
func FuzzJudge(f *testing.F) {
	w := flow(f, talkText)
	d := open(w.Phases[0], "q").Offer(noon)
	d.Dialogue[0].Content = "said"
	base := d.Offer(noon).Encode()
	f.Add(base)
	f.Add([]byte(strings.Replace(string(base), `"content": ""`, `"content": "x"`, 1)))
	f.Fuzz(func(t *testing.T, after []byte) {
		v := Judge(base, after)
		if !v.Good() {
			return
		}
		if len(v.Dialogue.Dialogue) != 2 || v.Dialogue.Dialogue[0] != d.Dialogue[0] || v.Dialogue.Turn != "architect-2" || v.Dialogue.Open() {
			t.Fatalf("%s\n%+v", after, v.Dialogue)
		}
	})
}
