package agents

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// whole are the signs of each trouble in one expression, without a look for words before.
var whole = []struct {
	trouble Trouble
	expr    *regexp.Regexp
}{
	{NoServer, regexp.MustCompile(`(?i)required MCP servers? failed|MCP server\W+ferrus\S*\W.*(fail|error|not connected)|` +
		`MCP issues detected|failed to (start|connect).*ferrus`)},
	{RateLimited, regexp.MustCompile(`(?i)\b429\b.*(error|too many|status|reject|exhaust)|(error|status|code|rejected)\W{0,4}\b429\b|` +
		`too many requests|rate.?limit(ed|\s+(is |has been )?(reached|exceeded|error)|_error)|rate_limit_exceeded|` +
		`(exceed|hit|reached)\S* (your|the|this)\W[^.]{0,60}\b(limit|quota)\b|(usage|session|spend|weekly) limit (has been )?reached|` +
		`quota exceeded|insufficient_quota|RESOURCE_EXHAUSTED|overloaded_error|usage_limit_reached`)},
	{Unauthorised, regexp.MustCompile(`(?i)\b401\b.*(unauthori[sz]ed|error)|(error|status|code)\W{0,4}\b401\b|(invalid|incorrect|missing|no) (x-)?api.?key|` +
		`authentication_(error|failed)|api key (is )?(not (valid|found|set)|missing)|not logged in|run /login|please (log|sign) in|` +
		`(oauth )?token (has )?expired|must specify the GEMINI_API_KEY|set an auth method`)},
}

func troubleByExpression(text string) Trouble {
	for _, s := range whole {
		if s.expr.MatchString(text) {
			return s.trouble
		}
	}
	return ""
}

// pieces are what the expressions are made of: texts of them, in any order, match often.
var pieces = [][]string{
	strings.Split("required,MCP,MCP server,servers,failed,ferrus,fail,error,not connected,issues,detected,failed to,start,connect", ","),
	strings.Split("429,error,too many,status,reject,exhaust,code,rejected,requests,rate,limit,limited,is,has been,reached,exceeded,"+
		"exceed,hit,your,the,this,quota,usage,session,insufficient,resource,exhausted,overloaded", ","),
	strings.Split("401,error,status,code,unauthorised,invalid,incorrect,no,x,api,key,authentication,failed,is,not,valid,found,set,missing,"+
		"logged in,run,/login,please,log in,sign,token,expired,has,must specify the,GEMINI,an auth method", ","),
}

// TestWordsLoseNoTrouble: an expression is not tried on a text without its words, and would not have matched it.
func TestWordsLoseNoTrouble(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	found := map[Trouble]int{}
	for i := range 9_000 {
		var b strings.Builder
		of := pieces[i%len(pieces)]
		for range 1 + random.IntN(6) {
			word := of[random.IntN(len(of))]
			switch random.IntN(8) {
			case 0:
				word = strings.ToUpper(word)
			case 1:
				word = strings.NewReplacer("s", "\u017f", "k", "\u212a").Replace(word)
			}
			b.WriteString(word + []string{" ", " ", " ", "_", "", ": ", "\n"}[random.IntN(7)])
		}
		want := troubleByExpression(b.String())
		found[want]++
		if got, _ := troubleIn(b.String(), noon); got != want {
			t.Fatalf("%q: %q, want %q", b.String(), got, want)
		}
	}
	for _, trouble := range []Trouble{"", NoServer, RateLimited, Unauthorised} {
		if found[trouble] < 5 {
			t.Errorf("%q was met %d times", trouble, found[trouble])
		}
	}
}

// TestEachWayToMatchHasItsWords, one after the other: random texts meet some of them seldom.
func TestEachWayToMatchHasItsWords(t *testing.T) {
	for _, text := range strings.Split(`required MCP server failed
required MCP servers failed
MCP server ferrus: fail
MCP server "ferrus" is not connected
MCP issues detected
failed to start ferrus
failed to connect: ferrus
429 error
429: too many
429 status
429 is a reject
429 exhausted
error 429
status: 429
code=429
rejected (429)
too many requests
rate limited
ratelimited
rate-limit reached
rate limit is exceeded
rate_limit_error
rate limit error
rate_limit_exceeded
exceeded your daily limit
exceed the quota
hit this limit
hit your quota
reached your limit
reached the quota
usage limit reached
session limit has been reached
spend limit reached
weekly limit reached
quota exceeded
insufficient_quota
RESOURCE_EXHAUSTED
overloaded_error
usage_limit_reached
401 unauthorised
401 Unauthorized
401 error
error: 401
status 401
code 401
invalid api key
incorrect x-api-key
missing apikey
no api_key
authentication_error
authentication_failed
api key not valid
api key is not found
api key not set
api key missing
not logged in
run /login
please log in
please sign in
token expired
oauth token has expired
must specify the GEMINI_API_KEY
set an auth method`, "\n") {
		want := troubleByExpression(text)
		for _, text := range []string{text, strings.ToUpper(text), "xx. " + text + " yy"} {
			if got, _ := troubleIn(text, noon); want == "" || got != want {
				t.Errorf("%q: %q, want %q", text, got, want)
			}
		}
	}
}

func FuzzTroubleIn(f *testing.F) {
	for _, p := range pieces {
		f.Add(strings.Join(p, " "))
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > maxError {
			return
		}
		if got, _ := troubleIn(text, noon); got != troubleByExpression(text) {
			t.Errorf("%q: %q, want %q", text, got, troubleByExpression(text))
		}
	})
}

// ordinary is output as programs print it.
const ordinary = `=== RUN   TestLimits
    api_test.go:42: GET /api/v1/users?limit=20 200 in 1.4ms
--- PASS: TestLimits (0.00s)
error: expected 3, got 4
ok  	example.com/api/limits	0.429s
the rate is 3.401 a second
`

// TestOrdinaryOutputTriesNoExpression: they took seconds for each megabyte.
func TestOrdinaryOutputTriesNoExpression(t *testing.T) {
	tried := 0
	saved := signs
	defer func() { signs = saved }()
	signs = append(signs[:0:0], saved...)
	for i, s := range saved {
		signs[i].expr = func() *regexp.Regexp { tried++; return s.expr() }
	}
	for _, a := range All() {
		r := reader(a)
		r.Feed([]byte(strings.Repeat(ordinary, 50)))
		r.Skim([]byte(strings.Repeat(ordinary, 50)))
	}
	if tried > 0 {
		t.Errorf("%d expressions were tried", tried)
	}
	if r := reader(command); r.Feed([]byte("status 429\n")) == nil || tried == 0 {
		t.Error("none is tried on a trouble either")
	}
}

// TestPlainOutputIsReadFromItsEnd: of a whole piece a few lines make the reading.
func TestPlainOutputIsReadFromItsEnd(t *testing.T) {
	lines := 0
	for _, a := range All() {
		r := reader(a)
		read := r.read
		lines = 0
		r.read = func(line []byte, at time.Time, g *Reading) []Note { lines++; return read(line, at, g) }
		r.Skim(bytes.Repeat([]byte("error 429\n"), 10_000))
		if most := a.heeds; most > 0 && lines > most || most == 0 && lines != 10_000 {
			t.Errorf("%s: %d lines were read", a.Name, lines)
		}
	}
}

// FuzzSkim: it comes to the reading of Feed, whatever the pieces are.
func FuzzSkim(f *testing.F) {
	for file := range streams(f) {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text, uint16(len(text)/2))
	}
	for n := plainForgets - 2; n < plainForgets+3; n++ {
		for _, blank := range []string{"", "\n", "\r\n \n"} {
			text := "error 429\n" + strings.Repeat("on\n"+blank, n)
			for at := range 15 {
				f.Add([]byte(text), uint16(at))
				f.Add([]byte("x\n"+text+"end"), uint16(len(text)-at))
			}
		}
	}
	f.Fuzz(func(t *testing.T, text []byte, at uint16) {
		cut := min(int(at), len(text))
		for _, a := range All() {
			fed, skimmed := reader(a), reader(a)
			for _, piece := range [][]byte{text[:cut], text[cut:], []byte(strings.Repeat("on\n", cut%25))} {
				fed.Feed(piece)
				skimmed.Skim(piece)
				if diff := cmp.Diff(fed.Reading, skimmed.Reading); diff != "" {
					t.Errorf("%s: (-fed +skimmed):\n%s", a.Name, diff)
				}
			}
			fed.End()
			skimmed.End()
			if diff := cmp.Diff(fed.Reading, skimmed.Reading); diff != "" {
				t.Errorf("%s at the end: (-fed +skimmed):\n%s", a.Name, diff)
			}
		}
	})
}

// BenchmarkOutput reads a megabyte of what agents print. Beside it is the least that reading lines
// can cost: to find their ends.
func BenchmarkOutput(b *testing.B) {
	event := `{"type":"assistant","message":{"id":"1","content":[{"type":"text","text":"` + strings.Repeat("word ", 40) + `"}]}}` + "\n"
	for _, c := range []struct {
		name string
		text string
		of   Adapter
	}{
		{"ordinary", ordinary, command},
		{"1KiB", strings.Repeat("x", 1023) + "\n", command},
		{"y", "y\n", command},
		{"trouble", "error 429\n", command},
		{"beside-events", ordinary, claude},
		{"events", event, claude},
	} {
		text := bytes.Repeat([]byte(c.text), 1<<20/len(c.text))
		for _, how := range []struct {
			name string
			read func(r *Reader, text []byte)
		}{
			{"skim", func(r *Reader, text []byte) { r.Skim(text) }},
			{"feed", func(r *Reader, text []byte) { r.Feed(text) }},
			{"ends-of-lines", func(_ *Reader, text []byte) {
				for range bytes.Lines(text) {
				}
			}},
		} {
			b.Run(fmt.Sprintf("%s/%s", c.name, how.name), func(b *testing.B) {
				b.SetBytes(int64(len(text)))
				for b.Loop() {
					how.read(c.of.Reader(), text)
				}
			})
		}
	}
}
