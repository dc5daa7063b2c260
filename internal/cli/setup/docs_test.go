package setup

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ferrus-go/ferrus/internal/cli"
)

// TestThePagesOfTheDocumentation are in the program as they are in the repository, each under the names by which the others link to it.
func TestThePagesOfTheDocumentation(t *testing.T) {
	show := func(a *cli.App, args ...string) (string, error) {
		var out bytes.Buffer
		a.Out, a.Err, a.Dir = &out, &out, t.TempDir()
		cmd := DocsCommand(a)
		cmd.SetArgs(args)
		cmd.SilenceErrors, cmd.SilenceUsage = true, true
		err := cmd.ExecuteContext(t.Context())
		return out.String(), err
	}
	files, err := filepath.Glob("../../../docs/*.md")
	if err != nil || len(files) < 20 {
		t.Fatalf("%d pages, %v", len(files), err)
	}
	list, err := show(&cli.App{JSON: true})
	if err != nil || strings.Contains(list, `"text"`) {
		t.Errorf("%s, %v", list, err)
	}
	for _, file := range files {
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimSuffix(filepath.Base(file), ".md")
		for _, as := range []string{name, name + ".md", "docs/" + name + ".md"} {
			if got, err := show(&cli.App{}, as); err != nil || got != string(want) {
				t.Errorf("%s is %.40q, %v", as, got, err)
			}
		}
		title, _, _ := strings.Cut(strings.TrimPrefix(string(want), "# "), "\n")
		if listed := strings.Contains(list, `"title": "`+title+`"`); listed != (name != contents) {
			t.Errorf("%s, %s: %v in\n%s", name, title, listed, list)
		}
	}
	index, err := show(&cli.App{})
	if want, _ := os.ReadFile("../../../docs/README.md"); err != nil || index != string(want) {
		t.Errorf("the contents are %.40q, %v", index, err)
	}
	for name, remedy := range map[string]string{"queu": "did you mean queue?", "xyzzy": "ferrus docs lists the pages", "cli/task": "ferrus help NAME", "../go.mod": "ferrus docs lists", "": "ferrus docs lists"} {
		if _, err := show(&cli.App{}, name); err == nil || !strings.Contains(string(cli.Explain(err).Remedy), remedy) {
			t.Errorf("%q: %v", name, err)
		}
	}
}
