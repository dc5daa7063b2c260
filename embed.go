// Package ferrus holds the files that the binaries carry with them: what
// `ferrus init` copies into a project, the example of its configuration and the
// documentation. The program itself is in cmd and internal.
package ferrus

import (
	"embed"
	"io/fs"
)

// ExampleConfig is the text of ferrus.toml.example: every key with its default
// and one comment each.
//
//go:embed ferrus.toml.example
var ExampleConfig string

//go:embed .ferrus-template/README.md .ferrus-template/TASK.example.md .ferrus-template/skills
//go:embed .ferrus-template/workflows.json
var files embed.FS

//go:embed .ferrus-template/prompts
var prompts embed.FS

// Template is the tree that `ferrus init` copies into a project's .ferrus:
// README.md, TASK.example.md, skills/<name>/SKILL.md, one skill a role, and
// workflows.json, with pipelines to begin from.
func Template() fs.FS { return under(files, ".ferrus-template") }

// Prompts are the first prompts of the agents that ferrus starts, one file for
// each duty: NAME.md. They are not copied into a project, where an agent could
// rewrite the prompt of its reviewer.
func Prompts() fs.FS { return under(prompts, ".ferrus-template/prompts") }

//go:embed docs/*.md
var docs embed.FS

// Docs are the pages of the documentation, NAME.md each, without the reference of commands, which each command has as its help, and
// without the decisions. README.md is their index.
func Docs() fs.FS { return under(docs, "docs") }

func under(all embed.FS, dir string) fs.FS {
	sub, err := fs.Sub(all, dir)
	if err != nil {
		panic(err) // the names are constants and valid
	}
	return sub
}
