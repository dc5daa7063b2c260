package patch

import (
	"strings"
	"testing"
)

// TestColours shows what each kind of text becomes, one line of a row: K, S, M, C and F begin a class, and . ends it; [ and ] are around the words that
// have changed.
func TestColours(t *testing.T) {
	short := strings.NewReplacer(`<span class="k">`, "K", `<span class="s">`, "S", `<span class="m">`, "M", `<span class="c">`, "C", `<span class="f">`, "F",
		"<b>", "[", "</b>", "]", "</span>", ".", "&#34;", `"`, "&#39;", "'", "&lt;", "<", "&gt;", ">", "&amp;", "&")
	for _, row := range []struct{ name, text, want string }{
		{"a.go", " func f() { return 0x1F } // g", "Kfunc. Ff.() { Kreturn. M0x1F. } C// g."},
		{"a.go", ` s := "a\"b" + 'c'`, `s := S"a\"b". + S'c'.`},
		{"a.go", " x := `a\n+b` + y\n z /* c\n d */ e", "x := S`a.|Sb`. + y|z C/* c.|Cd */. e"},
		{"a.go", "-x := `a\n+y := 1\n-b` + z", "x := S`a.|y := M1.|Sb`. + z"},
		{"a.go", ` s := "open` + "\n t := 1", `s := S"open.|t := M1.`},
		{"a.py", ` def f(): """a` + "\n b\"\"\" # c\n+'''", `Kdef. Ff.(): S"""a.|Sb""". C# c.|S'''.`},
		{"a.sh", ` if [ $# -gt 1 ]; then # one`, `Kif. [ $# -gt M1. ]; Kthen. C# one.`},
		{"a.sql", " SELECT a from b -- c", "KSELECT. a Kfrom. b C-- c."},
		{"a.rs", " fn f<'a>(x: &'a str)", "Kfn. f<'a>(x: &'a str)"},
		{"Makefile", ` "a\`, `S"a\.`},
		{"a.unknown", "-the old words stay\n+the new words stay", "the [old] words stay|the [new] words stay"},
		{"a.unknown", "-total = a + b\n+total = a + bc", "total = a + [b]|total = a + [bc]"},
		{"a.unknown", "-one two\n+one two three", "one two|one two[ three]"},
		{"a.unknown", "-one and two\n-three and four\n+one or two\n+three or four\n one", "one [and] two|three [and] four|one [or] two|three [or] four|one"},
		{"a.unknown", "-one and two\n+one or two\n+one", "one [and] two|one [or] two|one"},
		{"a.unknown", "-one\n+eight other words", "one|eight other words"},
		{"a.unknown", "-the old words stay\n-and go\n+the new words stay\n same", "the [old] words stay|and go|the [new] words stay|same"},
		{"a.unknown", "-von größe 1\n+von größer 1", "von [größe] 1|von [größer] 1"},
		{"a.go", "-s := f(\"a b\", 1)\n+s := f(\"a c\", 2)", `s := Ff.(S"a [b"].[, ]M[1].)|s := Ff.(S"a [c"].[, ]M[2].)`},
		{"a.unknown", ` func f(1) "a"`, `func f(1) "a"`},
		{"a.go", `\ No newline at end of file`, " No newline at end of file"},
		{"a.go", " größe(1) <b>", "Fgröße.(M1.) <b>"},
	} {
		f := File{Path: row.name, Hunks: []Hunk{{}}}
		for _, line := range strings.Split(row.text, "\n") {
			f.Hunks[0].Lines = append(f.Hunks[0].Lines, Line{Kind: line[0], Text: line[1:]})
		}
		var got []string
		for _, line := range Highlight(&f)[0] {
			got = append(got, short.Replace(string(line)))
		}
		if got := strings.Join(got, "|"); got != row.want {
			t.Errorf("%s %q\n got %s\nwant %s", row.name, row.text, got, row.want)
		}
	}
}

// TestEveryLanguageIsOne: a name belongs to one language, and regions that begin alike are tried the longest first.
func TestEveryLanguageIsOne(t *testing.T) {
	seen := map[string]bool{}
	for _, l := range languages {
		for _, name := range strings.Fields(l.files) {
			if seen[name] {
				t.Errorf("%s is twice", name)
			}
			seen[name] = true
		}
		for i, r := range l.regions {
			for _, before := range l.regions[:i] {
				if strings.HasPrefix(r.open, before.open) {
					t.Errorf("%s: %q hides %q", l.files, before.open, r.open)
				}
			}
		}
	}
}
