package docs_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ferrus-go/ferrus/test/golden"
)

var (
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading = regexp.MustCompile(`(?m)^#+ (.+)$`)
	// goFile is a file of Go below internal, folderRow a folder of it with the file at which to start.
	goFile    = regexp.MustCompile("`([a-z/_]+\\.go)`")
	folderRow = regexp.MustCompile("(?m)^\\| `([a-z]+)` \\|.*\\| `([a-z/]+\\.go)` \\|$")
	// replaced is the first line of a decision that another one has replaced.
	replaced = regexp.MustCompile(`\n\*(Replaced|Partly replaced) by \[(\d+)\]\(`)
	noWord   = regexp.MustCompile(`[^\p{L}\p{N}_ -]`)
)

// TestEveryLinkLeadsSomewhere: each link between the documents of the repository names a file that is there, and each
// anchor a heading of that file.
func TestEveryLinkLeadsSomewhere(t *testing.T) {
	links := 0
	for _, name := range documents(t) {
		text := read(t, name)
		for _, m := range link.FindAllStringSubmatch(text, -1) {
			target, anchor, _ := strings.Cut(m[1], "#")
			if strings.Contains(target, "://") {
				continue
			}
			links++
			file := name
			if target != "" {
				file = filepath.Join(filepath.Dir(name), target)
			}
			if _, err := os.Stat(file); err != nil {
				t.Errorf("%s links to %s: %v", name, m[1], err)
			} else if anchor != "" && !headings(read(t, file))[anchor] {
				t.Errorf("%s links to %s, and %s has no such heading", name, m[1], file)
			}
		}
	}
	if links < 50 {
		t.Errorf("only %d links were found", links)
	}
}

// TestTheIndexNamesEveryPage of docs. The pages of a folder X stand in X.md. The table of decisions is made from their
// titles, and says which other decision replaces one and which numbers have none.
func TestTheIndexNamesEveryPage(t *testing.T) {
	const page, table = "README.md", "| | |\n|---|---|\n"
	index := read(t, page)
	head, _, ok := strings.Cut(index, table)
	if !ok {
		t.Fatalf("%s has no table of decisions", page)
	}
	want, last, gaps := head+table, 0, []string(nil)
	for _, name := range documents(t) {
		name = strings.TrimPrefix(name, "../docs/")
		if strings.HasPrefix(name, "decisions/") {
			title, _, _ := strings.Cut(strings.TrimPrefix(read(t, name), "# "), "\n")
			number, title, _ := strings.Cut(title, ". ")
			for n := range atoi(t, number) - last - 1 {
				gaps = append(gaps, strconv.Itoa(last+1+n))
			}
			last = atoi(t, number)
			row := "[" + title + "](" + name + ")"
			if m := replaced.FindStringSubmatch(read(t, name)); m != nil {
				row += ": " + strings.ToLower(m[1]) + " by " + m[2]
			}
			want += "| " + number + " | " + row + " |\n"
		} else if folder, _, ok := strings.Cut(name, "/"); ok && folder != ".." {
			if !strings.Contains(read(t, folder+".md"), "]("+name+")") {
				t.Errorf("docs/%s.md does not name %s", folder, name)
			}
		} else if !strings.HasPrefix(name, "..") && name != page && !strings.Contains(index, "]("+name+")") {
			t.Errorf("docs/%s does not name %s", page, name)
		}
	}
	want += "\nA decision takes its number before it is written. These were never used:\n" + wrapped(gaps)
	golden.Check(t, page, want)
}

func atoi(t *testing.T, number string) int {
	t.Helper()
	n, err := strconv.Atoi(number)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// wrapped joins words to lines of at most 80 columns.
func wrapped(words []string) string {
	text, line := "", ""
	for i, w := range words {
		if i < len(words)-1 {
			w += ","
		} else {
			w += "."
		}
		if line != "" && len(line)+1+len(w) > 80 {
			text, line = text+line+"\n", ""
		}
		line = strings.TrimPrefix(line+" "+w, " ")
	}
	return text + line + "\n"
}

// TestTheArchitectureNamesWhereToRead: each Go file of the walks exists, and the package comment of each folder ends with
// the file at which to start.
func TestTheArchitectureNamesWhereToRead(t *testing.T) {
	text := read(t, "architecture.md")
	_, walks, _ := strings.Cut(text, "\n## Four walks\n")
	for _, m := range goFile.FindAllStringSubmatch(walks, -1) {
		read(t, filepath.Join("../internal", m[1]))
	}
	folders := folderRow.FindAllStringSubmatch(text, -1)
	if len(folders) != 16 {
		t.Errorf("the page lists %d folders", len(folders))
	}
	for _, m := range folders {
		start := "../internal/" + m[1] + "/" + m[2]
		read(t, start)
		files, _ := filepath.Glob("../internal/" + m[1] + "/*.go")
		more, _ := filepath.Glob(filepath.Dir(start) + "/*.go")
		if !slices.ContainsFunc(append(files, more...), func(file string) bool {
			return strings.Contains(read(t, file), "\n// Start reading at "+m[2]+".\npackage ")
		}) {
			t.Errorf("no package comment of %s ends with: Start reading at %s.", m[1], m[2])
		}
	}
}

// documents are the Markdown files of the repository for people, but those that ferrus copies into a project.
func documents(t *testing.T) []string {
	t.Helper()
	all, err := filepath.Glob("../*.md")
	if err != nil {
		t.Fatal(err)
	}
	err = filepath.WalkDir("../docs", func(name string, d fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(name, ".md") {
			all = append(all, filepath.ToSlash(name))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// headings are the anchors of a document, as GitHub makes them.
func headings(text string) map[string]bool {
	all := map[string]bool{}
	for _, m := range heading.FindAllStringSubmatch(text, -1) {
		all[strings.ReplaceAll(noWord.ReplaceAllString(strings.ToLower(m[1]), ""), " ", "-")] = true
	}
	return all
}
