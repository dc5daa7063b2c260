package highlight

import (
	"html"
	"html/template"
	"regexp"
	"strings"
	"testing"

	"github.com/ferrus-go/ferrus/internal/platform/safetext"
	"github.com/ferrus-go/ferrus/internal/status/review/patch"
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
		f := patch.File{Path: row.name, Hunks: []patch.Hunk{{}}}
		for _, line := range strings.Split(row.text, "\n") {
			f.Hunks[0].Lines = append(f.Hunks[0].Lines, patch.Line{Kind: line[0], Text: line[1:]})
		}
		var got []string
		for _, line := range Lines(&f)[0] {
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

const sample = "diff --git a/a.go b/a.go\n--- a/a.go\n+++ b/a.go\n@@ -1,3 +1,4 @@ func f() {\n package a\n-var x = \"<old>\"\n" +
	"+var x = \"<script>alert(1)</script>\"\n+// diff --git a/fake b/fake\n \n\\ No newline at end of file\n"

var tag = regexp.MustCompile(`<span class="[kscmf]">|</span>|</?b>|</?mark>`)

// TestColouredLinesAreTheSameText, whatever it is: it becomes no element of the page.
func TestColouredLinesAreTheSameText(t *testing.T) {
	for _, f := range patch.Parse(sample) {
		all := texts(Lines(&f))
		for i, h := range f.Hunks {
			for j, l := range h.Lines {
				bare := tag.ReplaceAllString(all[i][j], "")
				if strings.ContainsAny(bare, `<>"`) || html.UnescapeString(bare) != safetext.Mark(l.Text) {
					t.Errorf("%q became %q", l.Text, all[i][j])
				}
			}
		}
	}
	f := patch.Parse(sample)[0]
	coloured := texts(Lines(&f))[0]
	if !strings.HasPrefix(coloured[0], `<span class="k">package</span>`) || !strings.HasPrefix(coloured[3], `<span class="c">`) {
		t.Errorf("%q", coloured)
	}
}

func texts[T ~string](all [][]T) [][]string {
	var list [][]string
	for _, lines := range all {
		var one []string
		for _, l := range lines {
			one = append(one, string(l))
		}
		list = append(list, one)
	}
	return list
}

func FuzzLines(f *testing.F) {
	f.Add(sample)
	f.Add("@@ -0,9 +0,9 @@\n+x\n\\\n")
	f.Fuzz(func(t *testing.T, text string) {
		for _, file := range patch.Parse(text) {
			all := Lines(&file)
			for i, h := range file.Hunks {
				for j, l := range h.Lines {
					bare := tag.ReplaceAllString(string(all[i][j]), "")
					if strings.ContainsAny(bare, `<>"`) || html.UnescapeString(bare) != html.UnescapeString(template.HTMLEscapeString(safetext.Mark(l.Text))) {
						t.Errorf("%q became %q", l.Text, all[i][j])
					}
				}
			}
		}
	})
}
