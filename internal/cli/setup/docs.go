package setup

import (
	"io/fs"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ferrus-go/ferrus"
	"github.com/ferrus-go/ferrus/internal/cli"
	"github.com/ferrus-go/ferrus/internal/platform/format"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
)

// contents is the page that lists the others.
const contents = "README"

// A docPage is a page of the documentation, as ferrus docs prints it with --json.
type docPage struct {
	Page  string `json:"page"`
	Title string `json:"title"`
	Text  string `json:"text,omitempty"` // Markdown
}

// DocsCommand is ferrus docs.
func DocsCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:   "docs [PAGE]",
		Short: "Show a page of the documentation",
		Long: `Shows a page of the documentation of this version, from the program itself.
Without PAGE it shows the contents. Commands have their help: ferrus help NAME.`,
		Example: `  ferrus docs
  ferrus docs queue
  ferrus docs pipelines --json`,
		Annotations: cli.Reference("", "page title text. Without PAGE: [{page title}]."),
		Args:        cobra.MaximumNArgs(1),
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return docNames(), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 && a.JSON {
				return a.PrintJSON(docPages())
			}
			name := contents
			if len(args) > 0 {
				name = args[0]
			}
			page, err := readDoc(name)
			switch {
			case err != nil:
				return err
			case a.JSON:
				return a.PrintJSON(page)
			}
			return a.Paged(cmd.Context(), func() error {
				a.Say("%s", cli.Styled(page.Text))
				return nil
			})
		},
	}
}

// docNames are the names of the pages that the contents list.
func docNames() (names []string) {
	files, _ := fs.Glob(ferrus.Docs(), "*.md") // its only error is a bad pattern
	for _, file := range files {
		if name := strings.TrimSuffix(file, ".md"); name != contents {
			names = append(names, name)
		}
	}
	return names
}

// docPages are all pages, without their texts.
func docPages() (pages []docPage) {
	for _, name := range docNames() {
		page, _ := docNamed(name) // it is there
		page.Text = ""
		pages = append(pages, page)
	}
	return pages
}

// readDoc reads a page by its name, as the contents or a link write it: queue, queue.md, docs/queue.md.
func readDoc(name string) (docPage, error) {
	asked := name
	name = strings.TrimSuffix(strings.TrimPrefix(name, "docs/"), ".md")
	names := docNames()
	if name != contents && !slices.Contains(names, name) {
		var remedy refusal.Own = "ferrus docs lists the pages"
		if strings.HasPrefix(name, "cli/") {
			remedy = "ferrus help NAME shows a command"
		} else if near := format.Word(name, names); near != "" {
			remedy = refusal.Say("did you mean %s? %s", near, remedy)
		}
		return docPage{}, cli.UsageError(remedy, "there is no page %q", asked)
	}
	return docNamed(name)
}

// docNamed reads a page that is there.
func docNamed(name string) (docPage, error) {
	text, err := fs.ReadFile(ferrus.Docs(), name+".md")
	if err != nil {
		return docPage{}, err
	}
	title, _, _ := strings.Cut(strings.TrimPrefix(string(text), "# "), "\n")
	return docPage{name, title, string(text)}, nil
}
